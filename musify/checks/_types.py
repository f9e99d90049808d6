"""Sizes of types: the basic ones, CUDA's vectors, and the simple structs and aliases of a source."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from musify.rules.device import type_sizes

_QUALIFIER = re.compile(
    rb"\b(?:const|volatile|static|extern|struct|union|__restrict__|__shared__|__constant__|__device__|typename|mutable|std|cooperative_groups)\b|::"
    rb"|\b(?:__align__|alignas|__attribute__)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
)
_MEMBER = re.compile(rb"\s*(.+?[\s*&>])(\w+)((?:\s*\[[^\]]*\])*)\s*\Z", re.S)
_BOUND = re.compile(rb"\[([^\]]*)\]")
_BRACKETED = re.compile(rb"\[[^\]]*\]")
_VECTOR = re.compile(r"(u?)(char|short|int|long|longlong|float|double)([1234])")
_STRUCT = re.compile(rb"(struct|union)\s+(?:\w+\s*\([^()]*\)\s*)?(\w+)\s*\{([^{}]*)\}")
_NAMELESS = re.compile(rb"typedef\s+(struct|union)\b[^{};]*\{([^{}]*)\}\s*(\w+)\s*;")
_TYPEDEF = re.compile(rb"typedef\s+([^;{}()]+?)\s*\b(\w+)\s*;")
_USING = re.compile(rb"using\s+(\w+)\s*=\s*([^;<>]+);")
_POINTER = 8


class Layout(NamedTuple):
    """Size and alignment in bytes."""

    size: int
    alignment: int


class Types:
    """The types of one file. What is not plain (bases, methods, templates, bit fields) has no size."""

    def __init__(
        self, text: bytes, value: Callable[[bytes], int | None], macro: Callable[[bytes], list[bytes]]
    ) -> None:
        self._text = text
        self._value = value
        self._macro = macro
        self._known: dict[bytes, Layout | None] = {}

    def size(self, name: bytes) -> int | None:
        """The size of a type as it is written; None where it is not known."""
        layout = self._layout(name)
        return None if layout is None else layout.size

    def elements(self, bounds: bytes) -> int | None:
        """How many elements `[a][b]` holds; 1 for no bounds, None where one is not constant."""
        count = 1
        for bound in _BOUND.findall(bounds):
            number = self._value(bound)
            if number is None:
                return None
            count *= number
        return count

    def _layout(self, name: bytes) -> Layout | None:
        plain = b" ".join(_QUALIFIER.sub(b" ", name).split())
        if plain.endswith((b"*", b"&")):
            return Layout(_POINTER, _POINTER)
        if plain not in self._known:
            self._known[plain] = None  # a type that holds itself has no size
            self._known[plain] = self._built_in(plain) or self._declared(plain)
        return self._known[plain]

    def _built_in(self, plain: bytes) -> Layout | None:
        text = plain.decode("utf-8", "replace")
        sizes = type_sizes()
        words = sorted(word for word in text.split() if word not in ("unsigned", "signed"))
        if not words and text:
            return Layout(4, 4)
        if " ".join(words) in ("int long", "int long long", "long", "long long"):
            return Layout(8, 8)
        base = " ".join(word for word in words if word != "int" or len(words) == 1)
        if base in sizes:
            return Layout(sizes[base], min(sizes[base], 16))
        vector = _VECTOR.fullmatch(text)
        if vector is None:
            return None
        element = sizes[vector.group(2)]
        size = element * int(vector.group(3))
        return Layout(size, element if vector.group(3) == "3" else min(size, 16))

    def _declared(self, plain: bytes) -> Layout | None:
        if not re.fullmatch(rb"[A-Za-z_]\w*", plain):
            return None
        body = self._bodies.get(plain)
        if body:
            return self._aggregate(*body)
        named = self._aliases.get(plain) or self._macro(plain)
        layouts = [self._layout(item) for item in named]
        known = [layout for layout in layouts if layout is not None]
        # float in one configuration and double in another: the smaller is the least that it takes
        return min(known) if known and len(known) == len(layouts) else None

    @cached_property
    def _bodies(self) -> dict[bytes, tuple[bytes, bytes]]:
        """What structs and unions are called, with the keyword and what their braces hold."""
        found = {match.group(2): (match.group(1), match.group(3)) for match in _STRUCT.finditer(self._text)}
        found.update((match.group(3), (match.group(1), match.group(2))) for match in _NAMELESS.finditer(self._text))
        return found

    @cached_property
    def _aliases(self) -> dict[bytes, list[bytes]]:
        """What typedef and using call other types."""
        found: dict[bytes, list[bytes]] = {}
        for match in _TYPEDEF.finditer(self._text):
            found.setdefault(match.group(2), []).append(match.group(1))
        for match in _USING.finditer(self._text):
            found.setdefault(match.group(1), []).append(match.group(2))
        return found

    def _aggregate(self, kind: bytes, body: bytes) -> Layout | None:
        offset, alignment, largest = 0, 1, 0
        for item in body.split(b";"):
            if not item.strip():
                continue
            members = self._members(item)
            if members is None:
                return None
            for size, align in members:
                alignment = max(alignment, align)
                offset = size if kind == b"union" else -(-offset // align) * align + size
                largest = max(largest, offset)
        return Layout(-(-largest // alignment) * alignment, alignment) if largest else None

    def _members(self, item: bytes) -> list[Layout] | None:
        """Layouts of what `type a, b[4]` declares; None where one of them is not known."""
        if re.search(rb"(?<!:):(?!:)", item):
            return None  # a bit field or a label
        members = [layout for _, layout in self.declared(item)]
        known = [layout for layout in members if layout is not None]
        return known if known and len(known) == len(members) else None

    def declared(self, item: bytes) -> list[tuple[bytes, Layout | None]]:
        """Names and layouts of what `type a, b[4]` declares; layouts are None where they are not known."""
        first, *others = _declarators(_QUALIFIER.sub(b" ", item))
        match = _MEMBER.match(first)
        if match is None or b"(" in match.group(1):
            return [(b"", None)]
        base = self._layout(match.group(1))
        found = [(match.group(2), self._times(base, match.group(3)))]
        for other in others:
            name = re.search(rb"\w+", other)
            layout = Layout(_POINTER, _POINTER) if b"*" in other.split(b"[")[0] else base
            found.append((name.group() if name else b"", self._times(layout, b"".join(_BRACKETED.findall(other)))))
        return found

    def _times(self, layout: Layout | None, bounds: bytes) -> Layout | None:
        count = None if layout is None else self.elements(bounds)
        return None if layout is None or count is None else Layout(layout.size * count, layout.alignment)


def _declarators(item: bytes) -> list[bytes]:
    """The parts of `type a[f(1, 2)], b`, split at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for index in range(len(item)):
        sign = item[index : index + 1]
        depth += (sign in b"([<") - (sign in b")]>")
        if sign == b"," and depth == 0:
            parts.append(item[start:index])
            start = index + 1
    return [*parts, item[start:]]
