"""What a name of a Python file is bound to: scopes, bindings, imports.

Flow is not followed: a name has all the bindings that its scope gives it, in the order of the file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from musify.languages.python.imports import ImportStatement
from musify.languages.python.nodes import name_of

if TYPE_CHECKING:
    from tree_sitter import Node

_COMPREHENSIONS = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
)
_SPLATS = frozenset({"list_splat", "list_splat_pattern"})
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", *_SPLATS})
_VALUE_LISTS = frozenset({"expression_list", "tuple", "list"})


class BindingKind(Enum):
    """How a name gets its value."""

    IMPORT = "import"
    ASSIGNMENT = "assignment"
    AUGMENTED = "augmented"
    PARAMETER = "parameter"
    FUNCTION = "function"
    CLASS = "class"
    OTHER = "other"  # loops, with, except, patterns


class Binding(NamedTuple):
    """One place that gives a name its value.

    `node` is the identifier that is bound. `value` is what an assignment assigns, or a parameter's default; None where
    that is not one expression. `target` is the dotted name that an import binds.
    """

    name: str
    node: Node
    kind: BindingKind
    value: Node | None = None
    target: str = ""


@dataclass
class Scope:
    """A module, class, function, lambda or comprehension; `start` and `end` are byte offsets of its body."""

    kind: str
    start: int
    end: int
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)  # names declared global or nonlocal
    stars: list[str] = field(default_factory=list)  # modules of `from m import *`

    def bind(self, binding: Binding) -> None:
        """Add a binding where Python makes it: here, or further out for global and nonlocal names."""
        scope = self
        while binding.name in scope.outer and scope.parent is not None:
            scope = scope.parent
        scope.bindings.setdefault(binding.name, []).append(binding)


class Scopes:
    """All scopes of a file. `nodes` are its nodes by type, in preorder."""

    def __init__(self, root: Node, nodes: Mapping[str, Sequence[Node]], imports: Iterable[ImportStatement]) -> None:
        self._nodes = nodes
        self._imports = imports
        self.module = Scope("module", root.start_byte, root.end_byte, None)
        self._scopes = [self.module]
        self._bound: set[int] = set()
        self._find_scopes()
        self._scopes.sort(key=lambda scope: (scope.start, -scope.end))
        self._starts = [scope.start for scope in self._scopes]
        self._declare_outer()
        self._bind_all()

    def at(self, offset: int) -> Scope:
        """The innermost scope whose body holds the byte at `offset`."""
        scope: Scope | None = self._scopes[max(0, bisect_right(self._starts, offset) - 1)]
        while scope is not None and not scope.start <= offset < scope.end:
            scope = scope.parent
        return scope or self.module

    def is_bound(self, identifier: Node) -> bool:
        """Whether the identifier is the target of a binding, not a use of one."""
        return identifier.id in self._bound

    def owner(self, identifier: Node) -> Scope | None:
        """The scope that binds the name that stands at `identifier`; None where no scope of the file does."""
        name = name_of(identifier)
        scope: Scope | None = self.at(identifier.start_byte)
        innermost = scope
        while scope is not None:
            hidden = scope.kind == "class" and scope is not innermost
            if name in scope.bindings and not hidden:
                return scope
            scope = scope.parent
        return None

    def lookup(self, identifier: Node) -> tuple[Binding, ...]:
        """All bindings of the name that stands at `identifier`; none for builtins and names of star imports."""
        scope = self.owner(identifier)
        return tuple(scope.bindings[name_of(identifier)]) if scope else ()

    def uses(self, scope: Scope, name: str) -> Iterator[Node]:
        """Every identifier that stands for the variable `name` of `scope`; bindings too, but for parameters."""
        for node in self._identifiers.get(name, ()):
            if self.owner(node) is scope:
                yield node

    @cached_property
    def _identifiers(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for node in self.variables:
            found.setdefault(name_of(node), []).append(node)
        return found

    @cached_property
    def variables(self) -> list[Node]:
        """All identifiers but attributes, names of keyword arguments, and those in import and global statements."""
        others = {
            part.id
            for kind, name in (("attribute", "attribute"), ("keyword_argument", "name"))
            for node in self._nodes.get(kind, ())
            if (part := node.child_by_field_name(name)) is not None
        }
        for kind in ("dotted_name", "global_statement", "nonlocal_statement", "aliased_import"):
            others.update(part.id for node in self._nodes.get(kind, ()) for part in node.named_children)
        return [node for node in self._nodes.get("identifier", ()) if node.id not in others]

    def _find_scopes(self) -> None:
        for node in self._in_order(*_COMPREHENSIONS, "function_definition", "lambda", "class_definition"):
            body = node if node.type in _COMPREHENSIONS else node.child_by_field_name("body")
            if body is None:
                continue
            kind = "class" if node.type == "class_definition" else "function"
            kind = "comprehension" if node.type in _COMPREHENSIONS else kind
            self._scopes.append(Scope(kind, body.start_byte, body.end_byte, self._enclosing(body)))

    def _enclosing(self, body: Node) -> Scope:
        around = (scope for scope in reversed(self._scopes) if scope.start <= body.start_byte < scope.end)
        return next(around, self.module)  # an empty body may stand where the file ends

    def _declare_outer(self) -> None:
        for node in self._in_order("global_statement", "nonlocal_statement"):
            scope = self.at(node.start_byte)
            scope.outer.update(name_of(child) for child in node.named_children if child.type == "identifier")

    def _bind_all(self) -> None:
        for statement in self._imports:
            scope = self.at(statement.node.start_byte)
            if statement.star:
                scope.stars.append(statement.module)
            for item in statement.items:
                self._bind(scope, item.bound, BindingKind.IMPORT, target=item.target)
        for node in self._in_order(*_BINDERS):
            _BINDERS[node.type](self, node)

    def _in_order(self, *types: str) -> list[Node]:
        """The nodes of these types, each before what it holds."""
        found = [node for kind in types for node in self._nodes.get(kind, ())]
        return sorted(found, key=lambda node: (node.start_byte, -node.end_byte))

    def _bind(self, scope: Scope, node: Node, kind: BindingKind, value: Node | None = None, target: str = "") -> None:
        self._bound.add(node.id)
        scope.bind(Binding(name_of(node), node, kind, value, target))

    def _bind_assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        while right is not None and right.type == "assignment":
            right = right.child_by_field_name("right")
        if left is not None and (right is not None or left.type == "identifier"):
            kind = BindingKind.AUGMENTED if node.type == "augmented_assignment" else BindingKind.ASSIGNMENT
            self._bind_pattern(self.at(node.start_byte), left, kind, right)

    def _bind_pattern(self, scope: Scope, pattern: Node, kind: BindingKind, value: Node | None) -> None:
        if pattern.type == "identifier":
            self._bind(scope, pattern, kind, value)
        elif pattern.type in _PATTERNS:
            parts = pattern.named_children
            values: list[Node | None] = [None] * len(parts)
            if value is not None and value.type in _VALUE_LISTS and len(value.named_children) == len(parts):
                starred = any(child.type in _SPLATS for child in [*value.named_children, *parts])
                values = values if starred else list(value.named_children)
            for part, one in zip(parts, values, strict=True):
                self._bind_pattern(scope, part, kind if one is not None else BindingKind.OTHER, one)

    def _bind_loop(self, node: Node) -> None:
        left = node.child_by_field_name("left")
        if left is not None:
            self._bind_pattern(self.at(left.start_byte), left, BindingKind.OTHER, None)

    def _bind_walrus(self, node: Node) -> None:
        name, scope = node.child_by_field_name("name"), self.at(node.start_byte)
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        if name is not None:
            self._bind(scope, name, BindingKind.ASSIGNMENT, node.child_by_field_name("value"))

    def _bind_alias(self, node: Node) -> None:
        for target in node.named_children:
            self._bind_pattern(self.at(node.start_byte), target, BindingKind.OTHER, None)

    def _bind_definition(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and node.type != "lambda":
            kind = BindingKind.CLASS if node.type == "class_definition" else BindingKind.FUNCTION
            self._bind(self.at(node.start_byte), name, kind, node)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None and body is not None:
            for parameter in parameters.named_children:
                self._bind_parameter(self.at(body.start_byte), parameter)

    def _bind_parameter(self, scope: Scope, parameter: Node) -> None:
        name = parameter.child_by_field_name("name") or next(
            (child for child in (parameter, *parameter.named_children) if child.type == "identifier"), None
        )
        if name is None and parameter.named_children:  # a typed `*args: int`
            self._bind_parameter(scope, parameter.named_children[0])
        elif name is not None:
            self._bind(scope, name, BindingKind.PARAMETER, parameter.child_by_field_name("value"))

    def _bind_case(self, node: Node) -> None:
        only = node.named_children[0] if len(node.named_children) == 1 else None
        if only is not None and only.type == "dotted_name" and len(only.named_children) == 1:
            self._bind(self.at(node.start_byte), only.named_children[0], BindingKind.OTHER)


_BINDERS = {
    "assignment": Scopes._bind_assignment,
    "augmented_assignment": Scopes._bind_assignment,
    "for_statement": Scopes._bind_loop,
    "for_in_clause": Scopes._bind_loop,
    "named_expression": Scopes._bind_walrus,
    "as_pattern_target": Scopes._bind_alias,
    "function_definition": Scopes._bind_definition,
    "lambda": Scopes._bind_definition,
    "class_definition": Scopes._bind_definition,
    "case_pattern": Scopes._bind_case,
}
