"""compile_commands.json: the compiler, its flags and the files of each command; the layout of the JSON stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from musify.languages.build.commands import Commands
from musify.languages.build.edits import without_inner
from musify.languages.build.files import RENAMED_FILE
from musify.languages.build.flags import FlagForm, FlagWord
from musify.languages.build.unit import BuildUnit, Token, TokenKind
from musify.languages.registry import RENAMED_SUFFIXES
from musify.languages.shell.quoting import words_of
from musify.model import Applicability, Edit, Finding, Span

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s"{}\[\]:,]+')
_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)", re.S)
_PRODUCT = re.compile(rb"([\w.+-]+)(\.cuh?)(?=\.(?:o|obj|d)\b)")


def tokens(data: bytes) -> list[Token]:
    """Texts and whatever else the JSON is made of. It has no comments."""
    return [
        Token(TokenKind.STRING if match.group().startswith(b'"') else TokenKind.OTHER, *match.span())
        for match in _TOKEN.finditer(data)
    ]


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """What the commands ask for, and the names of objects made of renamed sources."""
    commands = Commands(unit)
    found: list[Edit | Finding] = []
    for key, values in _entries(unit):
        if key == b"arguments" and values:
            found += _arguments(commands, values)
        elif key == b"command" and values:
            found += commands.results(_words(unit.data, values[0]))
    yield from without_inner([*found, *_products(unit)])


def _entries(unit: BuildUnit) -> Iterator[tuple[bytes, list[Span]]]:
    """The keys of all objects, each with the texts that it holds: one, or those of a list."""
    items = unit.tokens
    for index, token in enumerate(items[:-2]):
        if token.kind is not TokenKind.STRING or unit.text(items[index + 1]) != b":":
            continue
        values = []
        position = index + 2
        if unit.text(items[position]) == b"[":
            while position < len(items) and unit.text(items[position]) != b"]":
                if items[position].kind is TokenKind.STRING:
                    values.append(Span(items[position].start, items[position].end))
                position += 1
        elif items[position].kind is TokenKind.STRING:
            values.append(Span(items[position].start, items[position].end))
        yield unit.text(token)[1:-1], values


def _arguments(commands: Commands, values: Sequence[Span]) -> Iterator[Edit | Finding]:
    data = commands.unit.data
    separator = data[values[0].end : values[1].start] if len(values) > 1 else b", "
    words = [FlagWord(value, _text(data[slice(*value)])) for value in values]
    yield from commands.results(words, FlagForm(separator, quoted=True))


def _text(literal: bytes) -> bytes:
    try:
        return str(json.loads(literal)).encode("utf-8", "surrogatepass")
    except ValueError:
        return literal[1:-1]


def _words(data: bytes, literal: Span) -> list[FlagWord]:
    """The words of a command line in a text, with their places in the file."""
    text, places = bytearray(), []
    position = literal.start + 1
    while position < literal.end - 1:
        escape = _ESCAPE.match(data, position, literal.end - 1)
        end = escape.end() if escape else position + 1
        meant = _text(b'"' + data[position:end] + b'"') if escape else data[position:end]
        text += meant
        places += [position] * len(meant)
        position = end
    places.append(literal.end - 1)
    command = bytes(text)
    return [
        FlagWord(Span(places[word.span.start], places[word.span.end]), word.text)
        for word in words_of(command, Span(0, len(command)))
    ]


def _products(unit: BuildUnit) -> Iterator[Edit]:
    """Objects that are called after their source: `main.cu.o`."""
    for match in _PRODUCT.finditer(unit.data):
        if match.group(1) + match.group(2) in unit.surroundings.renamed:
            new = RENAMED_SUFFIXES[match.group(2).decode()].encode()
            yield Edit(Span(*match.span(2)), new, RENAMED_FILE, Applicability.REVIEW)
