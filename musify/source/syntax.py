"""tree-sitter, where a rule needs structure. Loaded on first use only: most files never need it."""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import TYPE_CHECKING

from musify.model import MusifyError

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@lru_cache(maxsize=8)
def _parser(grammar: str) -> Parser:
    import tree_sitter

    try:
        return tree_sitter.Parser(tree_sitter.Language(importlib.import_module(grammar).language()))
    except ValueError as error:
        package = grammar.replace("_", "-")
        raise MusifyError(
            f"tree-sitter and {package} do not fit together ({error}); install the versions that musify asks for"
        ) from error


def parse(data: bytes, grammar: str = "tree_sitter_cuda") -> Node:
    """The root node of `data`, read as CUDA C++ or with another grammar (the name of its Python module).

    The tree may hold ERROR nodes; identifiers stay exact leaves. Raises MusifyError where the grammar that is
    installed does not fit.
    """
    return _parser(grammar).parse(data).root_node


def preorder(root: Node) -> list[Node]:
    """All nodes below `root` and itself, each before what it holds."""
    cursor = root.walk()
    found = []
    while True:
        node = cursor.node
        assert node is not None
        found.append(node)
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found


def leaf_at(root: Node, start: int, end: int) -> Node | None:
    """The smallest node that covers the bytes from `start` to `end`."""
    return root.descendant_for_byte_range(start, end)


def inside_error(node: Node) -> bool:
    """Whether structure around `node` is unreliable: its parent, or the one above, is an ERROR."""
    parent = node.parent
    for _ in range(2):
        if parent is None:
            return False
        if parent.is_error:
            return True
        parent = parent.parent
    return False
