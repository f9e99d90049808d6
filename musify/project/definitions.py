"""Constants that headers define for the files that include them: read when a check asks for one, not before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+((?:[\w :*+()<>.|&~-]|/(?![/*]))+)", re.M)
_VARIABLE = re.compile(
    rb"^[ \t]*(?:(?:static|inline)\s+)*(?:const|constexpr)\s+[\w \t]*?\b(\w+)\s*=\s*([^;{}\n]+);", re.M
)
_ALIAS = re.compile(rb"^[ \t]*using[ \t]+(\w+)[ \t]*=[ \t]*([\w: \t]+);", re.M)
_TYPEDEF = re.compile(rb"^[ \t]*typedef[ \t]+([\w: \t]+?)[ \t]+(\w+)[ \t]*;", re.M)
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
    pairs = [match.groups() for pattern in (_MACRO, _VARIABLE, _ALIAS) for match in pattern.finditer(data)]
    for name, written in [*pairs, *(match.group(2, 1) for match in _TYPEDEF.finditer(data))]:
        text = written.strip()
        found[name] = text if found.get(name, text) == text else b""
    return found
