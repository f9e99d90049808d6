"""What the checks of device code share: code without comments, device functions, calls and their arguments."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

from musify.languages.cuda.references import OPERATOR_KEYWORDS
from musify.languages.cuda.unit import Unit
from musify.model import Span

_MARKER = re.compile(rb"__(?:global|device)__\b")
# A declaration in shared memory, up to its semicolon; the group is all but the specifier.
SHARED_VARIABLE = re.compile(rb"\b__shared__\b([^;{}=]*);")
_MARKING_MACRO = re.compile(rb"__(?:global|device)__")
_HEAD_STOP = re.compile(rb"[(){;=]")
_BRACE = re.compile(rb"[{}]")
_BRACKET = re.compile(rb"[()\[\]{},;]|(?<=\w)<[\w:,\s*&]*>(?=[(:{])")
_LAST_CALL = re.compile(rb"([A-Za-z_]\w*)\s*(?:<[^;(){}]*>)?\s*\Z")
_BLANK = bytes(10 if byte == 10 else 32 for byte in range(256))
_OPENING = re.compile(rb"\s*(?:<[\w\s:,*&()]*>)?\s*\(")
_NO_FUNCTION = frozenset(
    b"__launch_bounds__ __attribute__ __align__ alignas __declspec decltype noexcept __cluster_dims__".split()
)
_ELSEWHERE = re.compile(rb"\b\w*(?:HIP|ROCM|AMD|SYCL)\w*\b", re.IGNORECASE)
_WORD_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_DECLARING = re.compile(rb"[A-Za-z_]\w*\s*[*&]*\s*\Z")


class Function(NamedTuple):
    """A function that runs on the device. `start` is its first marker, `body` what its braces hold."""

    name: bytes
    start: int
    body: Span
    on_host_too: bool


class Call(NamedTuple):
    """A call: the name and the arguments."""

    name: Span
    arguments: list[Span]
    end: int


class DeviceCode:
    """One source, with everything blanked out whose inside is not code; offsets are those of the file.

    `text` has no directives; `with_macros` keeps what macros are defined as.
    """

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self.with_macros = _blanked(unit.data, unit.outline.opaque_spans)
        directives = [(item.start, item.end) for item in unit.outline.directives]
        self.text = _blanked(self.with_macros, directives)

    @cached_property
    def _structure(self) -> bytes:
        """The text without those #else and #elif branches whose braces do not match: the first stands for all."""
        others = [
            (branch.span.start, branch.span.end)
            for group in self._unit.conditionals.groups
            for branch in group.branches[1:]
            if self.text.count(b"{", *branch.span) != self.text.count(b"}", *branch.span)
        ]
        return _blanked(self.text, sorted(others)) if others else self.text

    @cached_property
    def functions(self) -> list[Function]:
        """All functions marked __global__ or __device__ that have a body, in order."""
        found: list[Function] = []
        position = 0
        for marker in self._markers.finditer(self._structure):
            if marker.start() < position:
                continue
            function = self._function(marker.start())
            if function is not None:
                found.append(function)
                position = function.body.end
        return found

    def function_at(self, offset: int) -> Function | None:
        """The device function whose head or body holds the byte at `offset`."""
        index = bisect_right(self._function_starts, offset) - 1
        return self.functions[index] if index >= 0 and offset < self.functions[index].body.end else None

    @cached_property
    def _function_starts(self) -> list[int]:
        return [item.start for item in self.functions]

    def calls(self, names: re.Pattern[bytes], within: Span | None = None) -> Iterator[Call]:
        """Calls of plain functions that `names` matches; declarations, members and other namespaces' are none."""
        text = self.with_macros
        span = within or Span(0, len(text))
        for match in names.finditer(text, *span):
            opening = self._opening(match.end())
            if opening is None or continues_a_word(text, match.start()) or not self._is_plain(match.start()):
                continue
            arguments, end = split_arguments(text, opening)
            yield Call(Span(*match.span()), arguments, end)

    def is_elsewhere(self, offset: int) -> bool:
        """Whether the byte at `offset` is compiled for another platform only (HIP, SYCL), or never (#if 0)."""
        for branch in self._unit.conditionals.branches_around(offset):
            first = branch.group.branches[0].directive
            test = self._unit.data[branch.directive.body : branch.directive.end]
            if branch.directive.keyword == b"else":
                test = self._unit.data[first.body : first.end]
                if first.keyword == b"ifndef" and _ELSEWHERE.search(test):
                    return True
            elif branch.directive.keyword != b"ifndef" and (test.strip() == b"0" or _asks_for_another_platform(test)):
                return True
        return False

    @cached_property
    def _markers(self) -> re.Pattern[bytes]:
        """The two specifiers, and the file's own macros that stand for them."""
        own = [
            re.escape(item.name)
            for item in self._unit.outline.directives
            if item.keyword == b"define" and _MARKING_MACRO.search(self.with_macros, item.body, item.end)
            and item.parameters is None and not _BRACE.search(self.with_macros, item.body, item.end)
        ]  # fmt: skip
        return re.compile(rb"\b(?:__(?:global|device)__|" + b"|".join(own) + rb")\b") if own else _MARKER

    def _function(self, start: int) -> Function | None:
        text = self._structure
        depth, name, position = 0, b"", start
        while True:
            match = _HEAD_STOP.search(text, position)
            if match is None:
                return None
            sign, position = match.group(), match.end()
            if sign == b"(":
                called = _LAST_CALL.search(text, max(start, match.start() - 200), match.start()) if depth == 0 else None
                if called and not name and called.group(1) not in _NO_FUNCTION:
                    name = called.group(1)
                depth += 1
            elif sign == b")":
                depth -= 1
            elif depth == 0 and (sign in b";=" or not name) and name != b"operator":
                return None
            elif depth == 0 and sign == b"{":
                break
        head = text[max(0, text.rfind(b"\n", 0, start)) : match.start()]
        return Function(name, start, Span(match.end(), closing_brace(text, match.end())), b"__host__" in head)

    def _opening(self, end: int) -> int | None:
        match = _OPENING.match(self.with_macros, end)
        return match.end() if match else None

    def _is_plain(self, start: int) -> bool:
        """Whether the name at `start` is no member, in no namespace and no declaration: its own, as far as one sees."""
        before = self.with_macros[max(0, start - 120) : start].rstrip()
        if before.endswith((b".", b"->")):
            return False
        if before.endswith(b"::"):
            qualifier = _last_word(before[:-2].rstrip())
            return not qualifier or qualifier in OPERATOR_KEYWORDS
        word = _last_word(before)
        if not word:
            return not _is_declared(self.with_macros, start)
        return word in OPERATOR_KEYWORDS or word.isupper() or _at_line_break(self.with_macros, start)


def _last_word(text: bytes) -> bytes:
    return text[len(text.rstrip(_WORD_LETTERS)) :]


def continues_a_word(text: bytes, start: int) -> bool:
    """Whether a match is the end of a longer name; patterns leave it to this, for a literal start is found faster."""
    return start > 0 and (text[start - 1 : start].isalnum() or text[start - 1 : start] == b"_")


@lru_cache(maxsize=1)
def device_code(unit: Unit) -> DeviceCode:
    """The device code of a source; kept while the checks go over it one after the other."""
    return DeviceCode(unit)


def closing_brace(text: bytes, position: int) -> int:
    """Where the brace that is open at `position` closes; the end of the text where it never does."""
    depth = 1
    start = position
    while True:
        end = text.find(b"}", start)
        if end < 0:
            return len(text)
        depth += text.count(b"{", start, end) - 1
        if depth == 0:
            return end
        start = end + 1


def split_arguments(text: bytes, position: int) -> tuple[list[Span], int]:
    """The arguments of a call whose parenthesis opens just before `position`, and where it closes."""
    arguments: list[Span] = []
    depth, start = 0, position
    for match in _BRACKET.finditer(text, position):
        sign = match.group()
        if sign in b"([{":
            depth += 1
        elif sign == b"," and depth == 0:
            arguments.append(trimmed(text, start, match.start()))
            start = match.end()
        elif sign in b")]}":
            depth -= 1
            if depth < 0:
                last = trimmed(text, start, match.start())
                return ([*arguments, last] if last.start < last.end or arguments else []), match.end()
        elif sign == b";" and depth == 0:
            break
    return arguments, position


def trimmed(text: bytes, start: int, end: int) -> Span:
    """What is left of a span without the white space at its ends."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return Span(start + left, start + left + len(piece.strip()))


def _blanked(data: bytes, spans: list[tuple[int, int]]) -> bytes:
    """`data` with spaces in place of `spans`; newlines are kept, for they end macros."""
    pieces: list[bytes] = []
    position = 0
    for start, end in spans:
        if start < position:
            continue
        pieces.append(data[position:start])
        pieces.append(data[start:end].translate(_BLANK))
        position = end
    pieces.append(data[position:])
    return b"".join(pieces)


def _asks_for_another_platform(test: bytes) -> bool:
    """`defined(USE_HIP)`, and not `!defined(USE_HIP)` or one of several alternatives."""
    found = _ELSEWHERE.search(test)
    return found is not None and b"!" not in test and b"||" not in test.replace(found.group(), b"", 1)


def _is_declared(text: bytes, start: int) -> bool:
    """Whether a type stands before: `float4 *name(`."""
    if text[max(0, start - 80) : start].rstrip()[-1:] not in (b"*", b"&"):
        return False
    before = _DECLARING.search(text[max(0, start - 80) : start])
    return (
        before is not None
        and b"*" in before.group()
        and before.group().split(b"*")[0].strip() in (b"void", b"float", b"int")
    )


def _at_line_break(text: bytes, start: int) -> bool:
    """A word on the line before is a macro or the end of an expression statement, not a type."""
    return text[text.rfind(b"\n", 0, start) + 1 : start].strip() == b"" and text[:start].rstrip()[-1:] not in (
        b"*",
        b"&",
    )
