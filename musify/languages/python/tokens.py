"""The tokens of a Python file for the passes that all build files share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from musify.languages.build.unit import Token, TokenKind
from musify.source.syntax import preorder

if TYPE_CHECKING:
    from tree_sitter import Node

_STRINGS = ("string", "concatenated_string")
_NO_KINDS: Mapping[int, TokenKind] = MappingProxyType({})


def tokens_of(nodes: Sequence[Node], kinds: Mapping[int, TokenKind] = _NO_KINDS) -> Iterator[Token]:
    """Comments, strings and names of a file whose nodes come in preorder. `kinds`: what strings count as, by their ids.

    A string that is a statement of its own (a docstring) counts as a comment. An f-string comes in parts: text as
    strings, the expressions in its braces as names and strings of their own.
    """
    done = 0
    for node in nodes:
        if node.start_byte < done:
            continue
        if node.type == "comment":
            yield Token(TokenKind.COMMENT, node.start_byte, node.end_byte)
        elif node.type == "expression_statement" and is_docstring(node):
            done = node.end_byte
            yield Token(TokenKind.COMMENT, node.start_byte, node.end_byte)
        elif node.type == "string":
            done = node.end_byte
            yield from _string(node, kinds)
        elif node.type == "identifier":
            yield Token(TokenKind.NAME, node.start_byte, node.end_byte)


def is_docstring(statement: Node) -> bool:
    """Whether a statement is a text of its own; behind something that could not be read, it may be part of that."""
    before = statement.prev_sibling
    is_text = statement.named_child_count == 1 and statement.named_children[0].type in _STRINGS
    return is_text and (before is None or before.type != "ERROR")


def _string(node: Node, kinds: Mapping[int, TokenKind]) -> Iterator[Token]:
    """A string token, cut at the interpolations; what stands in these has tokens of its own."""
    start = node.start_byte
    kind = kinds.get(node.id, TokenKind.STRING)
    for child in node.children:
        if child.type == "interpolation":
            if child.start_byte > start:
                yield Token(kind, start, child.start_byte)
            yield from tokens_of(preorder(child), kinds)
            start = child.end_byte
    if node.end_byte > start:
        yield Token(kind, start, node.end_byte)
