"""JSON with the place of every value, for files whose layout has to stay as it is.

Read as leniently as the programs that read configurations do: comments (`//`, `/* */`, `#`) and commas before a closing
bracket are no error. The writing side only says how text stands within a string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from musify.model import Span
from musify.source.embedding import EmbeddedText

_TOKEN = re.compile(
    rb'(?P<string>"(?:[^"\\\n]|\\[^\n])*")|(?P<comment>//[^\n]*|/\*(?s:.*?)\*/|#[^\n]*)|(?P<mark>[{}\[\]:,])'
    rb'|(?P<other>[^\s"{}\[\]:,/#]+)'
)
_BLANK = re.compile(rb"[ \t\r\n\xef\xbb\xbf]*")
_ESCAPE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.S)
_CLOSING = {b"{": b"}", b"[": b"]"}


class JsonError(ValueError):
    """The text is not JSON; `offset` says where it stops to be."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset

    def place(self, data: bytes) -> Span:
        """The byte of the text at which it stops to be JSON; its end where that is missing."""
        return Span(min(self.offset, len(data)), min(self.offset + 1, len(data)))


@dataclass
class JsonValue:
    """A value: `kind` is object, array, string or other (numbers, true, null). A string's span includes its quotes."""

    kind: str
    span: Span
    members: list[tuple[JsonValue, JsonValue]] = field(default_factory=list)
    items: list[JsonValue] = field(default_factory=list)


@dataclass
class JsonFile:
    """The value of a file and its comments. `root` is None where the file is empty."""

    data: bytes
    root: JsonValue | None = None
    comments: list[Span] = field(default_factory=list)

    def text(self, value: JsonValue) -> bytes:
        """What a string says; for other values, how they are written."""
        return self.string(value).text if value.kind == "string" else self.data[slice(*value.span)]

    def string(self, value: JsonValue) -> EmbeddedText:
        """What a string says, and where each byte of it stands."""
        return string_at(self.data, value.span)

    def member(self, value: JsonValue | None, key: bytes) -> JsonValue | None:
        """The value of a key of an object; None where it has none, or where the value is no object."""
        found = None
        for name, item in value.members if value is not None else ():
            found = item if self.text(name) == key else found
        return found


@lru_cache(maxsize=2)  # asked for when the file is split, and when it is converted
def read_json(data: bytes) -> JsonFile:
    """Read a file. Read-only, for it is kept. Raises JsonError."""
    file = JsonFile(data)
    tokens = _tokens(file)
    open_values: list[tuple[JsonValue, list[JsonValue]]] = []
    keys: list[JsonValue] = []
    for kind, span in tokens:
        text = data[slice(*span)] if kind == "mark" else b""
        if text in (b"{", b"["):
            value = JsonValue("object" if text == b"{" else "array", span)
            open_values.append((value, keys))
            keys = []
        elif text in (b"}", b"]"):
            if not open_values or _CLOSING[data[slice(*open_values[-1][0].span)]] != text or keys:
                raise JsonError(f"{text.decode()} closes nothing", span.start)
            value, keys = open_values.pop()
            value.span = Span(value.span.start, span.end)
            _add(file, open_values, keys, value)
        elif text == b",":
            if not open_values or keys:
                raise JsonError("a comma stands where a value should", span.start)
        elif text == b":":
            if not keys or data[span.start - 1 : span.start] == b":":
                raise JsonError("a colon follows no key", span.start)
        else:
            value = JsonValue(kind, span)
            if kind == "string" and open_values and open_values[-1][0].kind == "object" and not keys:
                keys.append(value)
            else:
                _add(file, open_values, keys, value)
    if open_values:
        raise JsonError("the bracket is never closed", open_values[-1][0].span.start)
    return file


def _add(
    file: JsonFile, open_values: list[tuple[JsonValue, list[JsonValue]]], keys: list[JsonValue], value: JsonValue
) -> None:
    """Put a value where it belongs."""
    if not open_values:
        if file.root is not None:
            raise JsonError("a second value follows the first", value.span.start)
        file.root = value
    elif open_values[-1][0].kind == "array":
        open_values[-1][0].items.append(value)
    elif keys:
        open_values[-1][0].members.append((keys.pop(), value))
    else:
        raise JsonError("a key must be a string", value.span.start)


def string_at(data: bytes, span: Span) -> EmbeddedText:
    """What the string whose quotes stand at the ends of `span` says."""
    return EmbeddedText(list(_runs(data, Span(span.start + 1, span.end - 1))), [Span(span.start + 1, span.end - 1)])


def joined_strings(data: bytes, spans: list[Span]) -> EmbeddedText:
    """What several strings say together, one after the other."""
    contents = [Span(span.start + 1, span.end - 1) for span in spans]
    return EmbeddedText([run for content in contents for run in _runs(data, content)], contents)


def quoted(text: bytes) -> bytes:
    """How text stands within a string, quotes left out; what is not ASCII stays as it is."""
    return json.dumps(text.decode("utf-8", "surrogateescape"), ensure_ascii=False)[1:-1].encode(
        "utf-8", "surrogateescape"
    )


def _runs(data: bytes, content: Span) -> Iterator[tuple[Span, bytes, bool]]:
    position = content.start
    for match in _ESCAPE.finditer(data, *content):
        if match.start() > position:
            yield Span(position, match.start()), data[position : match.start()], True
        yield Span(*match.span()), _meant(match.group()), False
        position = match.end()
    if position < content.end:
        yield Span(position, content.end), data[position : content.end], True


def _meant(escape: bytes) -> bytes:
    try:
        return str(json.loads(b'"' + escape + b'"')).encode("utf-8", "surrogatepass")
    except ValueError:
        return escape[1:]


def _tokens(file: JsonFile) -> Iterator[tuple[str, Span]]:
    data, position = file.data, _end_of_blank(file.data, 0)
    while position < len(data):
        match = _TOKEN.match(data, position)
        if match is None or match.lastgroup is None:
            raise JsonError(
                "the string is never closed" if data[position:][:1] == b'"' else "unexpected text", position
            )
        if match.lastgroup == "comment":
            file.comments.append(Span(*match.span()))
        else:
            yield match.lastgroup, Span(*match.span())
        position = _end_of_blank(data, match.end())


def _end_of_blank(data: bytes, position: int) -> int:
    match = _BLANK.match(data, position)
    return match.end() if match else position
