"""JSON of configurations: devices and backends by their keys, options in lists; the layout stays, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages import plain
from musify.languages.build.edits import without_inner
from musify.languages.build.flags import FlagWord
from musify.languages.build.leftovers import cuda_words_in
from musify.languages.build.settings import is_sentence, key_findings, option_results, text_findings, value_results
from musify.languages.build.unit import BuildUnit, Token, TokenKind
from musify.model import Edit, Finding, Span
from musify.source.json import JsonError, JsonFile, JsonValue, read_json

# More devices than this are no settings. What a card is called.
_MOST_SETTINGS = 32
_CARD = re.compile(rb"(?i)\bnvidia\b|\bgeforce\b|\btesla\b")


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
        yield Finding("MUS563", error.place(unit.data), unit.surroundings.path, {"reason": str(error)})
        return
    results = list(without_inner(_results(file)))
    many = sum(isinstance(item, Edit) for item in results) > _MOST_SETTINGS
    yield from _as_data(unit.data, results) if many else results


def _as_data(data: bytes, results: list[Edit | Finding]) -> Iterator[Finding]:
    """A file with so many devices is a table of something that was measured."""
    for item in results:
        if isinstance(item, Edit):
            yield _recorded(data, item.span)
        elif item.rule_id != "MUS560":
            yield item


def _recorded(data: bytes, span: Span) -> Finding:
    return Finding("MUS565", span, data[slice(*span)].decode("utf-8", "replace"))


def _is_record(file: JsonFile, value: JsonValue) -> bool:
    """Whether an object tells of a card that something ran on, and so asks for none."""
    return any(item.kind == "string" and _CARD.search(file.text(item)) for _, item in value.members)


def _results(file: JsonFile) -> Iterator[Edit | Finding]:
    pending = [(b"", file.root)] if file.root is not None else []
    while pending:
        key, value = pending.pop()
        if value.kind == "string":
            yield from _string(file, key, value)
        elif value.kind == "array":
            yield from _list(file, value)
            pending += ((key, item) for item in value.items)
        record = _is_record(file, value)
        for name, member in value.members:
            yield from key_findings(file.data, _content(name))
            if record and member.kind == "string":
                words = cuda_words_in(file.data, _content(member))
                yield from (_recorded(file.data, word) for word in words)
                continue
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
