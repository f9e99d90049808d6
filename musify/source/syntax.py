"""tree-sitter, where a rule needs structure. Loaded on first use only: most files never need it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from musify.model import MusifyError

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_cuda

    try:
        return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))
    except ValueError as error:
        raise MusifyError(
            f"tree-sitter and tree-sitter-cuda do not fit together ({error}); install the versions that musify asks for"
        ) from error


def parse(data: bytes) -> Node:
    """The root node of `data`, read as CUDA C++. The tree may hold ERROR nodes; identifiers stay exact leaves."""
    return _parser().parse(data).root_node


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
