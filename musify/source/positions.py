"""Where a place in converted text lies in the original, and the other way round."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from musify.model import Applicability, Edit
from musify.source.edits import in_order


class PositionMap:
    """Maps byte offsets across edits.

    An offset inside replaced text maps to the start of what replaced it; text that an edit leaves alone maps exactly.
    Raises EditConflict where two edits overlap.
    """

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._old: list[tuple[int, int]] = [(0, 0)]
        self._new: list[tuple[int, int]] = [(0, 0)]
        shift = 0
        for edit in in_order(edit for edit in edits if edit.applicability is not Applicability.MANUAL):
            start, end = edit.span
            new_end = start + shift + len(edit.new_text)
            self._old.append((start, end))
            self._new.append((start + shift, new_end))
            shift = new_end - end

    def converted(self, offset: int) -> int:
        """The byte offset in the converted text that belongs to `offset` in the original."""
        return _across(offset, self._old, self._new)

    def original(self, offset: int) -> int:
        """The byte offset in the original text that belongs to `offset` in the converted text."""
        return _across(offset, self._new, self._old)


def _across(offset: int, here: list[tuple[int, int]], there: list[tuple[int, int]]) -> int:
    number = bisect_right(here, offset, key=lambda span: span[0]) - 1
    (start, end), (other_start, other_end) = here[number], there[number]
    if start <= offset < end:
        return other_start
    return other_end + offset - end


class TextPosition(NamedTuple):
    """A 1-based line and column."""

    line: int
    column: int


class LineMap:
    """Maps lines and columns of converted text back to the original, from edits as reports give them.

    Each edit is (start, end, new text), in order and without overlaps; columns count what the report counts.
    """

    def __init__(self, edits: Iterable[tuple[TextPosition, TextPosition, str]]) -> None:
        start = TextPosition(1, 1)
        self._old: list[tuple[TextPosition, TextPosition]] = [(start, start)]
        self._new: list[tuple[TextPosition, TextPosition]] = [(start, start)]
        for old_start, old_end, text in edits:
            new_start = _moved(old_start, self._old[-1][1], self._new[-1][1])
            self._old.append((old_start, old_end))
            self._new.append((new_start, _after(new_start, text)))

    def original(self, place: TextPosition) -> TextPosition:
        """The place in the original that belongs to `place` in the converted text; the start of an edit inside one."""
        number = bisect_right(self._new, place, key=lambda span: span[0]) - 1
        (start, end), (old_start, old_end) = self._new[number], self._old[number]
        if start <= place < end:
            return old_start
        return _moved(place, end, old_end)

    def edit_at(self, place: TextPosition) -> int | None:
        """The number of the edit that made the converted text at `place`; None where no edit did."""
        number = bisect_right(self._new, place, key=lambda span: span[0]) - 1
        start, end = self._new[number]
        return number - 1 if number > 0 and start <= place < end else None


def _moved(place: TextPosition, anchor: TextPosition, there: TextPosition) -> TextPosition:
    """`place`, which lies behind `anchor`, seen from where `anchor` lies in the other text."""
    if place.line == anchor.line:
        return TextPosition(there.line, there.column + place.column - anchor.column)
    return TextPosition(there.line + place.line - anchor.line, place.column)


def _after(place: TextPosition, text: str) -> TextPosition:
    """Where `text` ends that starts at `place`."""
    lines = text.split("\n")
    if len(lines) == 1:
        return TextPosition(place.line, place.column + len(text))
    return TextPosition(place.line + len(lines) - 1, len(lines[-1]) + 1)
