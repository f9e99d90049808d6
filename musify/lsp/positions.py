"""Places as the protocol counts them: 0-based lines and units of UTF-16 (or UTF-8 or -32, where agreed on)."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

# The protocol's line ends, and no others: a form feed or U+2028 ends no line.
_LINE_END = re.compile(rb"\r\n|\n|\r")
_UNIT = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


class Positions:
    """Places in a text of an editor's, and the byte offsets of its UTF-8 form, which the engine works on."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.data = text.encode("utf-8", "surrogatepass")
        self._unit = _UNIT[encoding]
        self._codec = "utf-8" if encoding == "utf-8" else f"{encoding}-le"

    @cached_property
    def _lines(self) -> list[tuple[int, int]]:
        """Where each line starts, and where its text ends."""
        ends = [match.span() for match in _LINE_END.finditer(self.data)]
        starts = [0, *(end for _, end in ends)]
        return list(zip(starts, [*(start for start, _ in ends), len(self.data)], strict=True))

    def position(self, offset: int) -> tuple[int, int]:
        """The line and character of the byte at `offset`; inside a character, of its start."""
        while offset > 0 and self.data[offset : offset + 1] and self.data[offset] & 0xC0 == 0x80:
            offset -= 1
        line = bisect_right(self._lines, (offset, len(self.data))) - 1
        start, end = self._lines[line]
        text = self.data[start : min(offset, end)].decode("utf-8", "surrogatepass")
        return line, len(text.encode(self._codec, "surrogatepass")) // self._unit

    def offset(self, line: int, character: int) -> int:
        """The byte offset of a place; one beyond the end of its line or of the text counts as that end."""
        if line >= len(self._lines):
            return len(self.data)
        start, end = self._lines[line]
        units = self.data[start:end].decode("utf-8", "surrogatepass").encode(self._codec, "surrogatepass")
        # Half of a character counts as the place before it.
        head = units[: character * self._unit].decode(self._codec, "ignore")
        return start + len(head.encode("utf-8", "surrogatepass"))
