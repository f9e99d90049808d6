"""String literals of Python: what they say, and where in the file each byte of it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from musify.model import Span
from musify.source.embedding import EmbeddedText, Stretch

if TYPE_CHECKING:
    from tree_sitter import Node

_SIMPLE_ESCAPES = {
    b"\\": b"\\", b"'": b"'", b'"': b'"', b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r",
    b"t": b"\t", b"v": b"\v", b"\n": b"", b"\r": b"",
}  # fmt: skip
_LONGEST_CODE_POINT = 0x10FFFF


class StringLiteral:
    """A literal, or several that Python joins: `"a" 'b'`.

    `node` is the string or concatenated_string node, `pieces` its string nodes.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.pieces = tuple(_strings(node)) if node.type == "concatenated_string" else (node,)

    @property
    def span(self) -> Span:
        """From the prefix of the first piece to the closing quote of the last."""
        return Span(self.node.start_byte, self.node.end_byte)

    @property
    def text(self) -> bytes:
        """What the literal says, escapes resolved. An interpolation stands as it is written, braces included."""
        return self.embedded.text

    @cached_property
    def holes(self) -> tuple[Span, ...]:
        """Where in `text` the interpolations of f-strings stand."""
        places = [
            (child.start_byte, child.end_byte)
            for piece in self.pieces
            for child in piece.children
            if child.type == "interpolation"
        ]
        return tuple(
            Span(stretch.start, stretch.start + len(stretch.text))
            for stretch in self.stretches
            if stretch.span in places
        )

    @property
    def interpolations(self) -> Iterator[Node]:
        """The expressions inside f-strings, in order; those of format specifications left out."""
        for piece in self.pieces:
            for child in piece.children:
                if child.type == "interpolation":
                    expression = child.child_by_field_name("expression")
                    if expression is not None:
                        yield expression

    @cached_property
    def contents(self) -> tuple[Span, ...]:
        """The bytes of the file between the quotes, one span a piece."""
        return tuple(content_span(piece) for piece in self.pieces)

    @cached_property
    def embedded(self) -> EmbeddedText:
        """The text with its places."""
        return EmbeddedText([run for piece in self.pieces for run in _runs(piece)], self.contents)

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """The text in runs, in order."""
        return self.embedded.stretches

    def locate(self, start: int, end: int) -> Span | None:
        """The bytes of the file that say `text[start:end]`.

        None where they do not stand together (two pieces), or where an end falls inside an escape.
        """
        return self.embedded.locate(start, end)


def prefix_of(piece: Node) -> bytes:
    """The letters before the quotes of one piece, in lower case: `b"rb"`, `b"f"`, or nothing."""
    head = piece.children[0].text if piece.children else b""
    return (head or b"").rstrip(b"'\"").lower()


def content_span(piece: Node) -> Span:
    """The bytes between the quotes of one piece."""
    head, tail = piece.children[0], piece.children[-1]
    end = tail.start_byte if tail.type == "string_end" else piece.end_byte
    return Span(head.end_byte, max(head.end_byte, end))


def _strings(node: Node) -> Iterator[Node]:
    return (child for child in node.children if child.type == "string")


def _runs(piece: Node) -> Iterator[tuple[Span, bytes, bool]]:
    text = piece.text or b""
    base = piece.start_byte
    raw = b"r" in prefix_of(piece)
    content = content_span(piece)
    position = content.start
    for node in _special(piece, raw):
        if node.start_byte > position:
            yield Span(position, node.start_byte), text[position - base : node.start_byte - base], True
        said = text[node.start_byte - base : node.end_byte - base]
        span = Span(node.start_byte, node.end_byte)
        if node.type == "interpolation":
            yield span, said, True
        else:
            yield span, said[:1] if node.type == "escape_interpolation" else _unescaped(said), False
        position = node.end_byte
    if position < content.end:
        yield Span(position, content.end), text[position - base : content.end - base], True


def _special(piece: Node, raw: bool) -> Iterator[Node]:
    for child in piece.children:
        if child.type == "interpolation":
            yield child
        elif child.type == "string_content":
            for inner in child.children:
                if inner.type == "escape_interpolation" or (inner.type == "escape_sequence" and not raw):
                    yield inner


def _unescaped(escape: bytes) -> bytes:
    body = escape[1:]
    simple = _SIMPLE_ESCAPES.get(body[:1])
    if simple is not None:
        return simple
    octal = re.fullmatch(rb"[0-7]{1,3}", body)
    if octal:
        return chr(int(body, 8)).encode()
    if body[:1] in (b"x", b"u", b"U") and body[1:]:
        code = int(body[1:], 16)
        return chr(code).encode("utf-8", "surrogatepass") if code <= _LONGEST_CODE_POINT else escape
    return escape
