"""The check before anything is written: outside the edits, every token is what it was.

The output is outlined anew. Comments, literals and directives must stand where the edits moved them to, and
around each edit the code must split into the same tokens as the replacement alone. Both together mean that no
edit glued tokens, opened a comment or literal, or swallowed a line; bytes outside the edits are equal by
construction, and compared all the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from musify.model import Applicability, Edit
from musify.source.edits import in_order
from musify.source.outline import Outline, opaque_spans
from musify.source.words import WORD_BYTES

_MAY_OPEN = re.compile(rb"[/\"'#]")


def failure(before: Outline, edits: Sequence[Edit], after_data: bytes) -> str | None:
    """Why the output must not be written, in one line, or None where it is sound.

    `after_data` is what the applier made of `before.data` and `edits`.
    """
    applied = in_order(edit for edit in edits if edit.applicability is not Applicability.MANUAL)
    if not applied:
        return None if before.data == after_data else "the output differs though no edit was made"
    problem = _bytes_outside(before.data, applied, after_data) or _glued(before.data, applied, after_data)
    return problem or _structure(before, applied, after_data)


def moved_failure(
    before: Sequence[tuple[int, int]], edits: Sequence[Edit], after: Sequence[tuple[int, int]]
) -> str | None:
    """Why the output must not be written, for a language that only says where its tokens stand.

    Every token of `before` that no edit touches must be a token of `after`, at the place where the edits moved it.
    """
    applied = in_order(edit for edit in edits if edit.applicability is not Applicability.MANUAL)
    found = set(after)
    index = shift = 0
    for start, end in before:
        while index < len(applied) and applied[index].span.end <= start and applied[index].span != (start, start):
            shift += _growth(applied[index])
            index += 1
        if index < len(applied) and applied[index].span.start < end:
            continue
        if (start + shift, end + shift) not in found:
            return f"the token at offset {start + shift} of the output changed its extent"
    return None


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
    return 0 < offset < len(data) and data[offset - 1] in WORD_BYTES and data[offset] in WORD_BYTES


def _structure(before: Outline, edits: Sequence[Edit], after: bytes) -> str | None:
    expected, inserted = _moved(before.raw_spans, edits)
    actual = opaque_spans(after)
    if inserted:
        actual = [item for item in actual if not any(a <= item[0] and item[1] <= b for a, b in inserted)]
    if expected == actual:
        return None
    for wanted, found in zip(expected, actual, strict=False):
        if wanted != found:
            return f"the comment, literal or directive at offset {wanted[0]} of the output changed its extent"
    return "a comment, literal or directive appeared or vanished"


def _moved(
    spans: Sequence[tuple[int, int]], edits: Sequence[Edit]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Where the edits move these spans, those they replace left out; and where replacements bring their own."""
    moved = []
    inserted = []
    shift = index = 0
    for start, end in spans:
        while index < len(edits) and edits[index].span.end <= start:
            shift += _growth(edits[index])
            index += 1
        inner = shift
        position = index
        if position < len(edits) and edits[position].span.start <= start and edits[position].span.end >= end:
            continue
        while position < len(edits) and edits[position].span.end <= end and edits[position].span.start >= start:
            inner += _growth(edits[position])
            position += 1
        moved.append((start + shift, end + inner))
    shift = 0
    for edit in edits:
        if _MAY_OPEN.search(edit.new_text):
            begin = edit.span.start + shift
            inserted.append((begin, begin + len(edit.new_text)))
        shift += _growth(edit)
    return moved, inserted


def _growth(edit: Edit) -> int:
    return len(edit.new_text) - (edit.span.end - edit.span.start)
