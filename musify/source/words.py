"""Finding words of interest: one Aho-Corasick pass over the bytes, then a look at each word that was hit."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from musify.model import Span

# What words are made of: letters, digits, `_`, `$` and bytes above 127.
WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") | frozenset(range(128, 256))


def occurrences(data: bytes, text: bytes) -> Iterator[int]:
    """The byte offsets at which `text` stands in `data`, in order."""
    position = data.find(text)
    while position >= 0:
        yield position
        position = data.find(text, position + len(text))


class TextFinder:
    """Finds any of some texts, wherever it stands."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._automaton = BytesAhoCorasick(texts, implementation=Implementation.ContiguousNFA)

    def starts(self, data: bytes) -> list[int]:
        """The byte offsets at which a text begins, in order, also inside another."""
        return sorted({start for _, start, _ in self._automaton.find_matches_as_indexes(data, overlapping=True)})


class Hits(NamedTuple):
    """The words found, in order, and those of the other marks that occur."""

    words: list[Span]
    marks: frozenset[bytes]


class WordFinder:
    """Finds words that begin with one of `prefixes` or are one of `words`; notes which of `marks` occur.

    Words are maximal runs of letters, digits, `_`, `$` and bytes above 127: a hit inside a longer word counts only
    if the whole word fits.
    """

    def __init__(self, prefixes: Sequence[bytes], words: Sequence[bytes], marks: Sequence[bytes] = ()) -> None:
        self._prefixes = tuple(prefixes)
        self._words = frozenset(words)
        patterns = [*prefixes, *words]
        self._first_mark = len(patterns)
        self._marks = tuple(marks)
        self._automaton = BytesAhoCorasick([*patterns, *marks], implementation=Implementation.ContiguousNFA)

    def find(self, data: bytes) -> Hits:
        """All hits in `data`; comments and literals are not told apart here."""
        found: list[Span] = []
        marks: set[int] = set()
        position = 0
        first_mark, prefixes, words, letters = self._first_mark, self._prefixes, self._words, WORD_BYTES
        size = len(data)
        floor = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
        for pattern, start, end in self._automaton.find_matches_as_indexes(data):
            if pattern >= first_mark:
                marks.add(pattern - first_mark)
                continue
            if start < position:
                continue
            while start > floor and data[start - 1] in letters:
                start -= 1
            while end < size and data[end] in letters:
                end += 1
            position = end
            word = data[start:end]
            if word.startswith(prefixes) or word in words:
                found.append(Span(start, end))
        return Hits(found, frozenset(self._marks[mark] for mark in marks))
