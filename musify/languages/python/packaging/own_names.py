"""Variables of a file that are called like something of CUDA's: `CUDA = locate()`, `nvcc = find()`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.build.facts import cuda_words, words
from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import above, name_of, span_of, text_of
from musify.model import Finding

if TYPE_CHECKING:
    from tree_sitter import Node


def find_own_names(module: PythonModule) -> Iterator[Finding]:
    """A note for each use of a variable whose name is a CUDA word, and which the file binds itself."""
    for node in module.scopes.variables:
        name = text_of(node)
        if name not in words() and not cuda_words().fullmatch(name):
            continue
        if _is_method(node):
            continue
        bindings = module.scopes.lookup(node)
        if module.scopes.is_bound(node) or (bindings and not any(binding.target for binding in bindings)):
            yield Finding("MUS532", span_of(node), name_of(node))


def _is_method(node: Node) -> bool:
    """Whether the identifier is the name of a method, which is no variable."""
    function = node.parent
    named = function is not None and function.child_by_field_name("name") == node
    around = above(node, "class_definition", "function_definition") if function is not None else None
    outer = above(around, "class_definition", "function_definition") if around is not None else None
    return named and around == function and outer is not None and outer.type == "class_definition"
