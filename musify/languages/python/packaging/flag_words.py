"""Words of flag lists in Python: which expression says which word, and runs of words that stand together."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from musify.languages.build.variables import named_like_compiler, runs_nvcc
from musify.languages.python.module import PythonModule, unwrapped
from musify.languages.python.nodes import text_of
from musify.languages.python.strings import StringLiteral, prefix_of

if TYPE_CHECKING:
    from tree_sitter import Node

# Stands for what is not known of a word: an expression.
UNKNOWN = b"{}"
# Functions whose result is their last argument, more or less.
_LAST_PART = re.compile(rb"(?:join|str|Path|which|getenv|get|find_executable|_join_cuda_home|abspath|quote)\Z")
_LISTS = ("list", "tuple", "set")


class Role(Enum):
    """Whom a list of words is for."""

    DEVICE = "device"
    HOST = "host"
    LIBRARIES = "libraries"


class Slot(NamedTuple):
    """An expression that is one word. `literal` is what says it, where the word can be written anew."""

    node: Node
    text: bytes
    literal: StringLiteral | None


@dataclass(frozen=True)
class Run:
    """Words that follow each other: the elements of a list (`container`), or what statements append one by one.

    `group` is the same for all runs that end up in one list.
    """

    slots: Sequence[Slot]
    role: Role
    group: Hashable
    container: Node | None = None
    statements: Sequence[Node] = ()

    @property
    def place(self) -> Node:
        """The first node of the run."""
        return self.statements[0] if self.statements else self.slots[0].node


class FlagText(NamedTuple):
    """A literal that holds several words, which the program splits: `"-O3 -g".split()`."""

    literal: StringLiteral
    role: Role


def slot_of(module: PythonModule, node: Node) -> Slot:
    """The word that an expression is."""
    inner = unwrapped(node)
    literal = module.string(inner)
    if literal is not None:
        return Slot(node, literal.text, literal if is_writable(literal) else None)
    if inner is not None and inner.type == "call" and (said := _formatted(module, inner)) is not None:
        numbered = said.text.count(UNKNOWN) < 2  # of several `{}` each stands for the next argument
        return Slot(node, said.text, said if is_writable(said) and numbered else None)
    return Slot(node, _head(module, inner) + UNKNOWN, None)


def elements(container: Node) -> list[Node]:
    """The elements of a list, tuple or set."""
    return [child for child in container.named_children if child.type != "comment"]


def is_list(node: Node | None) -> bool:
    """Whether an expression is a list, tuple or set as it is written."""
    return node is not None and node.type in _LISTS


def says_nvcc(module: PythonModule, node: Node | None) -> bool:
    """Whether an expression is nvcc as a program: `"nvcc"`, `home + "/bin/nvcc"`, `join(home, "nvcc")`, `nvcc`."""
    node = unwrapped(node)
    if node is not None and node.type == "identifier" and named_like_compiler(text_of(node)):
        return True
    node = unwrapped(module.value(node))
    literal = module.string(node)
    if literal is not None or node is None:
        return literal is not None and runs_nvcc(literal.text)
    if node.type == "binary_operator":
        return says_nvcc(module, node.child_by_field_name("right"))
    arguments = node.child_by_field_name("arguments") if node.type == "call" else None
    if arguments is None or not arguments.named_children or not _LAST_PART.search(_function(node)):
        return False
    return says_nvcc(module, arguments.named_children[-1])


def _function(call: Node) -> bytes:
    function = call.child_by_field_name("function")
    return text_of(function)


def _formatted(module: PythonModule, call: Node) -> StringLiteral | None:
    """The literal of `"...".format(...)`."""
    function = call.child_by_field_name("function")
    attribute = function.child_by_field_name("attribute") if function is not None else None
    if function is None or attribute is None or attribute.text != b"format":
        return None
    return module.string(function.child_by_field_name("object"))


def _head(module: PythonModule, node: Node | None) -> bytes:
    """How a word begins that is put together: `"-arch=" + x`, `"-arch=%s" % x`."""
    while node is not None and node.type == "binary_operator":
        node = unwrapped(node.child_by_field_name("left"))
    literal = module.string(node)
    return literal.text.partition(b"%")[0] if literal is not None else b""


def is_writable(literal: StringLiteral) -> bool:
    """Whether the text of a literal can be written anew as it is: no escapes, no pieces of different kinds."""
    prefixes = {prefix_of(piece) for piece in literal.pieces}
    return len(prefixes) == 1 and all(stretch.verbatim for stretch in literal.stretches)
