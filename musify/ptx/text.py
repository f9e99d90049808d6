"""The PTX text of an asm statement: register declarations and instructions with their operands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from musify.ptx.assembly import UNKNOWN

_TOKEN = re.compile(
    r"""(?sx)
      (?P<blank> \s+ | //[^\n]*\n? | /\*.*?\*/ )
    | (?P<parameter> %(?:\d+|\[\w+\]) )
    | (?P<register> %%?[A-Za-z_$][\w$]*(?:\.\w+)? )
    | (?P<number> 0[fF][0-9a-fA-F]{8}\b | 0[dD][0-9a-fA-F]{16}\b | 0[xX][0-9a-fA-F]+U?\b | 0[bB][01]+U?\b
                | \d+\.\d*(?:[eE][+-]?\d+)? | \d+U?\b )
    | (?P<word> \.?[A-Za-z_$][\w$]*(?:\.\w+(?:::\w+)?|::\w+)* )
    | (?P<sign> . )
    """
)


class Unread(Exception):
    """The text could not be read as PTX; the message says where."""


class Register(NamedTuple):
    """A register by name, without its percent signs."""

    name: str


class Parameter(NamedTuple):
    """`%0`, or `%[name]`."""

    key: str


class Literal(NamedTuple):
    """A number as it was written."""

    text: str


class Negated(NamedTuple):
    """`!p`."""

    register: Operand


class Vector(NamedTuple):
    """`{a, b}`."""

    items: tuple[Operand, ...]


class Pair(NamedTuple):
    """`d|p`."""

    first: Operand
    second: Operand


class Address(NamedTuple):
    """`[base + offset]`."""

    base: Operand
    offset: int


Operand: TypeAlias = "Register | Parameter | Literal | Negated | Vector | Pair | Address"


class Instruction(NamedTuple):
    """An instruction; `guard` is the predicate that must hold (or must not, where it is Negated)."""

    opcode: str
    operands: tuple[Operand, ...]
    guard: Operand | None = None


class Declaration(NamedTuple):
    """One register of a `.reg`, and the braces it lives in (0: the whole statement)."""

    name: str
    type: str


@dataclass
class Program:
    """What a template holds. A register that inner braces declare anew bears another name."""

    instructions: list[Instruction] = field(default_factory=list)
    registers: list[Declaration] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


class _Token(NamedTuple):
    kind: str
    text: str


def read_program(template: str) -> Program:
    """Parse a template. Raises Unread."""
    tokens = []
    for match in _TOKEN.finditer(template):
        if match.lastgroup != "blank":
            tokens.append(_Token(match.lastgroup or "sign", match.group()))
    if UNKNOWN in template:
        raise Unread("a macro stands in the text")
    return _Parser(tokens).program()


def number(text: str) -> int | None:
    """The value of an integer literal of PTX; None where it is a float."""
    text = text.rstrip("U")
    if re.fullmatch(r"0[fFdD][0-9a-fA-F]{8,16}", text) and text[1] in "fFdD":
        return None
    if "." in text:
        return None
    if len(text) > 1 and text[0] == "0" and text[1].isdigit():
        return int(text, 8)
    return int(text, 0)


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._position = 0
        self._scopes: list[dict[str, str]] = [{}]
        self._program = Program()

    def program(self) -> Program:
        while self._position < len(self._tokens):
            self._statement()
        if len(self._scopes) != 1:
            raise Unread("a brace is left open")
        return self._program

    def _statement(self) -> None:
        text = self._next()
        if text == ";":
            return
        if text == "{":
            self._scopes.append({})
        elif text == "}":
            if len(self._scopes) == 1:
                raise Unread("a closing brace has no opening one")
            self._scopes.pop()
        elif text == ".reg":
            self._declaration()
        elif text.startswith("."):
            raise Unread(f"the directive {text} is not known")
        elif self._peek() == ":":
            self._position += 1
            self._program.labels.append(text)
        else:
            self._instruction(text)

    def _declaration(self) -> None:
        kind = self._next()
        if not kind.startswith("."):
            raise Unread("a register has no type")
        while True:
            name = self._next().lstrip("%")
            if self._peek() == "<":
                self._next()
                count = number(self._next()) or 0
                self._expect(">")
                for index in range(min(count, 256)):
                    self._declare(f"{name}{index}", kind[1:])
            else:
                self._declare(name, kind[1:])
            if self._peek() != ",":
                break
            self._next()
        self._end_statement()

    def _declare(self, name: str, kind: str) -> None:
        taken = {declaration.name for declaration in self._program.registers}
        unique = name
        while unique in taken:
            unique += "_"
        self._scopes[-1][name] = unique
        self._program.registers.append(Declaration(unique, kind))

    def _instruction(self, opcode: str) -> None:
        guard: Operand | None = None
        if opcode == "@":
            negated = self._peek() == "!"
            if negated:
                self._next()
            guard = self._register(self._next())
            guard = Negated(guard) if negated else guard
            opcode = self._next()
        if not re.match(r"[A-Za-z]", opcode):
            raise Unread(f"{opcode!r} is no instruction")
        operands: list[Operand] = []
        while self._peek() not in (";", "", "}"):
            operands.append(self._operand())
            if self._peek() == ",":
                self._next()
            elif self._peek() not in (";", "", "}"):
                raise Unread(f"{self._peek()!r} stands between operands")
        self._end_statement()
        self._program.instructions.append(Instruction(opcode, tuple(operands), guard))

    def _operand(self) -> Operand:
        text = self._next()
        if text == "{":
            items = [self._operand()]
            while self._peek() == ",":
                self._next()
                items.append(self._operand())
            self._expect("}")
            return Vector(tuple(items))
        if text == "[":
            return self._address()
        if text == "!":
            return Negated(self._operand())
        if text == "-":
            return Literal("-" + self._number())
        if text[0].isdigit():
            return Literal(text)
        first = self._register(text)
        if self._peek() != "|":
            return first
        self._next()
        return Pair(first, self._register(self._next()))

    def _address(self) -> Address:
        base = self._operand()
        offset = 0
        if self._peek() in ("+", "-"):
            sign = -1 if self._next() == "-" else 1
            sign = -sign if self._peek() == "-" and self._next() else sign
            offset = sign * (number(self._number()) or 0)
        self._expect("]")
        return Address(base, offset)

    def _register(self, text: str) -> Operand:
        if text.startswith("%") and (text[1:2].isdigit() or text[1:2] == "["):
            return Parameter(text[1:].strip("[]"))
        if not re.match(r"%{0,2}[A-Za-z_$]", text):
            raise Unread(f"{text!r} is no operand")
        name = text.lstrip("%")
        for scope in reversed(self._scopes):
            if name in scope:
                return Register(scope[name])
        return Register("%" + name if text.startswith("%") else name)

    def _number(self) -> str:
        text = self._next()
        if not text[:1].isdigit():
            raise Unread(f"{text!r} is no number")
        return text

    def _end_statement(self) -> None:
        # The last instruction of a block may lack its semicolon in macros that add it.
        if self._peek() == ";":
            self._next()
        elif self._peek() not in ("", "}"):
            raise Unread(f"{self._peek()!r} stands where a semicolon belongs")

    def _next(self) -> str:
        if self._position >= len(self._tokens):
            raise Unread("the text ends in the middle of a statement")
        self._position += 1
        return self._tokens[self._position - 1].text

    def _peek(self) -> str:
        return self._tokens[self._position].text if self._position < len(self._tokens) else ""

    def _expect(self, text: str) -> None:
        found = self._next()
        if found != text:
            raise Unread(f"{found!r} stands where {text!r} belongs")
