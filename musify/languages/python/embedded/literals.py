"""The literals of a file that hold source: those that reach a call which compiles them, and those that look like it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from musify.languages.cuda.strings import SOURCE
from musify.languages.python.embedded.facts import source_functions, source_methods
from musify.languages.python.embedded.packages import imported_packages
from musify.languages.python.module import PythonModule, unwrapped
from musify.languages.python.nodes import name_of, parts_of
from musify.languages.python.scopes import BindingKind
from musify.languages.python.strings import StringLiteral
from musify.languages.python.tokens import is_docstring

if TYPE_CHECKING:
    from tree_sitter import Node

# What hands on the text of its object or its arguments.
_THROUGH_OBJECT = frozenset(
    "format format_map replace encode strip lstrip rstrip substitute safe_substitute render join".split()
)
_THROUGH_ARGUMENTS = frozenset("dedent indent Template join str bytes encode b render from_string Environment".split())
_HINTS = (b"__global__", b"__device__", b"include")
_INCLUDE = re.compile(rb"(?m)^[ \t]*#[ \t]*include[ \t]*[<\"]")
_PYTHON = re.compile(rb"(?m)^[ \t]*(?:import [A-Za-z_]\w*|from [A-Za-z_.][\w.]* import )")
_CONTAINERS = ("list", "tuple", "expression_list", "conditional_expression", "boolean_operator", "set")
_DEEPEST = 8


@lru_cache(maxsize=2)
def source_literals(module: PythonModule) -> tuple[StringLiteral, ...]:
    """The literals that hold source, in order; docstrings are none."""
    handed = {literal.node.id for literal in _handed_over(module)}
    if not handed and not any(hint in module.data for hint in _HINTS):
        return ()
    return tuple(
        literal
        for literal in module.strings
        if not _is_docstring(literal.node) and (literal.node.id in handed or _looks_like_source(module, literal))
    )


def literals_behind(module: PythonModule, node: Node | None) -> Iterator[StringLiteral]:
    """The literals whose text an expression may give, through names, joining and formatting."""
    yield from _behind(module, node, set(), 0)


def _looks_like_source(module: PythonModule, literal: StringLiteral) -> bool:
    """Whether a literal is C++ by its form; a program in Python that holds some is not."""
    written = module.data[literal.span.start : literal.span.end]
    if not any(hint in written for hint in _HINTS):  # quicker than what the literal says
        return False
    text = literal.text
    if _PYTHON.search(text):
        return False
    has_code = b"(" in text or b"{" in text
    return (has_code and SOURCE.search(text) is not None) or _INCLUDE.search(text) is not None


def _is_docstring(node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type == "expression_statement" and is_docstring(parent)


def _handed_over(module: PythonModule) -> Iterator[StringLiteral]:
    """The literals that reach an argument which is compiled."""
    if not _mentions_compilers(module.data):
        return
    imported = imported_packages(module)
    for call in module.calls:
        meanings = call.reference.meanings if call.reference is not None else ()
        arguments = next((found for m in meanings if (found := source_functions().get(m.dotted))), ())
        values = [call.argument(item.keyword, item.position) for item in arguments]
        values += [
            call.argument("source", method.position)
            for method in source_methods()
            if call.method_name == method.name and method.module in imported
        ]
        for value in values:
            if value is not None:
                yield from literals_behind(module, value.value)


def _mentions_compilers(data: bytes) -> bool:
    """Whether a file holds the names of a function that takes source, and of its package: quicker than its calls."""
    functions = any(package in data and name in data for package, name in _compilers())
    return functions or any(method.module.encode() in data for method in source_methods())


@cache
def _compilers() -> frozenset[tuple[bytes, bytes]]:
    """The packages and the last names of the functions that take source."""
    names = [name.encode().split(b".") for name in source_functions()]
    return frozenset((parts[0], parts[-1]) for parts in names)


def _behind(module: PythonModule, node: Node | None, seen: set[int], depth: int) -> Iterator[StringLiteral]:
    node = unwrapped(node)
    if node is None or depth > _DEEPEST or node.id in seen:
        return
    seen.add(node.id)
    literal = module.string(node)
    if literal is not None:
        yield literal
        return
    for inner in _sources(module, node):
        yield from _behind(module, inner, seen, depth + 1)


def _sources(module: PythonModule, node: Node) -> Iterable[Node | None]:
    """The expressions that an expression gets its text from."""
    if node.type == "identifier":
        kinds = (BindingKind.ASSIGNMENT, BindingKind.AUGMENTED, BindingKind.PARAMETER)
        return [binding.value for binding in module.scopes.lookup(node) if binding.kind in kinds]
    if node.type == "binary_operator":
        sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
        return sides if any(child.type == "+" for child in node.children) else sides[:1]
    if node.type in _CONTAINERS:
        return parts_of(node)
    return _through_call(node) if node.type == "call" else ()


def _through_call(call: Node) -> list[Node | None]:
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    found: list[Node | None] = []
    if function is None:
        return found
    method = function.child_by_field_name("attribute") if function.type == "attribute" else function
    if function.type == "attribute" and name_of(method) in _THROUGH_OBJECT:
        found.append(function.child_by_field_name("object"))
    if name_of(method) in _THROUGH_ARGUMENTS and arguments is not None:
        found += [part for part in parts_of(arguments) if part.type != "keyword_argument"]
    return found
