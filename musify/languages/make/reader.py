"""A lossless reader of makefiles: statements in order, each with the places of its parts.

Like make itself it works line by line: continued lines are one, a line after a rule that begins with a tab is a
command, `#` begins a comment where it is not inside a call or a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from musify.languages.shell.quoting import words_of
from musify.model import Span


class Kind(Enum):
    """What a statement is."""

    ASSIGNMENT = "assignment"
    RULE = "rule"
    RECIPE = "recipe"
    CONDITION = "condition"
    INCLUDE = "include"
    DEFINE = "define"
    OTHER = "other"


class Statement(NamedTuple):
    """A statement. `body` is what it says: a value, prerequisites, a command, a condition, paths, lines of `define`.

    `name` is the variable or directive; `targets` stand before the colon of a rule or of a variable for one target.
    """

    kind: Kind
    name: bytes
    operator: bytes
    body: Span
    targets: Span


@dataclass
class Makefile:
    """What a makefile says, in order, and where its comments stand."""

    statements: list[Statement] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)


_NOWHERE = Span(0, 0)
_DIRECTIVE = re.compile(
    rb"\s*(ifeq|ifneq|ifdef|ifndef|else|endif|-?include|sinclude|define|endef|undefine|vpath)\b[ \t]*"
)
# An assignment as most are written: one name at the start of the line, and no comment behind the value.
_ASSIGNMENT = re.compile(rb"([A-Za-z_][\w.-]*)[ \t]*((?::{1,3}|\?|\+|!)?=)([^#]*)\Z")
_PREFIX = re.compile(rb"\s*(?:(?:export|override|private|unexport)[ \t]+)*")
_OPERATOR = re.compile(rb"(?::{1,3}|\?|\+|!)?=")
_NAME = re.compile(rb"[^\s:#=]+")
_DEFINE = re.compile(rb"(?:override[ \t]+|export[ \t]+)*define\b[ \t]*([^\s:=?+!]+)[ \t]*((?::{1,3}|\?|\+|!)?=)?")
# What stands before the operator of an assignment: one word, which may be put together.
_ASSIGNED = re.compile(rb"\s*(?:(?:export|override|private|unexport)[ \t]+)*(?:[^\s$]|\$[({][^\n]*?[)}]|\$\$?\w)*\s*")
_CLOSING = {b"(": b")", b"{": b"}"}
# The signs of assignments, rules and comments, and those of calls.
_SIGN = re.compile(rb"[=:+?!;#$(){}]")
_COMMAND_PREFIX = re.compile(rb"[\s@+-]*")


@lru_cache(maxsize=4)  # several passes ask for the same
def read(data: bytes, start: int = 0, end: int | None = None) -> Makefile:
    """The statements between two offsets. Read-only, for it is kept."""
    return _Reader(data, canned=False).read(start, len(data) if end is None else end)


def read_canned(data: bytes, body: Span) -> Makefile:
    """The lines of a `define`: commands, where a rule would have a tab before them, or statements for `eval`."""
    return _Reader(data, canned=True).read(*body)


class _Reader:
    def __init__(self, data: bytes, canned: bool) -> None:
        self._data = data
        self._canned = canned
        self._in_rule = canned
        self._made = Makefile()

    def read(self, start: int, end: int) -> Makefile:
        lines = _logical_lines(self._data, start, end)
        for line in lines:
            first = self._data[line.start : line.start + 1]
            if line.start == line.end:
                continue
            if first == b"#":
                self._made.comments.append(line)
            elif first == b"\t" and self._in_rule:
                self._recipe(line)
            elif assignment := _ASSIGNMENT.match(self._data, *line):
                self._in_rule = False
                value = _stripped(self._data, Span(*assignment.span(3)))
                self._add(Kind.ASSIGNMENT, assignment.group(1), value, assignment.group(2))
            elif _DEFINE.match(self._data, _after_blanks(self._data, line), line.end):
                self._define(line, lines)
            else:
                self._line(line)
        return self._made

    def _recipe(self, line: Span) -> None:
        prefix = _COMMAND_PREFIX.match(self._data, line.start, line.end)
        start = prefix.end() if prefix else line.start
        end = line.end
        for word in words_of(self._data, Span(start, line.end)):
            if self._data[word.span.start : word.span.start + 1] == b"#":
                stop = self._data.find(b"\n", word.span.start, line.end)
                self._made.comments.append(Span(word.span.start, line.end if stop < 0 else stop))
                end = word.span.start if stop < 0 else end
                break
        command = _stripped(self._data, Span(start, end))
        if command.start < command.end:
            self._add(Kind.RECIPE, b"", command)

    def _define(self, line: Span, lines: Iterator[Span]) -> None:
        match = _DEFINE.match(self._data, _after_blanks(self._data, line), line.end)
        assert match is not None
        start, end, depth = line.end + 1, line.end + 1, 1
        for inner in lines:
            word = self._data[_after_blanks(self._data, inner) : inner.end].split(None, 1)
            depth += {b"define": 1, b"endef": -1}.get(word[0] if word else b"", 0)
            if depth == 0:
                break
            end = inner.end
        self._add(Kind.DEFINE, match.group(1), Span(start, max(start, end)), match.group(2) or b"=")

    def _line(self, line: Span) -> None:
        body = self._without_comment(line)
        if body.start == body.end:
            return
        directive = _DIRECTIVE.match(self._data, *body)
        if directive and not _OPERATOR.match(self._data, directive.end(), body.end):
            self._directive(directive.group(1), Span(directive.end(), body.end))
            return
        if self._canned and self._data[body.start : body.start + 1] in (b"@", b"-"):
            self._recipe(body)
        else:
            self._plain(body)

    def _without_comment(self, line: Span) -> Span:
        for index in _outside_calls(self._data, line) if b"#" in self._data[line.start : line.end] else ():
            if self._data[index : index + 1] == b"#" and self._data[index - 1 : index] != b"\\":
                self._made.comments.append(Span(index, line.end))
                return _stripped(self._data, Span(line.start, index))
        return _stripped(self._data, line)

    def _directive(self, name: bytes, body: Span) -> None:
        if name in (b"include", b"-include", b"sinclude"):
            self._in_rule = False
            self._add(Kind.INCLUDE, name, body)
        elif name in (b"undefine", b"vpath"):
            self._in_rule = False
            self._add(Kind.OTHER, name, body)
        else:
            self._add(Kind.CONDITION, name, body)

    def _plain(self, line: Span) -> None:
        """An assignment or a rule, whichever sign comes first outside calls."""
        for index in _outside_calls(self._data, line):
            operator = _OPERATOR.match(self._data, index, line.end)
            if operator and _ASSIGNED.fullmatch(self._data, line.start, index):
                self._assignment(Span(line.start, index), operator, line.end)
                return
            if self._data[index : index + 1] == b":" and not operator:
                self._rule(Span(line.start, index), _after_colons(self._data, index, line.end), line.end)
                return
        self._in_rule = self._canned
        self._add(Kind.RECIPE if self._canned else Kind.OTHER, b"", line)

    def _assignment(self, head: Span, operator: re.Match[bytes], end: int, targets: Span = _NOWHERE) -> None:
        self._in_rule = self._in_rule and targets != _NOWHERE
        prefix = _PREFIX.match(self._data, *head)
        name = self._data[prefix.end() if prefix else head.start : head.end].strip()
        self._add(Kind.ASSIGNMENT, name, _stripped(self._data, Span(operator.end(), end)), operator.group(), targets)

    def _rule(self, targets: Span, start: int, end: int) -> None:
        targets = _stripped(self._data, targets)
        for index in _outside_calls(self._data, Span(start, end)):
            operator = _OPERATOR.match(self._data, index, end)
            if operator and _NAME.fullmatch(_PREFIX.sub(b"", self._data[start:index], count=1).strip()):
                self._assignment(Span(start, index), operator, end, targets)
                return
            if self._data[index : index + 1] == b";":
                self._add(Kind.RULE, b"", _stripped(self._data, Span(start, index)), b"", targets)
                self._recipe(Span(index + 1, end))
                self._in_rule = True
                return
        self._add(Kind.RULE, b"", _stripped(self._data, Span(start, end)), b"", targets)
        self._in_rule = True

    def _add(self, kind: Kind, name: bytes, body: Span, operator: bytes = b"", targets: Span = _NOWHERE) -> None:
        self._made.statements.append(Statement(kind, name, operator, body, targets))


def _logical_lines(data: bytes, start: int, end: int) -> Iterator[Span]:
    """Lines without their end; a line that ends in a backslash goes on in the next."""
    first = position = start
    while position < end:
        newline = data.find(b"\n", position, end)
        stop = end if newline < 0 else newline
        text_end = stop - 1 if data[stop - 1 : stop] == b"\r" and stop > first else stop
        backslashes = text_end - len(data[first:text_end].rstrip(b"\\")) - first
        position = stop + 1
        if backslashes % 2 and newline >= 0 and position < end:
            continue
        yield Span(first, text_end)
        first = position


def _outside_calls(data: bytes, span: Span) -> Iterator[int]:
    """Offsets of signs that may end or begin a part of a line, outside `$(...)` and `${...}`."""
    closing: list[bytes] = []
    opening: list[bytes] = []
    position = span.start
    for match in _SIGN.finditer(data, *span):
        index = match.start()
        if index < position:
            continue
        character = match.group()
        if character == b"$" and data[index + 1 : index + 2] in _CLOSING:
            opening.append(data[index + 1 : index + 2])
            closing.append(_CLOSING[opening[-1]])
            position = index + 2
            continue
        if closing and character == opening[-1]:
            opening.append(character)
            closing.append(_CLOSING[character])
        elif closing and character == closing[-1]:
            closing.pop()
            opening.pop()
        elif not closing:
            yield index


def _after_blanks(data: bytes, line: Span) -> int:
    return line.end - len(data[line.start : line.end].lstrip())


def _after_colons(data: bytes, index: int, end: int) -> int:
    while index < end and data[index : index + 1] == b":":
        index += 1
    return index


def _stripped(data: bytes, span: Span) -> Span:
    text = data[span.start : span.end]
    start = span.end - len(text.lstrip())
    return Span(start, max(start, span.start + len(text.rstrip())))


def comments_of(data: bytes) -> list[Span]:
    """Where comments stand, in order, those between commands and in `define` too."""
    return _comments(data, read(data))


def _comments(data: bytes, makefile: Makefile) -> list[Span]:
    found = list(makefile.comments)
    for statement in makefile.statements:
        if statement.kind is Kind.DEFINE:
            found += _comments(data, read_canned(data, statement.body))
    return sorted(found)
