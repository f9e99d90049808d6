"""A fast outline of C-family source: comments, literals and directives, and the code between them.

One compiled regular expression finds everything whose inside is not code; a second one, given by the
caller, finds the identifiers of interest in what remains. Neighbouring tokens are looked up only where
somebody asks. For a complete token stream see `lexer`.

Line splices (backslash, newline) count as white space, except in the middle of a token.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from musify.model import Span
from musify.source.words import WORD_BYTES

# Every branch starts with a literal byte, so that the search skips quickly to the next one of those.
OPAQUE = re.compile(
    rb"""(?sx:
      /(?: /[^\n\\]*(?:\\(?:\r?\n|.)[^\n\\]*)* | \*.*?(?:\*/|\Z) )
    | "[^"\\\n]*(?:\\(?:\r\n|.)[^"\\\n]*)*"?
    | '(?:(?<![0-9a-fA-F]')|(?<=u8'))(?:[^'\\\n]|\\.)+'
    | R(?<![A-KM-TV-Za-tv-z0-79_]R)"([^ ()\\\t\v\f\r\n]{0,16})\(.*?\)\1"
    | \#[ \t]*(?:
          (?:include_next|include|import)\b[ \t]*(?:<[^>\n]*>|"[^"\n]*")?
        | (?:error|warning)\b[^\n]*
        | [A-Za-z]*
      )
    )"""
)
_BLANK = re.compile(rb"(?:[ \t\r\n\f\v]|\\\r?\n)*")
_COMMENT = re.compile(rb"(?s)//[^\n\\]*(?:\\(?:\r?\n|.)[^\n\\]*)*|/\*.*?(?:\*/|\Z)")
_LOGICAL_LINE = re.compile(rb"(?s)[^\\\n/]*(?:(?:\\\r?\n|\\.|//[^\n\\]*|/\*.*?\*/|/)[^\\\n/]*)*")
_HEAD = re.compile(rb"#[ \t]*([A-Za-z_]*)")
_DEFINE = re.compile(rb"(?:[ \t]|\\\r?\n|/\*.*?\*/)*([A-Za-z_]\w*)(\([^)]*\))?")
_WORD_BEFORE = re.compile(rb"[\w$\x80-\xff]+\Z")
_TOKEN_AFTER = re.compile(
    rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*|\d[\w.]*|::|->|##|<<<|>>>|<<|>>|[<>=!]=|&&|\|\||.", re.S
)
_PUNCTUATION_PAIRS = frozenset({b"::", b"->", b"##", b"&&", b"||", b"<=", b">=", b"==", b"!=", b"<<", b">>"})
_SPACE = frozenset(b" \t\r\n\f\v")
# Bytes that, on the same line and outside literals, are a token of their own and end no comment or directive head:
# most names stand beside one, and need no closer look.
_CLEAR_BEFORE = frozenset(b"(,;{}[!")
_CLEAR_AFTER = frozenset(b"(,;){}[]")


class OpaqueKind(Enum):
    """What a stretch is whose inside is not code."""

    COMMENT = "comment"
    STRING = "string"
    RAW_STRING = "raw string"
    CHARACTER = "character"
    DIRECTIVE = "directive"


_KIND_OF_FIRST_BYTE = {
    ord("/"): OpaqueKind.COMMENT,
    ord('"'): OpaqueKind.STRING,
    ord("'"): OpaqueKind.CHARACTER,
    ord("R"): OpaqueKind.RAW_STRING,
    ord("#"): OpaqueKind.DIRECTIVE,
}


class Opaque(NamedTuple):
    """A comment, a literal, or the head of a directive (with the path of an #include, the text of an #error)."""

    kind: OpaqueKind
    start: int
    end: int


class Directive(NamedTuple):
    """A preprocessor line with its continuation lines; the newline that ends it is outside.

    `body` is where the replacement list of a #define starts, and the end of the keyword elsewhere.
    `name` and `parameters` are those of a #define (parameters None: an object-like macro).
    """

    keyword: bytes
    start: int
    head_end: int
    end: int
    body: int
    name: bytes
    name_start: int
    parameters: tuple[bytes, ...] | None


def opaque_spans(data: bytes) -> list[tuple[int, int]]:
    """Comments, literals, directive heads and the number signs in macros, in order."""
    return [match.span() for match in OPAQUE.finditer(data)]


class Outline:
    """What lies where in a source file. Read-only; made once per file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._first = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
        self.directives: list[Directive] = []
        raw = self.raw_spans = opaque_spans(data)
        others = self._find_directives(raw)
        self._spans: list[tuple[int, int]] = [span for span in raw if span[0] not in others] if others else raw
        self._directive_starts = [item.start for item in self.directives]

    def _find_directives(self, raw: list[tuple[int, int]]) -> set[int]:
        """Read the directives among `raw`; where the number signs stand that are none (`#x`, `##`)."""
        data = self.data
        others = set()
        directive_end = 0
        for start, end in raw:
            if data[start] != 35:  # a number sign
                continue
            if start < directive_end or not _starts_line(data, start):
                others.add(start)
                continue
            directive = _read_directive(data, start, end)
            self.directives.append(directive)
            directive_end = directive.end
        return others

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, _ in self._spans]

    @property
    def opaque_spans(self) -> list[tuple[int, int]]:
        """Where comments, literals and directive heads start and end, in order."""
        return self._spans

    def in_code(self, spans: Iterable[Span]) -> list[Span]:
        """Those of `spans`, which are in order, that start in code: in no comment, literal, include path or #error."""
        return self.parted(spans)[0]

    def parted(self, spans: Iterable[Span]) -> tuple[list[Span], list[Span]]:
        """`spans`, which are in order: those that start in code, and the others."""
        inside: list[Span] = []
        elsewhere: list[Span] = []
        opaque = self._spans
        count = len(opaque)
        index = 0
        for span in spans:
            start = span[0]
            while index < count and opaque[index][1] <= start:
                index += 1
            (inside if index == count or opaque[index][0] > start else elsewhere).append(span)
        return inside, elsewhere

    def words(self, pattern: re.Pattern[bytes]) -> list[Span]:
        """Matches of `pattern` that lie in code."""
        return self.in_code(Span(*match.span()) for match in pattern.finditer(self.data))

    def opaque_at(self, offset: int) -> Opaque | None:
        """The comment, literal or directive head that covers the byte at `offset`."""
        index = bisect_right(self._starts, offset) - 1
        if index >= 0 and offset < self._spans[index][1]:
            return self._opaque(index)
        return None

    def _opaque(self, index: int) -> Opaque:
        start, end = self._spans[index]
        return Opaque(_KIND_OF_FIRST_BYTE[self.data[start]], start, end)

    @property
    def opaque(self) -> Iterator[Opaque]:
        """All comments, literals and directive heads, in order."""
        return (self._opaque(index) for index in range(len(self._spans)))

    def directive_at(self, offset: int) -> Directive | None:
        """The directive (continuation lines included) that covers the byte at `offset`."""
        index = bisect_right(self._directive_starts, offset) - 1
        if index >= 0 and offset < self.directives[index].end:
            return self.directives[index]
        return None

    def comments(self, within: Span | None = None) -> Iterator[Opaque]:
        """The comments in the file, or those that lie in `within`; in order."""
        return self._beginning_with(b"/", within)

    def strings(self) -> Iterator[Opaque]:
        """All string literals, raw ones too, in order."""
        return self._beginning_with(b'"R', None)

    def _beginning_with(self, first_bytes: bytes, within: Span | None) -> Iterator[Opaque]:
        data = self.data
        first, last = 0, len(self._spans)
        if within is not None:
            first, last = bisect_left(self._starts, within.start), bisect_left(self._starts, within.end)
        return (self._opaque(index) for index in range(first, last) if data[self._spans[index][0]] in first_bytes)

    def before(self, offset: int) -> Span:
        """The token that ends before `offset`; an empty span at the start of the file or of a macro body.

        Code does not see directives: the token before the first one after an #include is that before the line.
        """
        start = offset - 1
        while start > 0 and self.data[start] == 32:
            start -= 1
        if start >= 0 and self.data[start] in _CLEAR_BEFORE:
            return Span(start, start + 1)
        inside = self.directive_at(offset)
        # The name that a #define gives stands before the macro's body: nothing comes before it.
        floor = min(inside.body, offset) if inside else self._first
        end = self._back_over_blank(offset, floor, inside)
        if end <= floor:
            return Span(floor, floor)
        return Span(self._token_start(end, floor), end)

    def after(self, offset: int) -> Span:
        """The token after the one that ends at `offset`; an empty span at the end of the file or of a directive."""
        if offset < len(self.data) and self.data[offset] in _CLEAR_AFTER:
            return Span(offset, offset + 1)
        inside = self.directive_at(max(offset - 1, 0))  # a directive's last token ends where the directive does
        limit = inside.end if inside else len(self.data)
        start = self._forward_over_blank(offset, limit, inside)
        if start >= limit:
            return Span(limit, limit)
        opaque = self.opaque_at(start)
        if opaque is not None and opaque.kind is not OpaqueKind.DIRECTIVE:
            return Span(start, opaque.end)
        match = _TOKEN_AFTER.match(self.data, start, limit)
        return Span(start, match.end() if match else start)

    def text(self, span: Span) -> bytes:
        """The bytes of `span`."""
        return self.data[span.start : span.end]

    def _back_over_blank(self, end: int, floor: int, inside: Directive | None) -> int:
        data = self.data
        while end > floor:
            last = data[end - 1]
            if last in _SPACE:
                end -= 1
                continue
            if last == 92 and end < len(data) and data[end] in b"\r\n":  # a line splice
                end -= 1
                continue
            opaque = self.opaque_at(end - 1)
            if opaque is not None and opaque.kind is OpaqueKind.COMMENT:
                end = opaque.start
                continue
            if inside is None:
                directive = self.directive_at(end - 1)
                if directive is not None:
                    end = directive.start
                    continue
            break
        return max(end, floor)

    def _forward_over_blank(self, start: int, limit: int, inside: Directive | None) -> int:
        data = self.data
        while start < limit:
            match = _BLANK.match(data, start, limit)
            start = match.end() if match else start
            if start >= limit:
                break
            first = data[start]
            if first == 47:  # a slash
                comment = _COMMENT.match(data, start, limit)
                if comment:
                    start = comment.end()
                    continue
            if first == 35 and inside is None:  # a number sign
                directive = self.directive_at(start)
                if directive is not None:
                    start = directive.end
                    continue
            break
        return min(start, limit)

    def _token_start(self, end: int, floor: int) -> int:
        opaque = self.opaque_at(end - 1)
        if opaque is not None and opaque.kind is not OpaqueKind.DIRECTIVE:
            return opaque.start
        data = self.data
        if data[end - 1] in WORD_BYTES:
            start = end - 1
            while start > floor and data[start - 1] in WORD_BYTES:
                start -= 1
            return start
        if end - 2 >= floor and data[end - 2 : end] in _PUNCTUATION_PAIRS:
            return end - 2
        return end - 1


def _starts_line(data: bytes, start: int) -> bool:
    line = data.rfind(b"\n", 0, start) + 1
    if line == start:
        return not data.endswith((b"\\\n", b"\\\r\n"), 0, start)
    head = data[line:start]
    if line == 0 and head.startswith(b"\xef\xbb\xbf"):
        head = head[3:]
    head = head.strip()
    if head.startswith(b"/*") and head.endswith(b"*/"):
        return head.count(b"*/") == head.count(b"/*")
    return not head


def _read_directive(data: bytes, start: int, head_end: int) -> Directive:
    head = _HEAD.match(data, start)
    keyword = head.group(1) if head else b""
    keyword_end = head.end() if head else start + 1
    line = _LOGICAL_LINE.match(data, head_end)
    end = line.end() if line else head_end
    if end > start and data[end - 1 : end] == b"\r":
        end -= 1
    if keyword != b"define":
        return Directive(keyword, start, head_end, end, keyword_end, b"", keyword_end, None)
    match = _DEFINE.match(data, keyword_end, end)
    if match is None:
        return Directive(keyword, start, head_end, end, keyword_end, b"", keyword_end, None)
    parameters = None
    if match.group(2) is not None:
        inner = match.group(2)[1:-1].replace(b"\\\n", b" ").replace(b"\\\r\n", b" ")
        parameters = tuple(part.strip() for part in inner.split(b",")) if inner.strip() else ()
    return Directive(keyword, start, head_end, end, match.end(), match.group(1), match.start(1), parameters)
