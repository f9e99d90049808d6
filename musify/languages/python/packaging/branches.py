"""Which branches of a program a place lies in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

# A statement that chooses, and the child of it that holds the place (both by their ids).
Branch = tuple[int, int]

_CHOICES = frozenset({"if_statement", "try_statement", "match_statement", "conditional_expression"})
_LOOPS = frozenset({"for_statement", "while_statement", "function_definition", "with_statement", "class_definition"})


def path_of(node: Node) -> tuple[Branch, ...]:
    """The branches around a node, outermost first."""
    path: list[Branch] = []
    parent = node.parent
    while parent is not None:
        if parent.type in _CHOICES or parent.type in _LOOPS:
            path.append((parent.id, node.id))
        node, parent = parent, parent.parent
    return tuple(reversed(path))


def exclusive(first: tuple[Branch, ...], second: tuple[Branch, ...]) -> bool:
    """Whether two places lie in different branches of one choice."""
    second_branches = dict(second)
    return any(second_branches.get(statement, branch) != branch for statement, branch in first)
