"""The check before anything is written: outside the edits, every token is what it was.

The output is outlined anew. Comments, literals and directives must stand where the edits moved them to, and
around each edit the code must split into the same tokens as the replacement alone. Both together mean that no
edit glued tokens, opened a comment or literal, or swallowed a line; bytes outside the edits are equal by
construction, and compared all the same.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from musify.model import Applicability, Edit
from musify.source.edits import in_order
from musify.source.outline import Opaque, Outline

_WORD = re.compile(rb"[\w$\x80-\xff]")


def failure(before: Outline, edits: Sequence[Edit], after_data: bytes) -> str | None:
    """Why the output must not be written, in one line, or None where it is sound.

    `after_data` is what the applier made of `before.data` and `edits`.
    """
    applied = in_order(edit for edit in edits if edit.applicability is not Applicability.MANUAL)
    if not applied:
        return None if before.data == after_data else "the output differs though no edit was made"
    problem = _bytes_outside(before.data, applied, after_data) or _glued(before.data, applied, after_data)
    return problem or _structure(before, applied, Outline(after_data))


def _bytes_outside(data: bytes, edits: Sequence[Edit], after: bytes) -> str | None:
    position = shift = 0
    for edit in edits:
        start, end = edit.span
        if data[position:start] != after[position + shift : start + shift]:
            return f"bytes before offset {start} changed"
        shift += len(edit.new_text) - (end - start)
        position = end
    return None if data[position:] == after[position + shift :] else f"bytes after offset {position} changed"


def _glued(before: bytes, edits: Sequence[Edit], after: bytes) -> str | None:
    """An edit must not join words that were apart; inside a word (a pasted prefix, a library name) it may stand."""
    shift = 0
    for edit in edits:
        start, end = edit.span
        goal = start + shift
        seams = {start: goal, end: goal + len(edit.new_text)}
        for old, new in seams.items():
            if _inside_word(after, new) and not _inside_word(before, old):
                return f"the replacement at offset {start} runs into its neighbour"
        shift += len(edit.new_text) - (end - start)
    return None


def _inside_word(data: bytes, offset: int) -> bool:
    return bool(_WORD.match(data[offset - 1 : offset]) and _WORD.match(data[offset : offset + 1])) if offset else False


def _structure(before: Outline, edits: Sequence[Edit], after: Outline) -> str | None:
    starts = [edit.span.start for edit in edits]
    shifts = [0]
    for edit in edits:
        shifts.append(shifts[-1] + len(edit.new_text) - (edit.span.end - edit.span.start))

    def moved(offset: int) -> int:
        return offset + shifts[bisect_right(starts, offset - 1)]

    expected = [
        Opaque(item.kind, moved(item.start), moved(item.end)) for item in before.opaque if not _replaced(item, edits, starts)
    ]
    actual = after.opaque
    inserted = [edit for edit in edits if _holds_opaque(edit.new_text)]
    if inserted:
        spans = []
        for edit in inserted:
            start = edit.span.start + shifts[bisect_right(starts, edit.span.start - 1)]
            spans.append((start, start + len(edit.new_text)))
        actual = [item for item in actual if not any(a <= item.start and item.end <= b for a, b in spans)]
    if expected == actual:
        return None
    for wanted, found in zip(expected, actual, strict=False):
        if wanted != found:
            return f"a {wanted.kind.value} at offset {wanted.start} of the output changed its extent"
    return "a comment, literal or directive appeared or vanished"


def _replaced(item: Opaque, edits: Sequence[Edit], starts: Sequence[int]) -> bool:
    index = bisect_right(starts, item.start) - 1
    return index >= 0 and edits[index].span.end >= item.end and edits[index].span.start <= item.start


def _holds_opaque(text: bytes) -> bool:
    return any(mark in text for mark in (b"/", b'"', b"'", b"#"))

