"""What counts as public in a CUDA header: not its include guard, its helpers, or what begins with an underscore."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from musify.audit.headers import Declared, Reading
from musify.rules.book import RuleBook

# Folders below the toolkit's top whose headers those at the top hand on.
_HANDED_ON = ("crt/",)
_MACROS = frozenset({"macro", "macro-fn"})
_HIDDEN = re.compile(r"detail|internal|ignored|dispatch|unspecified", re.I)
_NO_NAME = re.compile(r"operator\b|[<(~]")
# A header where rules know at least this share of the names with an underscore has such names for everybody.
_UNDERSCORE_SHARE = 0.5


class Publicness:
    """Decides for the declarations of one reading."""

    def __init__(self, reading: Reading, book: RuleBook) -> None:
        self._reading = reading
        self._book = book
        self._known_headers = frozenset(path.decode() for path in book.all_headers())
        self._open = _headers_with_underscores(reading, book)

    def names(self) -> Iterator[tuple[str, Declared]]:
        """Public names, each with the first of its declarations in a public header, in the order of reading."""
        for name, items in self._reading.declared.items():
            item = next((item for item in items if self._is_public(name, item)), None)
            if item is not None:
                yield name, item

    def _is_public(self, name: str, item: Declared) -> bool:
        parts = name.split("::")
        if item.item.kind == "method" or _NO_NAME.search(name):
            return False
        if len(parts) > 1:
            return parts[0] != "std" and not any(part.startswith("_") or _HIDDEN.search(part) for part in parts)
        if not self._is_public_header(item.header) or _HIDDEN.search(name):
            return False
        if item.item.kind in _MACROS:
            return not name.startswith("_") and not _is_helper(name, item)
        return not name.startswith("_") or item.header in self._open

    def _is_public_header(self, header: str) -> bool:
        return "/" not in header or header in self._known_headers or header.startswith(_HANDED_ON)


def _headers_with_underscores(reading: Reading, book: RuleBook) -> frozenset[str]:
    """Headers whose names with an underscore are meant for everybody: device functions, fp16 ..."""
    known: Counter[str] = Counter()
    all_of_them: Counter[str] = Counter()
    for name, items in reading.declared.items():
        if not name.startswith("_") or "::" in name or _HIDDEN.search(name):
            continue
        for item in items:
            if item.item.kind not in _MACROS:
                all_of_them[item.header] += 1
                known[item.header] += book.name(name.encode()) is not None
    return frozenset(header for header, count in all_of_them.items() if known[header] >= count * _UNDERSCORE_SHARE)


def _is_helper(name: str, item: Declared) -> bool:
    """Whether a macro is its header's include guard (or such a mark of a part), or undefined at the header's end."""
    marks = _marks(item.item.path)
    return name in marks["undefined"] or (not item.item.signature and name in marks["guards"])


@cache
def _marks(path: str) -> Mapping[str, frozenset[str]]:
    text = Path(path).read_bytes().decode("utf-8", "replace")
    guards = re.findall(r"^[ \t]*#[ \t]*if(?:ndef[ \t]+|[ \t]*![ \t]*defined[ \t]*\(?[ \t]*)(\w+)", text, re.M)
    undefined = re.findall(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", text, re.M)
    return {"guards": frozenset(guards), "undefined": frozenset(undefined)}
