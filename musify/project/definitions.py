"""Constants that headers define for the files that include them: read when a check asks for one, not before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

# Each begins with a literal text, so that the search skips quickly to the next one; what may stand before it on its
# line is the second part.
_MACRO = (
    re.compile(rb"define[ \t]+([A-Za-z_]\w*)[ \t]+((?:[\w :*+()<>.|&~-]|/(?![/*]))+)"),
    re.compile(rb"[ \t]*#[ \t]*"),
)
_VARIABLE = (
    re.compile(rb"const(?:expr)?\s+[\w \t]*?\b(\w+)\s*=\s*([^;{}\n]+);"),
    re.compile(rb"[ \t]*(?:(?:static|inline)\s+)*"),
)
_ALIAS = re.compile(rb"using[ \t]+(\w+)[ \t]*=[ \t]*([\w: \t]+);"), re.compile(rb"[ \t]*")
_TYPEDEF = re.compile(rb"typedef[ \t]+([\w: \t]+?)[ \t]+(\w+)[ \t]*;"), re.compile(rb"[ \t]*")
# A run with more headers than this behind one file says nothing about its constants.
_MOST_HEADERS = 400

Read = Callable[[str], bytes]


class Definitions:
    """The constants of the files of a run. `read` gives the bytes of one."""

    def __init__(self, read: Read) -> None:
        self._of = lru_cache(maxsize=None)(lambda path: definitions(read(path)))

    def of(self, paths: Iterable[str]) -> dict[bytes, bytes]:
        """What the names stand for that these files define; a name that they define differently is left out."""
        found: dict[bytes, bytes] = {}
        differing: set[bytes] = set()
        for path in sorted(paths)[:_MOST_HEADERS]:
            for name, text in self._of(path).items():
                if not text or found.setdefault(name, text) != text:
                    differing.add(name)
        return {name: text for name, text in found.items() if name not in differing}


def definitions(data: bytes) -> dict[bytes, bytes]:
    """Macros without parameters, constants and names of types; empty text for what is defined in more than one way."""
    found: dict[bytes, bytes] = {}
    pairs = [match.group(1, 2) for kind in (_MACRO, _VARIABLE, _ALIAS) for match in _on_lines(*kind, data)]
    for name, written in [*pairs, *(match.group(2, 1) for match in _on_lines(*_TYPEDEF, data))]:
        text = written.strip()
        found[name] = text if found.get(name, text) == text else b""
    return found


def _on_lines(pattern: re.Pattern[bytes], before: re.Pattern[bytes], data: bytes) -> Iterator[re.Match[bytes]]:
    """Matches before which nothing but `before` stands on the line."""
    for match in pattern.finditer(data):
        start = match.start()
        if before.fullmatch(data, data.rfind(b"\n", 0, start) + 1, start):
            yield match
