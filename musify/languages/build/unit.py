"""One build file on its way through the rules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cached_property
from typing import NamedTuple, Protocol

from musify.languages.surroundings import BuildSurroundings, Settings
from musify.model import Edit, Finding, Span
from musify.rules.book import RuleBook


class TokenKind(Enum):
    """What a token of a build file is, as far as the common passes ask."""

    COMMENT = "comment"
    STRING = "string"
    WORD = "word"
    NAME = "name"  # an identifier of a programming language: only a rule of the language changes it
    SOURCE = "source"  # C++ or CUDA in a string, which is converted as such
    OTHER = "other"


class Token(NamedTuple):
    """A token with its byte offsets. A string includes its quotes."""

    kind: TokenKind
    start: int
    end: int


class BuildUnit:
    """A build file, what the rules know and what the run says of the files around it."""

    def __init__(
        self, data: bytes, reader: Reader, book: RuleBook, settings: Settings, surroundings: BuildSurroundings
    ) -> None:
        self.data = data
        self.reader = reader
        self.book = book
        self.settings = settings
        self.surroundings = surroundings

    @cached_property
    def tokens(self) -> list[Token]:
        """The tokens, in order, as the reader of the language splits them."""
        return self.reader.tokens(self.data)

    @cached_property
    def code(self) -> list[Span]:
        """Everything but comments and blanks, in order: the tokens, and what a reader found no token for."""
        spans = []
        position = 0
        for token in self.tokens:
            if self.data[position : token.start].strip():
                spans.append(Span(position, token.start))
            if token.kind is not TokenKind.COMMENT:
                spans.append(Span(token.start, token.end))
            position = max(position, token.end)
        if self.data[position:].strip():
            spans.append(Span(position, len(self.data)))
        return spans

    @cached_property
    def _starts(self) -> list[int]:
        return [token.start for token in self.tokens]

    def tokens_at(self, offsets: Iterable[int]) -> Iterator[Token]:
        """The tokens that hold these byte offsets, which come in order; each token once."""
        last = -1
        for offset in offsets:
            index = bisect_right(self._starts, offset) - 1
            if index > last and offset < self.tokens[index].end:
                last = index
                yield self.tokens[index]

    def code_at(self, offsets: Iterable[int]) -> Iterator[Span]:
        """Those parts of `code` that hold these byte offsets, which come in order; each once."""
        end = 0
        for offset in offsets:
            if offset < end:
                continue
            index = bisect_right(self._starts, offset)
            before = self.tokens[index - 1] if index else None
            if before is None or offset >= before.end:
                end = self._starts[index] if index < len(self._starts) else len(self.data)
                yield Span(before.end if before else 0, end)
            else:
                end = before.end
                if before.kind is not TokenKind.COMMENT:
                    yield Span(before.start, end)

    @property
    def comments(self) -> Iterator[Span]:
        """Where comments stand, in order."""
        return (Span(token.start, token.end) for token in self.tokens if token.kind is TokenKind.COMMENT)

    def text(self, span: Span | Token) -> bytes:
        """The bytes of a span or token."""
        return self.data[span.start : span.end]


class Reader(Protocol):
    """How a language of build files is read; a module of musify.languages is one."""

    def tokens(self, data: bytes) -> list[Token]:
        """The tokens of a file, in order, without overlap; bytes between them are blank or of no interest."""

    def convert(self, unit: BuildUnit) -> Iterator[Edit | Finding]:
        """Edits and findings that need the grammar of the language."""
