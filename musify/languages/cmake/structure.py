"""What CMake's commands say beyond their words: blocks, list elements, and references to variables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from musify.languages.cmake.reader import Argument, ArgumentKind, Command
from musify.model import Span

_OPENERS = frozenset({b"if", b"foreach", b"while", b"function", b"macro", b"block"})
_BRANCHES = frozenset({b"elseif", b"else"})
_CLOSERS = frozenset({b"endif", b"endforeach", b"endwhile", b"endfunction", b"endmacro", b"endblock"})
CONDITIONS = (b"if", b"elseif", b"while")
DEFINITIONS = (b"function", b"macro")
_ELEMENT = re.compile(rb"[^\s;\"]+")
_REFERENCE = re.compile(rb"\$(?P<place>ENV|CACHE)?\{(?P<name>[\w./+-]+)\}|@(?P<at>[A-Za-z_]\w*)@")


class Reference(NamedTuple):
    """A reference to a variable: where its name stands, and `place`: empty, `ENV`, `CACHE`, or `@`."""

    name: Span
    place: bytes


def enclosing(names: Sequence[bytes]) -> list[tuple[int, ...]]:
    """For each command, given all names in lower case, the commands that opened the blocks around it, outermost first.

    The branch of an `if` is the block of the command that began it (if, elseif, else).
    """
    found: list[tuple[int, ...]] = []
    stack: list[int] = []
    for index, name in enumerate(names):
        if (name in _BRANCHES or name in _CLOSERS) and stack:
            stack.pop()
        found.append(tuple(stack))
        if name in _OPENERS or name in _BRANCHES:
            stack.append(index)
    return found


def elements(data: bytes, argument: Argument) -> list[Span]:
    """The words of an argument, as a list or a line of flags has them: split at semicolons and blanks."""
    if argument.kind is ArgumentKind.PARENTHESIS:
        return []
    return [Span(*match.span()) for match in _ELEMENT.finditer(data, *argument.inner)]


def all_elements(data: bytes, arguments: Iterable[Argument]) -> Iterator[bytes]:
    """The texts of the words of several arguments."""
    for argument in arguments:
        for span in elements(data, argument):
            yield data[span.start : span.end]


def references(data: bytes, argument: Argument) -> Iterator[Reference]:
    """References to variables in an argument, innermost ones where they are nested. Bracket arguments hold none."""
    if argument.kind in (ArgumentKind.BRACKET, ArgumentKind.PARENTHESIS):
        return
    for match in _REFERENCE.finditer(data, *argument.inner):
        escapes = len(data[argument.inner.start : match.start()]) - len(
            data[argument.inner.start : match.start()].rstrip(b"\\")
        )
        if escapes % 2 == 0:
            group = "name" if match.group("at") is None else "at"
            place = b"@" if group == "at" else match.group("place") or b""
            yield Reference(Span(*match.span(group)), place)


def whole_reference(text: bytes) -> bytes | None:
    """The variable that a word consists of (`${SOURCES}`), None for any other word."""
    match = _REFERENCE.fullmatch(text)
    return match.group("name") if match and not match.group("place") else None


def value(data: bytes, argument: Argument) -> bytes:
    """What stands between the quotes or brackets of an argument, or all of an unquoted one."""
    return data[argument.inner.start : argument.inner.end]


def keyword_index(data: bytes, command: Command, keyword: bytes) -> int:
    """The place of an unquoted argument among those of a command, -1 where it is not there."""
    for index, argument in enumerate(command.arguments):
        if argument.kind is ArgumentKind.UNQUOTED and data[argument.start : argument.end] == keyword:
            return index
    return -1
