"""A Python file, read: the one thing that rules ask about names, calls, strings and imports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from musify.languages.python.imports import IMPORTS, ImportStatement, import_of, joined
from musify.languages.python.nodes import name_of
from musify.languages.python.references import Argument, Call, Meaning, Reference, chain_of
from musify.languages.python.scopes import Binding, BindingKind, Scope, Scopes
from musify.languages.python.strings import StringLiteral
from musify.source.syntax import parse, preorder

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST_ALIAS = 6


@lru_cache(maxsize=2)
def read(data: bytes) -> PythonModule:
    """The module in `data`; the last ones read are kept, since several passes ask for the same."""
    return PythonModule(data)


class PythonModule:
    """A parsed file. Everything is found when it is first asked for."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.root = parse(data, "tree_sitter_python")
        # A name that is bound a thousand times is used as often; keyed by its scope, itself and the depth of aliases.
        self._known: dict[tuple[int, str, int], Sequence[tuple[str, bool]]] = {}

    @cached_property
    def nodes(self) -> Sequence[Node]:
        """All nodes, each before what it holds."""
        return preorder(self.root)

    @cached_property
    def by_type(self) -> Mapping[str, Sequence[Node]]:
        """The nodes of each type of the grammar, in order."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            found.setdefault(node.type, []).append(node)
        return found

    def of_type(self, *types: str) -> list[Node]:
        """The nodes of these types, in order."""
        found = [node for kind in types for node in self.by_type.get(kind, ())]
        return found if len(types) == 1 else sorted(found, key=lambda node: (node.start_byte, -node.end_byte))

    @cached_property
    def imports(self) -> tuple[ImportStatement, ...]:
        """Every import statement, wherever it stands."""
        return tuple(import_of(node) for node in self.of_type(*IMPORTS))

    @cached_property
    def scopes(self) -> Scopes:
        """What names are bound to."""
        return Scopes(self.root, self.by_type, self.imports)

    @cached_property
    def strings(self) -> tuple[StringLiteral, ...]:
        """Every literal, joined ones as one; strings inside f-strings come after the one that holds them."""
        joined_nodes = self.of_type("concatenated_string")
        pieces = {piece.id for node in joined_nodes for piece in node.children}
        return tuple(
            StringLiteral(node) for node in self.of_type("string", "concatenated_string") if node.id not in pieces
        )

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Every call, outer ones first."""
        return tuple(self._call(node) for node in self.of_type("call"))

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Every name or chain of attributes of a name that is used, at its whole length: `t.cuda.amp`, not `t.cuda`.

        Names inside import statements and the names that a statement binds are not among them.
        """
        chains: dict[int, Reference] = {}
        for node in self.of_type("attribute"):  # the longest come first
            parts = chain_of(node)
            if parts and parts[0].id not in chains:
                chains[parts[0].id] = Reference(node, parts, self._meanings(parts))
        return tuple(
            chains.get(node.id) or Reference(node, (node,), self._meanings((node,)))
            for node in self.scopes.variables
            if not self.scopes.is_bound(node)
        )

    def reference(self, node: Node | None) -> Reference | None:
        """What an expression refers to, where it is a name or a chain of attributes of a name."""
        parts = chain_of(node)
        return Reference(node, parts, self._meanings(parts)) if node is not None and parts else None

    def resolve(self, node: Node | None) -> tuple[str, ...]:
        """The full dotted names that an expression may stand for: none, one, or several where bindings differ."""
        reference = self.reference(node)
        return tuple(meaning.dotted for meaning in reference.meanings) if reference else ()

    def string(self, node: Node | None) -> StringLiteral | None:
        """The literal that an expression is; parentheses around it do not matter."""
        node = unwrapped(node)
        return StringLiteral(node) if node is not None and node.type in ("string", "concatenated_string") else None

    def value(self, node: Node | None) -> Node | None:
        """The expression that a name stands for, where it is assigned once; any other expression is its own value."""
        for _ in range(_DEEPEST_ALIAS):
            node = unwrapped(node)
            if node is None or node.type != "identifier":
                return node
            bindings = self.scopes.lookup(node)
            if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGNMENT or bindings[0].value is None:
                return node
            node = bindings[0].value
        return node

    def _call(self, node: Node) -> Call:
        function = node.child_by_field_name("function")
        return Call(node, function, self.reference(function), tuple(_arguments(node)))

    def _meanings(self, parts: Sequence[Node], depth: int = 0) -> tuple[Meaning, ...]:
        if not parts or depth > _DEEPEST_ALIAS:
            return ()
        tail = [name_of(part) for part in parts[1:]]
        scope = self.scopes.owner(parts[0])
        if scope is None:
            return tuple(dict.fromkeys(self._starred(parts[0], tail)))
        name = name_of(parts[0])
        certain = len(scope.bindings[name]) == 1
        found = [_meaning(target, tail, imported, certain) for target, imported in self._bound_to(scope, name, depth)]
        return tuple(dict.fromkeys(found))

    def _bound_to(self, scope: Scope, name: str, depth: int) -> Sequence[tuple[str, bool]]:
        """The dotted names that the bindings of a name give, and whether an import gives it under its own name."""
        key = id(scope), name, depth
        if key not in self._known:
            found = {}
            for binding in scope.bindings[name]:
                imported = binding.kind is BindingKind.IMPORT and binding.target.split(".")[-1] == name
                found.update(dict.fromkeys((target, imported) for target in self._targets(binding, depth)))
            self._known[key] = tuple(found)
        return self._known[key]

    def _targets(self, binding: Binding, depth: int) -> Iterator[str]:
        """The dotted names that a binding gives; aliases are followed (`cuda = torch.cuda`)."""
        if binding.kind is BindingKind.IMPORT:
            yield binding.target
        elif binding.kind is BindingKind.ASSIGNMENT:
            for node in _alternatives(binding.value):
                if (parts := chain_of(node)) and not self.scopes.is_bound(parts[0]):
                    yield from (meaning.dotted for meaning in self._meanings(parts, depth + 1))

    def _starred(self, name: Node, tail: Sequence[str]) -> Iterator[Meaning]:
        """What a name without a binding may be through `from m import *`."""
        text = name_of(name)
        scope = self.scopes.at(name.start_byte)
        for module in {*scope.stars, *self.scopes.module.stars}:
            yield _meaning(joined(module, text), tail, imported=True, certain=False)


def _meaning(target: str, tail: Sequence[str], imported: bool, certain: bool) -> Meaning:
    first = len(target.lstrip(".").split("."))
    return Meaning(".".join([target, *tail]), first, imported, certain)


def unwrapped(node: Node | None) -> Node | None:
    """An expression without the parentheses around it."""
    while node is not None and node.type == "parenthesized_expression":
        node = next((child for child in node.named_children if child.type != "comment"), None)
    return node


def _alternatives(node: Node | None) -> Iterator[Node]:
    """What an expression may give: both sides of `a if c else b`, else itself."""
    node = unwrapped(node)
    if node is not None and node.type == "conditional_expression":
        parts = [child for child in node.named_children if child.type != "comment"]
        if len(parts) == 3:
            yield from _alternatives(parts[0])
            yield from _alternatives(parts[2])
    elif node is not None:
        yield node


def _arguments(call: Node) -> Iterator[Argument]:
    listed = call.child_by_field_name("arguments")
    if listed is None:
        return
    if listed.type != "argument_list":  # f(x for x in y)
        yield Argument("", listed, listed)
        return
    for child in listed.named_children:
        if child.type == "keyword_argument":
            name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if name is not None and value is not None:
                yield Argument(name_of(name), value, child)
        elif child.type in ("list_splat", "dictionary_splat") and child.named_children:
            yield Argument("*" if child.type == "list_splat" else "**", child.named_children[0], child)
        elif child.type != "comment":
            yield Argument("", child, child)
