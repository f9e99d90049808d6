"""JSON of configurations: devices and backends by their keys, options in lists; the layout stays, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator

from musify.languages import plain
from musify.languages.build.edits import without_inner
from musify.languages.build.flags import FlagWord
from musify.languages.build.settings import is_sentence, key_findings, option_results, text_findings, value_results
from musify.languages.build.unit import BuildUnit, Token, TokenKind
from musify.model import Edit, Finding, Span
from musify.source.json import JsonError, JsonFile, JsonValue, read_json


def tokens(data: bytes) -> list[Token]:
    """Comments, strings and other values; words where the file is no JSON."""
    try:
        file = read_json(data)
    except JsonError:
        return plain.tokens(data)
    found = [Token(TokenKind.COMMENT, *span) for span in file.comments]
    for value in _values(file):
        if value.kind in ("string", "other"):
            found.append(Token(TokenKind.STRING if value.kind == "string" else TokenKind.OTHER, *value.span))
    return sorted(found, key=lambda token: token.start)


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Edits and findings by the keys that values stand under."""
    try:
        file = read_json(unit.data)
    except JsonError as error:
        place = Span(min(error.offset, len(unit.data)), min(error.offset + 1, len(unit.data)))
        yield Finding("MUS563", place, unit.surroundings.path, {"reason": str(error)})
        return
    yield from without_inner(_results(file))


def _results(file: JsonFile) -> Iterator[Edit | Finding]:
    pending = [(b"", file.root)] if file.root is not None else []
    while pending:
        key, value = pending.pop()
        if value.kind == "string":
            yield from _string(file, key, value)
        elif value.kind == "array":
            yield from _list(file, value)
            pending += ((key, item) for item in value.items)
        for name, member in value.members:
            yield from key_findings(file.data, _content(name))
            # Under an empty key, as in a map of devices, the key around it counts.
            pending.append((file.text(name) or key, member))


def _string(file: JsonFile, key: bytes, value: JsonValue) -> Iterator[Edit | Finding]:
    content = _content(value)
    text = file.data[slice(*content)]
    if text == file.text(value):
        yield from value_results(key, text, content.start)
    if is_sentence(text):
        yield from text_findings(file.data, content)


def _list(file: JsonFile, value: JsonValue) -> Iterator[Edit | Finding]:
    """A list of words may be those of a command: `["--device", "cuda"]`."""
    strings = [item for item in value.items if item.kind == "string"]
    words = [FlagWord(_content(item), file.text(item)) for item in strings]
    yield from option_results(file.data, words)


def _content(string: JsonValue) -> Span:
    return Span(string.span.start + 1, string.span.end - 1)


def _values(file: JsonFile) -> Iterator[JsonValue]:
    pending = [file.root] if file.root is not None else []
    while pending:
        value = pending.pop()
        yield value
        pending += value.items
        for name, member in value.members:
            pending += (name, member)
