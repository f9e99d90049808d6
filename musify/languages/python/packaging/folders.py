"""Folders of the toolkit that Python puts together: `join(CUDA_HOME, "lib64")`, `CUDA_HOME + "/lib64"`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.build.words import BUILD_WORD
from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import text_of
from musify.languages.python.strings import StringLiteral
from musify.model import Applicability, Edit

if TYPE_CHECKING:
    from tree_sitter import Node

# MUSA's toolkit has one folder of libraries, lib.
_LIBRARIES = re.compile(rb"/?lib(64)(?:/.*)?")
_TOOLKIT = re.compile(
    rb"(?i)(?:[\w.]*[._])?(?:cuda|musa)_?(?:toolkit_?)?(?:home|path|root|dir|prefix|install)(?:_?(?:dir|path))?"
)
_VARIABLE = re.compile(rb"(?:CUDA|MUSA)_(?:HOME|PATH|ROOT)")


def find_folders(module: PythonModule) -> Iterator[Edit]:
    """Edits for the folder of libraries beside an expression that is the toolkit's folder."""
    for literal in module.strings:
        for start, end in _places(literal):
            before = _before(literal.node) if start < 6 else None
            holes = [hole for hole in literal.holes if hole.end <= start]
            inside = literal.text[holes[-1].start + 1 : holes[-1].end - 1] if holes else None
            if (before is not None and _is_toolkit(module, before)) or (inside and _TOOLKIT.fullmatch(inside)):
                span = literal.locate(start, end)
                if span is not None:
                    yield Edit(span, b"", BUILD_WORD, Applicability.REVIEW, "lib64", "", "documented")


def _places(literal: StringLiteral) -> Iterator[tuple[int, int]]:
    """Where `64` stands in the text."""
    match = _LIBRARIES.fullmatch(literal.text)
    if match:
        yield match.span(1)
    for hole in literal.holes:
        match = _LIBRARIES.match(literal.text, hole.end)
        if match:
            yield match.span(1)


def _before(node: Node) -> Node | None:
    """What a path begins with that the literal goes on."""
    parent = node.parent
    if parent is None:
        return None
    if parent.type == "binary_operator" and parent.child_by_field_name("right") == node:
        return parent.child_by_field_name("left")
    if parent.type == "argument_list" and parent.parent is not None:
        function = text_of(parent.parent.child_by_field_name("function"))
        if function.rpartition(b".")[2] in (b"join", b"joinpath", b"Path", b"pjoin"):
            return parent.named_children[0] if parent.named_children[0] != node else None
    return None


def _is_toolkit(module: PythonModule, node: Node) -> bool:
    if _TOOLKIT.fullmatch(text_of(node)):
        return True
    values: list[Node | None] = [node]
    if node.type == "identifier":
        values = [binding.value for binding in module.scopes.lookup(node)]
    return any(_comes_from_toolkit(value) for value in values if value is not None)


def _comes_from_toolkit(value: Node) -> bool:
    """`os.environ["CUDA_HOME"]`, `Path(CUDA_HOME)`."""
    if value.type not in ("call", "subscript"):
        return False
    return _VARIABLE.search(text_of(value)) is not None or any(map(_is_named, value.named_children))


def _is_named(node: Node) -> bool:
    """`Path(CUDA_HOME)`."""
    return node.type == "argument_list" and any(_TOOLKIT.fullmatch(text_of(child)) for child in node.named_children)
