"""Compute capabilities that a file compares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import above, name_of, operators_of, parts_of, span_of, text_of
from musify.languages.python.packaging.facts import capability_functions
from musify.languages.python.references import Call
from musify.model import Finding

if TYPE_CHECKING:
    from tree_sitter import Node

_DIGIT = re.compile(rb"\d")
_NUMBERS = frozenset({"integer", "float", "tuple", "list", "set", "string"})


def find_capabilities(module: PythonModule) -> Iterator[Finding]:
    """A finding for each comparison with numbers that a capability stands in, through variables.

    The call itself is reported where PyTorch's names are carried over (MUS603).
    """
    found: dict[int, Node] = {}
    for call in module.calls:
        if call.calls(*capability_functions()):
            for comparison in _comparisons(module, call):
                found[comparison.start_byte] = comparison
    for _, comparison in sorted(found.items()):
        yield Finding("MUS544", span_of(comparison), text_of(comparison).decode("utf-8", "replace"))


def _comparisons(module: PythonModule, call: Call) -> Iterator[Node]:
    direct = above(call.node, "comparison_operator", "assignment", "expression_statement", "return_statement")
    if direct is None:
        return
    left = direct.child_by_field_name("left") if direct.type == "assignment" else None
    names = [] if left is None else [left] if left.type == "identifier" else parts_of(left)
    for name in names:
        scope = module.scopes.owner(name)
        for use in module.scopes.uses(scope, name_of(name)) if scope is not None else ():
            comparison = above(use, "comparison_operator", "call", "block")
            if comparison is not None and comparison.type == "comparison_operator" and _with_number(comparison):
                yield comparison


def _with_number(comparison: Node) -> bool:
    parts = parts_of(comparison)
    numbers = any(part.type in _NUMBERS and _DIGIT.search(text_of(part)) for part in parts)
    return numbers and "is" not in list(operators_of(comparison))
