"""Lines of the converted file, the way back to the original, and what was edited by hand in between."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple

from musify.model import Edit
from musify.source.document import Document
from musify.source.edits import apply, inverse
from musify.source.positions import PositionMap


class HandEdit(NamedTuple):
    """Lines that the conversion did not write: 1-based, half-open, of the original and of the converted file."""

    original: tuple[int, int]
    converted: tuple[int, int]


class Way:
    """The way between an original and what lies in the converted file. Raises EditConflict for edits that overlap."""

    def __init__(self, original: Document, converted: Document, edits: list[Edit]) -> None:
        self.original = original
        self.converted = converted
        self.edits = edits
        self.expected = Document(apply(original.data, edits))

    @cached_property
    def is_exact(self) -> bool:
        """Whether the converted file is what the edits make, and the edits backwards make the original of it."""
        same = self.converted.data == self.expected.data
        backwards = inverse(self.original.data, self.edits)
        return same and apply(self.converted.data, backwards) == self.original.data

    @cached_property
    def hand_edits(self) -> list[HandEdit]:
        """What the converted file holds that the conversion did not write; empty where it holds nothing else."""
        if self.converted.data == self.expected.data:
            return []
        found = []
        for tag, start, end, new_start, new_end in self._changes:
            if tag != "equal":
                first = self._original_line(start)
                last = self._original_line(end) if end > start else first
                found.append(HandEdit((first, last), (new_start + 1, new_end + 1)))
        return found

    def original_line(self, line: int) -> int:
        """The line of the original that a line of the converted file comes from; both 1-based."""
        if self.converted.data == self.expected.data:
            return self._original_line(line - 1)
        for _, start, end, new_start, new_end in self._changes:
            if new_start <= line - 1 < new_end:
                return self._original_line(min(start + line - 1 - new_start, max(start, end - 1)))
        return self._original_line(len(self._lines(self.expected)))

    @cached_property
    def _map(self) -> PositionMap:
        return PositionMap(self.edits)

    def _original_line(self, index: int) -> int:
        """The 1-based line of the original for a 0-based line of the expected text."""
        if index >= self.expected.line_count:
            return self.original.line_count + 1
        start = self.expected.line_span(index)[0]
        return self.original.line_index(self._map.original(start)) + 1

    @cached_property
    def _changes(self) -> Sequence[tuple[str, int, int, int, int]]:
        """Blocks of lines of the expected text and of the converted file, as difflib gives them."""
        old, new = self._lines(self.expected), self._lines(self.converted)
        return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()

    @staticmethod
    def _lines(document: Document) -> list[bytes]:
        return document.data.split(b"\n")
