"""Calls of make's functions and references to variables, in any text of a makefile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from musify.languages.shell.quoting import CLOSING, call_end
from musify.languages.shell.script import Script, read_script
from musify.model import Span

_MASK = ord("_")
_FUNCTION = re.compile(rb"\$+([({])([a-z-]+)(?:[ \t]|\\\r?\n)+")
# `$(NAME)`, `${NAME}`, `$$(NAME)` in text that is read twice, and `$(NAME:.cu=.o)`.
_REFERENCE = re.compile(rb"\$+[({]([^\s:$(){}#=,]+)(?=[:)}])|\$+([A-Za-z])(?![\w])")
FUNCTIONS = frozenset(
    b"abspath addprefix addsuffix and basename call dir error eval file filter filter-out findstring firstword foreach "
    b"guile if info intcmp join lastword let notdir or origin patsubst realpath shell sort strip subst suffix value "
    b"warning wildcard word wordlist words".split()
)
# How many arguments a function takes, where it is not any number.
_MOST = {
    **dict.fromkeys(b"abspath basename dir error eval file firstword info lastword notdir origin realpath".split(), 1),
    **dict.fromkeys(b"shell sort strip suffix value warning wildcard words".split(), 1),
    **dict.fromkeys(b"addprefix addsuffix filter filter-out findstring join word".split(), 2),
    **dict.fromkeys(b"foreach if let patsubst subst wordlist".split(), 3),
}
_ANY = 1000


class Call(NamedTuple):
    """A call of a function of make; `span` is all of it, `arguments` are the places between its commas."""

    name: bytes
    span: Span
    arguments: tuple[Span, ...]


def calls_in(data: bytes, span: Span) -> Iterator[Call]:
    """The calls of functions in a text, outer ones only."""
    position = span.start
    while True:
        match = _FUNCTION.search(data, position, span.end)
        if match is None:
            return
        if match.group(2) not in FUNCTIONS:
            position = match.end()
            continue
        end = call_end(data, match.start(1), span.end)
        arguments = _arguments(data, match.end(), end - 1, _MOST.get(match.group(2), _ANY))
        yield Call(match.group(2), Span(match.start(), end), tuple(arguments))
        position = max(end, match.end())


def _arguments(data: bytes, start: int, end: int, most: int) -> Iterator[Span]:
    """The places between commas; the last argument that a function takes may hold commas."""
    index = first = start
    while index < end and most > 1:
        character = data[index : index + 1]
        if character == b"$" and data[index + 1 : index + 2] in CLOSING:
            index = call_end(data, index + 1, end)
            continue
        if character == b",":
            yield Span(first, index)
            first = index + 1
            most -= 1
        index += 1
    yield Span(first, end)


def references_in(text: bytes) -> Iterator[bytes]:
    """Names of the variables that a text refers to, at any depth."""
    for match in _REFERENCE.finditer(text):
        yield match.group(1) or match.group(2)


@lru_cache(maxsize=256)  # asked for when variables are followed, and when the command is converted
def script_of(data: bytes, command: Span) -> Script:
    """The command that make hands to the shell. Read-only, for it is kept."""
    return read_script(data, command, masked(data, command))


def masked(data: bytes, span: Span) -> bytes:
    """A command as the shell may read it: what make puts in is written as a word of the same length."""
    text = bytearray(data[span.start : span.end])
    index = 0
    while True:
        index = text.find(b"$", index)
        if index < 0 or index + 1 == len(text):
            return bytes(text)
        following = bytes(text[index + 1 : index + 2])
        end = call_end(bytes(text), index + 1, len(text)) if following in CLOSING else index + 2
        if following == b"$":  # the shell's own: `$$x` reaches it as `$x`
            text[index] = _MASK
            index += 2
            continue
        text[index:end] = bytes([_MASK]) * (end - index)
        index = end
