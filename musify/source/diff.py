"""Unified diffs made from edits: exact and quick, since nothing has to be searched for.

The form is git's, so that `git apply` takes it, renames of files included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from musify.model import Applicability, Edit
from musify.source.document import Document
from musify.source.edits import in_order

CONTEXT_LINES = 3


class _Change(NamedTuple):
    """Old lines `first` to `last` (0-based, half-open) and the text that replaces them."""

    first: int
    last: int
    text: bytes


def unified(document: Document, edits: Sequence[Edit], old_path: str, new_path: str) -> bytes:
    """The diff that turns the file at `old_path` into the one at `new_path`; empty where both are the same.

    Paths are relative, with forward slashes. The diff is in the encoding of the document's `data`.
    """
    changes = _changes(document, edits)
    if not changes and old_path == new_path:
        return b""
    head = [f"diff --git {_quoted('a/' + old_path)} {_quoted('b/' + new_path)}\n"]
    if old_path != new_path:
        head += [f"rename from {_quoted(old_path)}\n", f"rename to {_quoted(new_path)}\n"]
    if changes:
        head += [f"--- {_quoted('a/' + old_path)}\n", f"+++ {_quoted('b/' + new_path)}\n"]
    parts = ["".join(head).encode("utf-8", "surrogateescape")]
    drift = 0
    for group in _hunks(changes):
        hunk, drift = _hunk(document, group, drift)
        parts.append(hunk)
    return b"".join(parts)


def _changes(document: Document, edits: Sequence[Edit]) -> list[_Change]:
    changes: list[_Change] = []
    data = document.data
    pieces: list[bytes] = []
    first = last = position = -1
    for edit in in_order(edit for edit in edits if edit.applicability is not Applicability.MANUAL):
        start, end = edit.span
        touched = document.line_index(start)
        if first >= 0 and touched > last:
            changes.append(_finished(document, first, last, position, pieces))
            first = -1
        if first < 0:
            first, position, pieces = touched, document.line_span(touched)[0], []
        pieces += [data[position:start], edit.new_text]
        position = end
        last = document.line_index(max(start, end - 1)) + 1
        if end == len(data) or (end > start and data[end - 1 : end] == b"\n"):
            last = max(last, document.line_index(end - 1) + 1)
    if first >= 0:
        changes.append(_finished(document, first, last, position, pieces))
    return changes


def _finished(document: Document, first: int, last: int, position: int, pieces: list[bytes]) -> _Change:
    line_end = document.line_span(last - 1)[1]
    return _Change(first, last, b"".join([*pieces, document.data[position:line_end]]))


def _hunks(changes: Sequence[_Change]) -> list[list[_Change]]:
    groups: list[list[_Change]] = []
    for change in changes:
        if groups and change.first - groups[-1][-1].last <= 2 * CONTEXT_LINES:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(document: Document, group: Sequence[_Change], drift: int) -> tuple[bytes, int]:
    start = max(0, group[0].first - CONTEXT_LINES)
    stop = min(document.line_count, group[-1].last + CONTEXT_LINES)
    lines: list[bytes] = []
    old_count = new_count = 0
    position = start
    for change in group:
        context = [_marked(b" ", _line(document, index)) for index in range(position, change.first)]
        removed = [_marked(b"-", _line(document, index)) for index in range(change.first, change.last)]
        added = [_marked(b"+", line) for line in _lines(change.text)]
        lines += [*context, *removed, *added]
        old_count += len(context) + len(removed)
        new_count += len(context) + len(added)
        position = change.last
    tail = [_marked(b" ", _line(document, index)) for index in range(position, stop)]
    lines += tail
    old_count += len(tail)
    new_count += len(tail)
    old_start = start + 1 if old_count else start
    new_start = start + drift + 1 if new_count else start + drift
    header = f"@@ -{old_start},{old_count} +{new_start},{new_count} @@\n".encode()
    return header + b"".join(lines), drift + new_count - old_count


def _lines(text: bytes) -> list[bytes]:
    parts = text.split(b"\n")
    lines = [part + b"\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _line(document: Document, index: int) -> bytes:
    start, end = document.line_span(index)
    return document.data[start:end]


def _marked(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n\\ No newline at end of file\n"


def _quoted(path: str) -> str:
    plain = all(32 <= ord(letter) < 127 and letter not in '"\\' for letter in path)
    if plain:
        return path
    raw = path.encode("utf-8", "surrogateescape")
    special = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 92: "\\\\"}
    return '"' + "".join(special.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in raw) + '"'
