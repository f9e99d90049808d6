"""String literals that are more than text: names looked up at run time, library files, source compiled at run time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from musify.languages.cuda.names import doubts, kept_finding
from musify.languages.cuda.references import enclosing_call
from musify.languages.cuda.unit import Unit
from musify.model import Applicability, Edit, Finding, Span
from musify.rules.model import Action, NameRule
from musify.source.embedding import EmbeddedText
from musify.source.outline import Opaque, OpaqueKind
from musify.source.words import occurrences

LOOKED_UP_NAME = "looked-up-name"
LIBRARY_FILE = "library-file"
_LOOKUPS = frozenset(
    b"dlsym dlvsym GetProcAddress cuGetProcAddress cuGetProcAddress_v2 cudaGetDriverEntryPoint "
    b"cudaGetDriverEntryPointByVersion cudaGetDriverEntryPoint_ptsz nvrtcAddNameExpression".split()
)
_OPENERS = frozenset(
    b"dlopen dlmopen LoadLibrary LoadLibraryA LoadLibraryW LoadLibraryEx LoadLibraryExA LoadLibraryExW GetModuleHandle "
    b"GetModuleHandleA GetModuleHandleW".split()
)
_OPENS_LIBRARIES = re.compile(rb"\b(?:dlopen|dlmopen|LoadLibrary\w*)\b")
_LOOKS_UP = re.compile(rb"\b(?:dlsym|dlvsym|GetProcAddress)\b")
_LIBRARY = re.compile(
    rb"(?P<head>(?:.*/)?lib)(?P<stem>[A-Za-z][\w-]*?)(?P<tail>(?:_static)?\.(?:so(?:\.[\d.]+)?|dylib|a))\Z"
    rb"|(?P<windows>[A-Za-z_]+?)(?:64|32)?(?:_[\d_]+)?\.(?:dll|lib)\Z"
)
_LIBRARY_HINTS = (b"libcu", b"libnv", b"libnccl", b"libnpp", b'.dll"', b'.lib"')
_MUSA_HINTS = (b"libmu", b"libmt", b"libmccl")
_STEMS = (b"cu", b"nv", b"nccl", b"npp")
_MUSA_STEMS = (b"mu", b"mt", b"mccl")
SPECIFIERS = (b"__global__", b"__device__")
SOURCE = re.compile(rb"(?:__global__|__device__)\s+[A-Za-z_]")
_STRING_HEAD = re.compile(rb'R"[^ ()\\\t\v\f\r\n]{0,16}\(|"')
_ESCAPE = re.compile(rb"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|\r\n|(?s:.))")
_MIN_SOURCE_BYTES = 12
_ESCAPED = {
    b"\n": b"", b"\r\n": b"", b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f", b"a": b"\a", b"b": b"\b",
    b'"': b'"', b"'": b"'", b"\\": b"\\", b"?": b"?",
}  # fmt: skip
# Converts source that stands in a string; whether the string can hold new text as it is.
Convert = Callable[[EmbeddedText, Callable[[bytes], bool]], Iterable[Edit | Finding]]


class StringConverter:
    """Works through the string literals of one unit. `convert` converts source text on its own."""

    def __init__(self, unit: Unit, convert: Convert) -> None:
        self._unit = unit
        self._convert = convert

    def run(self) -> Iterator[Edit | Finding]:
        """Edits and findings for the literals that matter."""
        wanted = self._candidates()
        if not wanted:
            return
        for group in self._groups():
            if any(literal.start in wanted for literal in group):
                if len(group) == 1:
                    yield from self._single(group[0])
                yield from self._source(group)

    def _candidates(self) -> set[int]:
        """Where the literals start that hold a word of interest, a library's file name, or device code."""
        unit = self._unit
        offsets = [word.start for word in unit.words_elsewhere]
        for hint in _MUSA_HINTS if unit.settings.reverse else _LIBRARY_HINTS:
            offsets += occurrences(unit.data, hint)
        for word in SPECIFIERS:
            offsets += (at for at in occurrences(unit.data, word) if SOURCE.match(unit.data, at))
        strings = (OpaqueKind.STRING, OpaqueKind.RAW_STRING)
        found = (unit.outline.opaque_at(offset) for offset in offsets)
        return {literal.start for literal in found if literal is not None and literal.kind in strings}

    @cached_property
    def _opens(self) -> bool:
        return _OPENS_LIBRARIES.search(self._unit.data) is not None

    @cached_property
    def _looks_up(self) -> bool:
        return _LOOKS_UP.search(self._unit.data) is not None

    def _groups(self) -> Iterator[list[Opaque]]:
        """Adjacent literals together, as the compiler joins them."""
        group: list[Opaque] = []
        for literal in self._unit.outline.strings():
            if group and not self._adjacent(group[-1].end, literal.start):
                yield group
                group = []
            group.append(literal)
        if group:
            yield group

    def _adjacent(self, end: int, start: int) -> bool:
        gap = self._unit.data[end:start]
        if not gap.strip(b" \t\r\n\\"):
            return True
        return start - end < 200 and self._unit.outline.after(end).start == start

    def _content(self, literal: Opaque) -> Span:
        head = _STRING_HEAD.match(self._unit.data, literal.start)
        start = head.end() if head else literal.start + 1
        if literal.kind is OpaqueKind.RAW_STRING:
            return Span(start, literal.end - (start - literal.start - 2) - 1)
        closed = self._unit.data[literal.end - 1 : literal.end] == b'"' and literal.end - 1 >= start
        return Span(start, literal.end - 1 if closed else literal.end)

    def _single(self, literal: Opaque) -> Iterator[Edit | Finding]:
        span = self._content(literal)
        if not 4 <= span.end - span.start <= 120:
            return
        text = self._unit.text(span)
        rule = self._unit.book.name(text)
        if rule is not None:
            yield from self._name(literal, span, rule)
            return
        match = _LIBRARY.match(text)
        if match:
            yield from self._library(literal, span, match)

    def _name(self, literal: Opaque, span: Span, rule: NameRule) -> Iterator[Edit | Finding]:
        if rule.action is Action.IDENTITY or rule.kind not in ("function", "function-alias"):
            return
        looked_up = self._called(literal) in _LOOKUPS
        if not looked_up and not self._looks_up:
            return
        if rule.action is not Action.RENAME:
            yield (
                kept_finding(rule.library, span, rule.name.decode())
                if rule.library.finding
                else Finding(
                    "MUS107",
                    span,
                    rule.name.decode(),
                    {"outcome": "left as it is", "outcome_zh": "保持原样", "target": "it"},
                )
            )
            return
        target = rule.target.decode()
        if looked_up:
            yield Edit(span, rule.target, LOOKED_UP_NAME, Applicability.REVIEW, rule.name.decode(), rule.library.id,
                       rule.evidence.value)  # fmt: skip
        outcome = f"renamed to {target}" if looked_up else "left as it is, for it is not handed to a look-up here"
        outcome_zh = f"已改为 {target}" if looked_up else "保持原样，因为此处并未用于查找"
        arguments = {"outcome": outcome, "outcome_zh": outcome_zh, "target": target}
        yield Finding("MUS107", span, rule.name.decode(), arguments)
        if rule.absent is not None:
            yield from doubts(rule, span, kept=not looked_up)

    def _called(self, literal: Opaque) -> bytes:
        """The function that the literal is handed to, by CUDA's name."""
        name = enclosing_call(self._unit.outline, literal.start)
        rule = self._unit.book.name(name) if self._unit.settings.reverse else None
        return rule.target if rule is not None else name

    def _library(self, literal: Opaque, span: Span, match: re.Match[bytes]) -> Iterator[Edit | Finding]:
        stem = match.group("stem") or match.group("windows")
        names = self._unit.book.link_names
        windows_driver = match.group("windows") == b"nvcuda"
        known = names.get(b"cuda" if windows_driver else stem)
        if known is None and not stem.startswith(_MUSA_STEMS if self._unit.settings.reverse else _STEMS):
            return
        opened = self._opens or enclosing_call(self._unit.outline, literal.start) in _OPENERS
        in_pragma = self._unit.outline.directive_at(literal.start) is not None
        if not opened and not in_pragma:
            return
        name = match.group().decode("utf-8", "replace")
        if known is None or not known[0] or match.group("windows"):
            if known is not None or match.group("windows") is None or self._unit.book.looks_like_cuda(stem + b"X"):
                outcome, outcome_zh = "left as it is: no counterpart is known", "保持原样：没有已知的对应物"
                yield Finding("MUS108", span, name, {"outcome": outcome, "outcome_zh": outcome_zh})
            return
        start = span.start + match.start("stem")
        yield Edit(Span(start, start + len(stem)), known[0], LIBRARY_FILE, Applicability.REVIEW, "", known[1].id, "")
        new = (match.group("head") + known[0] + match.group("tail")).decode("utf-8", "replace")
        yield Finding("MUS108", span, name, {"outcome": f"renamed to {new}", "outcome_zh": f"已改为 {new}"})

    def _source(self, group: list[Opaque]) -> Iterator[Edit | Finding]:
        start, end = group[0].start, group[-1].end
        if end - start < _MIN_SOURCE_BYTES or not SOURCE.search(self._unit.data, start, end):
            return
        text = self._embedded(group)
        if b"{" in text.text or b"(" in text.text:
            raw = all(literal.kind is OpaqueKind.RAW_STRING for literal in group)
            yield from self._convert(text, _holds_raw if raw else _holds)

    def _embedded(self, group: list[Opaque]) -> EmbeddedText:
        """The source that adjacent literals say together, escapes resolved."""
        contents = [self._content(literal) for literal in group]
        runs: list[tuple[Span, bytes, bool]] = []
        for literal, content in zip(group, contents, strict=True):
            position = content.start
            for match in _ESCAPE.finditer(self._unit.data, *content) if literal.kind is OpaqueKind.STRING else ():
                runs.append((Span(position, match.start()), self._unit.data[position : match.start()], True))
                runs.append((Span(*match.span()), _unescaped(match.group()), False))
                position = match.end()
            runs.append((Span(position, content.end), self._unit.data[position : content.end], True))
        return EmbeddedText(runs, contents)


def _holds(new_text: bytes) -> bool:
    return not any(mark in new_text for mark in (b'"', b"\\", b"\n"))


def _holds_raw(new_text: bytes) -> bool:
    return b'"' not in new_text


def _unescaped(escape: bytes) -> bytes:
    """The byte that an escape stands for; one blank for a character that no token of C++ holds."""
    return _ESCAPED.get(escape[1:], b" ")
