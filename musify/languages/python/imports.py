"""Import statements of Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from musify.languages.python.nodes import name_of
from musify.model import Span

if TYPE_CHECKING:
    from tree_sitter import Node

IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})


class ImportItem(NamedTuple):
    """One name of an import statement.

    `node` is all of it (`cuda as c`), `name_node` the dotted name as written, `bound` the identifier that the file
    then uses, `target` the full dotted name that this stands for (relative ones begin with dots). `import a.b` binds
    `a` to `a`.
    """

    node: Node
    name_node: Node
    name: str
    bound: Node
    alias: str
    target: str


class ImportStatement(NamedTuple):
    """`import a, b as c` (`module` is empty), or `from module import a, b as c`. `star`: of everything."""

    node: Node
    module: str
    module_node: Node | None
    items: tuple[ImportItem, ...]
    star: bool

    @property
    def span(self) -> Span:
        """The statement, without the newline after it."""
        return Span(self.node.start_byte, self.node.end_byte)


def import_of(node: Node) -> ImportStatement:
    """What an import node (one of IMPORTS) says."""
    module_node = node.child_by_field_name("module_name")
    module = "__future__" if node.type == "future_import_statement" else dotted(module_node)
    star = any(child.type == "wildcard_import" for child in node.children)
    return ImportStatement(node, module, module_node, tuple(_items(node, module)), star)


def joined(module: str, name: str) -> str:
    """The dotted name of `name` in `module`; a module of dots only is a package."""
    return f"{module}{name}" if not module or module.endswith(".") else f"{module}.{name}"


def dotted(node: Node | None) -> str:
    """The text of a dotted name, blanks left out."""
    return "".join(name_of(node).split())


def _items(node: Node, module: str) -> Iterator[ImportItem]:
    for child in node.children_by_field_name("name"):
        name_node = child.child_by_field_name("name") if child.type == "aliased_import" else child
        alias_node = child.child_by_field_name("alias")
        if name_node is None or not name_node.named_children:
            continue
        name, first = dotted(name_node), name_node.named_children[0]
        bound = alias_node or first
        plain = node.type == "import_statement" and alias_node is None
        target = dotted(first) if plain else joined(module, name)
        yield ImportItem(child, name_node, name, bound, dotted(alias_node), target)
