"""Unified diffs made from edits: exact and quick, since nothing has to be searched for.

The form is git's, so that `git apply` takes it, renames of files included.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from musify.model import Applicability, Edit
from musify.source.document import Document
from musify.source.edits import in_order

CONTEXT_LINES = 3
_PLAIN = re.compile(r"[ !#-\[\]-~]*")


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
    parts: list[bytes] = []
    new_count = 0
    position = start
    for change in group:
        parts.append(_marked(b" ", _lines(document, position, change.first)))
        parts.append(_marked(b"-", _lines(document, change.first, change.last)))
        parts.append(_marked(b"+", change.text))
        new_count += change.first - position + _line_count(change.text)
        position = change.last
    parts.append(_marked(b" ", _lines(document, position, stop)))
    old_count = stop - start
    new_count += stop - position
    old_start = start + 1 if old_count else start
    new_start = start + drift + 1 if new_count else start + drift
    header = f"@@ -{old_start},{old_count} +{new_start},{new_count} @@\n".encode()
    return header + b"".join(parts), drift + new_count - old_count


def _lines(document: Document, first: int, last: int) -> bytes:
    """The lines from `first` up to `last`, which is left out."""
    if first >= last:
        return b""
    return document.data[document.line_span(first)[0] : document.line_span(last - 1)[1]]


def _line_count(text: bytes) -> int:
    return text.count(b"\n") + (text[-1:] not in (b"", b"\n"))


def _marked(mark: bytes, lines: bytes) -> bytes:
    """Every line with `mark` before it."""
    if not lines:
        return b""
    if lines.endswith(b"\n"):
        return mark + lines[:-1].replace(b"\n", b"\n" + mark) + b"\n"
    return mark + lines.replace(b"\n", b"\n" + mark) + b"\n\\ No newline at end of file\n"


def _quoted(path: str) -> str:
    if _PLAIN.fullmatch(path):
        return path
    raw = path.encode("utf-8", "surrogateescape")
    special = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 92: "\\\\"}
    return '"' + "".join(special.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in raw) + '"'
