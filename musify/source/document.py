"""A file in memory: its bytes, its encoding where that matters, and places as people count them."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count
from operator import add
from pathlib import Path
from typing import NamedTuple

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_SNIFFED_BYTES = 8192


class Position(NamedTuple):
    """A 1-based line and column; columns count characters (bytes where the line is not UTF-8)."""

    line: int
    column: int


class NotText(Exception):
    """The bytes are not source text."""


@dataclass(frozen=True)
class Document:
    """The text of a file as bytes that a lexer can read.

    Nothing is decoded: any encoding that keeps ASCII is worked on as it is. UTF-16 (told by its BOM) is the
    exception; `data` then is UTF-8, and `encode` gives UTF-16 back.
    """

    data: bytes
    encoding: str | None = None

    @staticmethod
    def from_bytes(raw: bytes) -> Document:
        """Make a document of a file's bytes. Raises NotText for binary content."""
        if raw[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
            raise NotText("is UTF-32, which no compiler reads")
        encoding = _UTF16.get(raw[:2])
        if encoding is not None:
            try:
                text = raw.decode(encoding)
            except UnicodeDecodeError as error:
                raise NotText(f"says it is {encoding.upper()} and is not: {error.reason}") from error
            if text.encode(encoding) != raw:
                raise NotText(f"cannot be written back as {encoding.upper()}")
            return Document(text.encode(), encoding)
        if b"\0" in raw[:_SNIFFED_BYTES]:
            raise NotText("holds NUL bytes")
        return Document(raw)

    def encode(self, data: bytes) -> bytes:
        """Changed `data` in the encoding of the file."""
        return data if self.encoding is None else data.decode().encode(self.encoding)

    @cached_property
    def _line_starts(self) -> list[int]:
        # Sums of the lengths of lines, and one more for each newline, without a step of Python for each.
        starts = list(map(add, accumulate(map(len, self.data.split(b"\n")), initial=0), count()))
        starts.pop()  # what follows the last newline ends with the file
        return starts

    def line_index(self, offset: int) -> int:
        """The 0-based line that holds the byte at `offset`."""
        return bisect_right(self._line_starts, offset) - 1

    def line_span(self, index: int) -> tuple[int, int]:
        """Where the 0-based line starts and ends (its newline included)."""
        starts = self._line_starts
        return starts[index], starts[index + 1] if index + 1 < len(starts) else len(self.data)

    def text_span(self, index: int) -> tuple[int, int]:
        """The same without the mark that a UTF-8 file may begin with."""
        start, end = self.line_span(index)
        return start + (len(codecs.BOM_UTF8) if index == 0 and self.data.startswith(codecs.BOM_UTF8) else 0), end

    @property
    def line_count(self) -> int:
        """How many lines there are; a last one without newline counts."""
        starts = self._line_starts
        return len(starts) if starts[-1] < len(self.data) else len(starts) - 1

    def position(self, offset: int) -> Position:
        """The line and column of the byte at `offset`."""
        index = self.line_index(offset)
        head = self.data[self._line_starts[index] : offset]
        if index == 0 and head.startswith(codecs.BOM_UTF8):
            head = head[len(codecs.BOM_UTF8) :]
        try:
            column = len(head.decode())
        except UnicodeDecodeError:
            column = len(head)
        return Position(index + 1, column + 1)

    def offset(self, place: Position) -> int:
        """The byte offset of a place: what `position` came from. Raises ValueError where there is no such place."""
        if not 1 <= place.line <= len(self._line_starts) or place.column < 1:
            raise ValueError(f"there is no line {place.line}, column {place.column}")
        start, end = self.text_span(place.line - 1)
        text = self.data[start:end]
        head = text.decode("utf-8", "surrogateescape")[: place.column - 1].encode("utf-8", "surrogateescape")
        try:
            head.decode()
        except UnicodeDecodeError:
            head = text[: place.column - 1]
        if len(head) < place.column - 1:
            raise ValueError(f"line {place.line} has no column {place.column}")
        return start + len(head)


def read(path: Path) -> Document:
    """The document at `path`. Raises OSError and NotText."""
    return Document.from_bytes(path.read_bytes())


def text_or_nothing(path: Path) -> bytes:
    """The text at `path`; nothing where it cannot be read, which is for the conversion of that file to report."""
    try:
        return read(path).data
    except (OSError, NotText):
        return b""
