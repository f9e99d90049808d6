"""Where a place in converted text lies in the original, and the other way round."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

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
