"""The asm statement as C++ sees it: template, outputs, inputs, clobbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from musify.model import Span
from musify.source.outline import OpaqueKind, Outline

ASM_WORD = re.compile(rb"\b(?:asm|__asm__|__asm)\b")
UNKNOWN = "\x00"
_QUALIFIERS = frozenset(b"volatile __volatile__ __volatile inline __inline__ goto".split())
_RAW = re.compile(rb'(?s)R"([^ ()\\\t\v\f\r\n]{0,16})\((.*)\)\1"\Z')
# Nothing inside can hide a parenthesis or end a directive: no literal, comment, line splice or line end.
_PLAIN_PARENTHESES = re.compile(rb"\([^()\"'/#\\\n]*\)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_ESCAPE = re.compile(r"(?s)\\(\r?\n|x[0-9a-fA-F]+|.)")


class Operand(NamedTuple):
    """`[name] "constraint"(expression)`; the span is that of the expression inside the parentheses.

    Where a macro of another file stands for the constraint, `constraint` is the name of the macro.
    """

    name: str
    constraint: str
    expression: Span


@dataclass
class Assembly:
    """An asm statement without its semicolon. `template` holds UNKNOWN for each of the `macros` not resolved."""

    span: Span
    template: str = ""
    macros: list[str] = field(default_factory=list)
    outputs: list[Operand] = field(default_factory=list)
    inputs: list[Operand] = field(default_factory=list)
    clobbers: list[str] = field(default_factory=list)
    jumps: bool = False

    @property
    def operands(self) -> list[Operand]:
        """Outputs and inputs, in the order in which %0, %1 ... count them."""
        return [*self.outputs, *self.inputs]


_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*\Z")


def is_identifier(text: bytes) -> bool:
    """Whether a token may be the name of a macro."""
    return _IDENTIFIER.match(text) is not None


class _Malformed(Exception):
    """The parentheses hold something else than an asm statement."""


def read_assembly(outline: Outline, word: Span, texts: Mapping[bytes, str]) -> Assembly | None:
    """The statement that starts with the word `asm` at `word`; None where it is none.

    `texts`: object-like macros of the file that stand for string literals.
    """
    token = outline.after(word.end)
    jumps = False
    while outline.text(token) in _QUALIFIERS:
        jumps = jumps or outline.text(token) == b"goto"
        token = outline.after(token.end)
    if outline.text(token) != b"(":
        return None
    end = _closing(outline, token)
    if end is None:
        return None
    assembly = Assembly(Span(word.start, end), jumps=jumps)
    try:
        _Reader(outline, token.end, end - 1, texts).fill(assembly)
    except _Malformed:
        return None
    return assembly


def string_macros(outline: Outline) -> dict[bytes, str]:
    """The object-like macros that are defined once in this file, as string literals and nothing else."""
    found: dict[bytes, str] = {}
    several: set[bytes] = set()
    for directive in outline.directives:
        if directive.keyword != b"define" or not directive.name:
            continue
        if directive.name in found or directive.parameters is not None:
            several.add(directive.name)
            continue
        text = _joined_literals(outline, directive.body, directive.end)
        if text is None:
            several.add(directive.name)
        else:
            found[directive.name] = text
    return {name: text for name, text in found.items() if name not in several}


def _joined_literals(outline: Outline, start: int, end: int) -> str | None:
    """What the literals between two offsets stand for together; None where anything else stands there."""
    parts: list[str] = []
    while start < end:
        token = outline.after(start)
        if token.start >= token.end:
            break
        text = literal_text(outline, token)
        if text is None:
            return None
        parts.append(text)
        start = token.end
    return "".join(parts) if parts else None


def literal_text(outline: Outline, token: Span) -> str | None:
    """What a string literal stands for; None where `token` is none."""
    opaque = outline.opaque_at(token.start)
    if opaque is None or opaque.start != token.start:
        return None
    text = outline.text(token)
    if opaque.kind is OpaqueKind.RAW_STRING:
        raw = _RAW.match(text)
        return raw.group(2).decode("utf-8", "replace") if raw else None
    if opaque.kind is not OpaqueKind.STRING or len(text) < 2:
        return None
    return _ESCAPE.sub(_unescaped, text[1:-1].decode("utf-8", "replace"))


def _unescaped(match: re.Match[str]) -> str:
    what = match.group(1)
    if what.endswith("\n"):
        return ""
    return chr(int(what[1:], 16)) if what[0] == "x" and len(what) > 1 else _ESCAPES.get(what, what)


def _closing(outline: Outline, opening: Span) -> int | None:
    plain = _PLAIN_PARENTHESES.match(outline.data, opening.start)
    if plain:
        return plain.end()
    depth = 0
    token = opening
    while token.start < token.end:
        depth += {b"(": 1, b")": -1}.get(outline.text(token), 0)
        if depth == 0:
            return token.end
        token = outline.after(token.end)
    return None


class _Reader:
    """Walks over the tokens between the parentheses of one statement."""

    def __init__(self, outline: Outline, start: int, end: int, texts: Mapping[bytes, str]) -> None:
        self._outline = outline
        self._end = end
        self._texts = texts
        self._token = outline.after(start)
        self._half_colon = False

    def fill(self, assembly: Assembly) -> None:
        self._template(assembly)
        for section in (assembly.outputs, assembly.inputs):
            if not self._colon():
                return
            while self._more():
                section.append(self._operand())
                if self._text() == b",":
                    self._advance()
        if self._colon():
            while self._more():
                text = literal_text(self._outline, self._token)
                assembly.clobbers.append(text or "")
                self._advance()

    def _template(self, assembly: Assembly) -> None:
        parts: list[str] = []
        while self._more():
            text = literal_text(self._outline, self._token)
            if text is None:
                name = self._text()
                text = "" if name == b"#" else self._texts.get(name)
                if text is None:
                    text = UNKNOWN
                    assembly.macros.append(name.decode("utf-8", "replace"))
            parts.append(text)
            self._advance()
        assembly.template = "".join(parts)

    def _operand(self) -> Operand:
        name = ""
        if self._text() == b"[":
            self._advance()
            name = self._text().decode("utf-8", "replace")
            self._advance()
            self._expect(b"]")
        constraint = literal_text(self._outline, self._token)
        if constraint is None and is_identifier(self._text()):
            constraint = self._texts.get(self._text(), self._text().decode("utf-8", "replace"))
        self._advance()
        opening = self._token
        closing = _closing(self._outline, opening) if self._text() == b"(" else None
        if constraint is None or closing is None:
            raise _Malformed
        self._token = self._outline.after(closing)
        return Operand(name, constraint, Span(opening.end, closing - 1))

    def _colon(self) -> bool:
        if self._half_colon:
            self._half_colon = False
            self._advance()
            return True
        if self._text() == b"::":
            self._half_colon = True
            return True
        if self._text() != b":":
            return False
        self._advance()
        return True

    def _more(self) -> bool:
        return self._token.start < self._end and self._text() not in (b":", b"::")

    def _text(self) -> bytes:
        return self._outline.text(self._token) if self._token.start < self._end else b""

    def _advance(self) -> None:
        self._token = self._outline.after(self._token.end)

    def _expect(self, text: bytes) -> None:
        if self._text() != text:
            raise _Malformed
        self._advance()
