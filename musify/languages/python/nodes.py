"""Small questions to nodes of the syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.model import Span

if TYPE_CHECKING:
    from tree_sitter import Node


def text_of(node: Node | None) -> bytes:
    """The bytes of a node; none for no node."""
    return (node.text or b"") if node is not None else b""


def name_of(node: Node | None) -> str:
    """The text of an identifier."""
    return text_of(node).decode("utf-8", "replace")


def span_of(node: Node) -> Span:
    """Where a node stands."""
    return Span(node.start_byte, node.end_byte)


def above(node: Node, *types: str) -> Node | None:
    """The nearest node of these types that holds the node."""
    parent = node.parent
    while parent is not None and parent.type not in types:
        parent = parent.parent
    return parent


def within(node: Node, around: Node) -> bool:
    """Whether a node lies in another one, or is it."""
    return around.start_byte <= node.start_byte and node.end_byte <= around.end_byte


def parts_of(node: Node) -> list[Node]:
    """What a node is made of, punctuation and comments left out."""
    return [child for child in node.named_children if child.type != "comment"]


def operators_of(comparison: Node) -> Iterator[str]:
    """The operators of a comparison, in order."""
    return (child.type for child in comparison.children if not child.is_named)
