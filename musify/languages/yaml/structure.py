"""What a YAML file holds: its scalars, each with the keys that lead to it, and its comments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from musify.model import Span
from musify.source.syntax import parse

if TYPE_CHECKING:
    from tree_sitter import Node

GRAMMAR = "tree_sitter_yaml"
_QUOTED = {"double_quote_scalar": "double", "single_quote_scalar": "single"}
_HINTS = ((b"shell",), (b"runs-on",))
# The scanner of the grammar keeps 1024 bytes, which 253 blocks fill; a key and its list are two of one column.
_DEEPEST = 120
_OPENING = re.compile(rb"(?m)^([ ]*)((?:[-?:][ \t]+)*)(?=[^\s#])")
_MARK = re.compile(rb"[-?:]")
_BLOCK_HEADER = re.compile(rb"([|>])[^\n]*\n")


class Scalar(NamedTuple):
    """A value that is no mapping and no list.

    `path` are the keys that lead to it; items of a list add none. `span` is its text without quotes and without the
    header of a block. `style`: plain, single, double, literal or folded. `siblings` are the scalars beside it, by key.
    """

    path: tuple[bytes, ...]
    span: Span
    style: str
    siblings: Mapping[bytes, bytes]


@dataclass
class Content:
    """What one file holds, in order; `hints` are the scalars that say which shell runs scripts.

    `lists` are the scalars that stand in each list. `keys` come without quotes.
    """

    scalars: list[Scalar] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)
    hints: list[Scalar] = field(default_factory=list)
    keys: list[Span] = field(default_factory=list)
    lists: list[list[Scalar]] = field(default_factory=list)


def read(data: bytes) -> Content:
    """The scalars and comments of a file; nothing is said of what the grammar cannot read.

    Raises RecursionError for blocks that are nested so deeply that the grammar, which is C, would write out of bounds.
    """
    if _depth(data) > _DEEPEST:
        raise RecursionError("blocks are nested too deeply")
    content = Content()
    _walk(data, parse(data, GRAMMAR), (), {}, content)
    content.hints = [scalar for scalar in content.scalars if scalar.path[-1:] in _HINTS]
    return content


def _depth(data: bytes) -> int:
    """How deeply blocks may be nested, told by their columns. A list that stands below its key counts for nothing."""
    columns: list[int] = []
    deepest = 0
    for line in _OPENING.finditer(data):
        blank, marks = len(line[1]), line[2]
        while columns and columns[-1] >= blank:
            columns.pop()
        columns += [blank + match.start() for match in _MARK.finditer(marks)]
        columns.append(blank + len(marks))
        deepest = max(deepest, len(columns))
    return deepest


def _walk(data: bytes, node: Node, path: tuple[bytes, ...], siblings: Mapping[bytes, bytes], content: Content) -> None:
    if node.type == "comment":
        content.comments.append(Span(node.start_byte, node.end_byte))
    elif node.type in ("block_mapping", "flow_mapping"):
        _mapping(data, node, path, content)
    elif node.type in ("plain_scalar", "block_scalar", *_QUOTED):
        scalar = _scalar(data, node, path, siblings)
        if scalar is not None:
            content.scalars.append(scalar)
    else:
        first = len(content.scalars)
        for child in node.children:
            _walk(data, child, path, siblings, content)
        if node.type in ("block_sequence", "flow_sequence"):
            content.lists.append([scalar for scalar in content.scalars[first:] if scalar.path == path])


def _mapping(data: bytes, node: Node, path: tuple[bytes, ...], content: Content) -> None:
    pairs = [child for child in node.children if child.type in ("block_mapping_pair", "flow_pair")]
    beside = {}
    for pair in pairs:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is not None and value is not None and value.type == "flow_node":
            beside[_text(data, key)] = _text(data, value)
    for child in node.children:
        key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
        inner = path if key is None else (*path, _text(data, key))
        if key is not None:
            content.keys.append(_key(data, key))
        for part in child.children if child in pairs else [child]:
            if part != key:
                _walk(data, part, inner if part == value else path, beside, content)


def _key(data: bytes, node: Node) -> Span:
    quoted = data[node.start_byte : node.start_byte + 1] in (b'"', b"'")
    return Span(node.start_byte + quoted, max(node.start_byte + quoted, node.end_byte - quoted))


def _text(data: bytes, node: Node) -> bytes:
    return data[node.start_byte : node.end_byte].strip().strip(b"\"'")


def _scalar(data: bytes, node: Node, path: tuple[bytes, ...], siblings: Mapping[bytes, bytes]) -> Scalar | None:
    start, end = node.start_byte, node.end_byte
    if node.type == "block_scalar":
        header = _BLOCK_HEADER.match(data, start, end)
        if header is None:
            return None
        return Scalar(path, Span(header.end(), end), "literal" if header.group(1) == b"|" else "folded", siblings)
    if node.type in _QUOTED:
        return Scalar(path, Span(start + 1, end - 1), _QUOTED[node.type], siblings)
    return Scalar(path, Span(start, end), "plain", siblings)
