"""Finds the lists of compiler flags of a file: from where they are used, back through variables and functions."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

from musify.languages.build.variables import tells_nvcc
from musify.languages.python.module import PythonModule, unwrapped
from musify.languages.python.nodes import name_of
from musify.languages.python.packaging.facts import flag_places
from musify.languages.python.packaging.flag_words import (
    FlagText,
    Role,
    Run,
    elements,
    is_list,
    is_writable,
    says_nvcc,
    slot_of,
)
from musify.languages.python.references import Call
from musify.languages.python.scopes import Binding, BindingKind, Scope
from musify.languages.python.strings import StringLiteral

if TYPE_CHECKING:
    from tree_sitter import Node

_ADDING = ("append", "extend", "insert")
_COPYING = ("list", "tuple", "sorted", "set")
_COMPREHENSIONS = ("list_comprehension", "generator_expression", "set_comprehension")


class FlagFlow:
    """The runs of flags in one file."""

    def __init__(self, module: PythonModule) -> None:
        self._module = module
        self._runs: list[Run] = []
        self.texts: list[FlagText] = []  # filled by runs()
        self._seen: set[int] = set()
        self._variables: set[tuple[int, str]] = set()
        self._calls = {call.node.id: call for call in module.calls}

    def runs(self) -> list[Run]:
        """All runs, in the order of the file."""
        for role in (Role.DEVICE, Role.HOST, Role.LIBRARIES):
            for node in self._given(role):
                self._visit(node, role, node.id)
        for node in self._telling():
            self._visit_around(node)
        return sorted(self._runs, key=lambda run: run.place.start_byte)

    # --- where lists of flags are used

    def _given(self, role: Role) -> Iterator[Node]:
        """Expressions that are given as flags."""
        places = flag_places()
        keys = places.keys.get(role.value, frozenset())
        keywords = places.keywords.get(role.value, frozenset())
        for pair in self._module.of_type("pair"):
            literal, value = self._module.string(pair.child_by_field_name("key")), pair.child_by_field_name("value")
            if literal is not None and value is not None and literal.text in keys:
                yield value
        for argument in self._module.of_type("keyword_argument"):
            name, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
            if name is not None and value is not None and name_of(name) in keywords:
                yield value
        for subscript in self._module.of_type("subscript"):
            literal = self._module.string(subscript.child_by_field_name("subscript"))
            if literal is not None and literal.text in keys:
                yield from self._added(subscript)
        if role is Role.DEVICE:
            yield from self._positional()
            yield from (node for node in self._module.of_type("list", "tuple") if self._is_command(node))

    def _is_command(self, node: Node) -> bool:
        """Whether a list is a command that runs nvcc."""
        listed = elements(node)
        return len(listed) > 1 and says_nvcc(self._module, listed[0])

    def _positional(self) -> Iterator[Node]:
        """The flags of `load(name, sources, extra_cflags, extra_cuda_cflags)`, and of an extension as a plain list."""
        places = flag_places()
        for call in self._module.calls:
            if call.calls(*places.loaders) and (argument := call.argument("extra_cuda_cflags", 3)):
                yield argument.value
            argument = call.argument("extra_compile_args") if call.calls(*places.device_extensions) else None
            if argument is not None and self._is_flat(argument.value):
                yield argument.value

    def _is_flat(self, node: Node) -> bool:
        value = self._module.value(node)
        return is_list(value) or (value is not None and value.type == "binary_operator")

    def _added(self, target: Node) -> Iterator[Node]:
        """What is assigned or added to an expression that holds a list."""
        parent = target.parent
        if parent is None:
            return
        if parent.type in ("assignment", "augmented_assignment") and parent.child_by_field_name("left") == target:
            value = parent.child_by_field_name("right")
            if value is not None:
                yield value
        elif parent.type == "attribute" and parent.parent is not None and parent.parent.type == "call":
            call = self._calls[parent.parent.id]
            if call.method_name in _ADDING and call.arguments:
                yield call.arguments[-1].value if call.method_name == "extend" else call.node

    def _telling(self) -> Iterator[Node]:
        """Lists, and calls that add a word, with a flag that no other compiler has."""
        for literal in self._module.strings:
            if tells_nvcc(literal.text):
                yield literal.node

    def _visit_around(self, node: Node) -> None:
        """The list that a flag stands in, or the variable that it is added to."""
        parent = node.parent
        while parent is not None and parent.type in ("binary_operator", "parenthesized_expression"):
            node, parent = parent, parent.parent
        if parent is None or node.id in self._seen:
            return
        if is_list(parent):
            self._visit_assigned(parent)
        elif parent.type == "argument_list" and parent.parent is not None:
            call = self._calls.get(parent.parent.id)
            if call is not None and call.method_name in _ADDING and call.function is not None:
                receiver = call.function.child_by_field_name("object")
                self._visit(receiver, Role.DEVICE, call.node.id)
                self._visit(call.node, Role.DEVICE, call.node.id)

    def _visit_assigned(self, container: Node) -> None:
        node = container
        while node.parent is not None and node.parent.type in ("binary_operator", "parenthesized_expression"):
            node = node.parent
        parent = node.parent
        if parent is not None and parent.type in ("assignment", "augmented_assignment"):
            left = parent.child_by_field_name("left")
            if left is not None and left.type == "identifier":
                self._visit(left, Role.DEVICE, node.id)
        elif parent is not None and parent.type == "argument_list" and parent.parent is not None:
            call = self._calls.get(parent.parent.id)
            if call is not None and call.method_name in _ADDING and call.function is not None:
                self._visit(call.function.child_by_field_name("object"), Role.DEVICE, node.id)
        self._visit(node, Role.DEVICE, node.id)

    # --- back from there

    def _visit(self, node: Node | None, role: Role, group: Hashable) -> None:
        node = unwrapped(node)
        if node is None or node.id in self._seen:
            return
        self._seen.add(node.id)
        if is_list(node):
            self._visit_list(node, role, group)
        elif node.type == "identifier":
            self._visit_variable(node, role)
        elif node.type in ("binary_operator", "boolean_operator"):
            self._visit(node.child_by_field_name("left"), role, group)
            self._visit(node.child_by_field_name("right"), role, group)
        elif node.type == "conditional_expression":
            parts = [child for child in node.named_children if child.type != "comment"]
            self._visit(parts[0], role, (group, node.id, 0))
            self._visit(parts[-1], role, (group, node.id, 1))
        elif node.type in _COMPREHENSIONS:
            body = node.child_by_field_name("body")
            if body is not None:
                self._runs.append(Run([slot_of(self._module, body)], role, (group, node.id)))
        elif node.type == "call":
            self._visit_call(self._calls[node.id], role, group)

    def _visit_list(self, node: Node, role: Role, group: Hashable) -> None:
        slots = []
        for element in elements(node):
            if element.type == "list_splat":
                self._visit(element.named_children[0], role, group)
            slots.append(slot_of(self._module, element))
        if slots:
            self._runs.append(Run(slots, role, group, node))

    def _visit_call(self, call: Call, role: Role, group: Hashable) -> None:
        if call.method_name in ("append", "insert") and call.function is not None and call.function.type == "attribute":
            self._visit_appends(call, role, group)
            return
        split = self._split_literal(call)
        if split is not None:
            self.texts.append(FlagText(split, role))
            return
        definition = self._definition(call)
        if definition is not None:
            self._visit_returns(definition, role)
        if definition is not None or call.method_name in _COPYING:
            for argument in call.arguments:
                self._visit(argument.value, role, group)

    def _split_literal(self, call: Call) -> StringLiteral | None:
        """The literal of `"-O3 -g".split()`."""
        if call.method_name != "split" or call.function is None or call.function.type != "attribute":
            return None
        literal = self._module.string(call.function.child_by_field_name("object"))
        return literal if literal is not None and len(literal.pieces) == 1 and is_writable(literal) else None

    def _visit_variable(self, identifier: Node, role: Role) -> None:
        scope = self._module.scopes.owner(identifier)
        name = name_of(identifier)
        if scope is None or (id(scope), name) in self._variables:
            return
        self._variables.add((id(scope), name))
        group: Hashable = (id(scope), name)
        for binding in scope.bindings[name]:
            if binding.kind is BindingKind.ASSIGNMENT:
                group = (id(scope), name, binding.node.start_byte)
            self._visit_binding(binding, scope, role, group)
        for use in self._module.scopes.uses(scope, name):
            if use.parent is not None and use.parent.type == "attribute":
                for added in self._added(use):
                    self._visit(added, role, self._group_at(scope, name, use))

    def _group_at(self, scope: Scope, name: str, use: Node) -> Hashable:
        """The list that a variable holds at a place: of the last assignment before it in the file."""
        starts = [
            binding.node.start_byte
            for binding in scope.bindings[name]
            if binding.kind is BindingKind.ASSIGNMENT and binding.node.start_byte < use.start_byte
        ]
        return (id(scope), name, max(starts)) if starts else (id(scope), name)

    def _visit_binding(self, binding: Binding, scope: Scope, role: Role, group: Hashable) -> None:
        if binding.kind in (BindingKind.ASSIGNMENT, BindingKind.AUGMENTED, BindingKind.PARAMETER):
            self._visit(binding.value, role, group)
        if binding.kind is BindingKind.PARAMETER:
            for value in self._passed(binding):
                self._visit(value, role, value.id)

    def _visit_appends(self, call: Call, role: Role, group: Hashable) -> None:
        """A call that adds one word, and those right after it in the same block."""
        if not call.arguments:
            return
        statement = call.node.parent
        if statement is None or statement.type != "expression_statement":
            return
        slots, statements = [], []
        following: Node | None = statement
        while following is not None and (next_call := self._same_call(following, call)) is not None:
            self._seen.add(next_call.node.id)
            slots.append(slot_of(self._module, next_call.arguments[-1].value))
            statements.append(following)
            following = _next_statement(following)
        self._runs.append(Run(slots, role, group, None, statements))

    def _same_call(self, statement: Node, call: Call) -> Call | None:
        """The call of a statement that adds to the same thing by the same method."""
        node = statement.named_children[0] if statement.type == "expression_statement" else None
        other = self._calls.get(node.id) if node is not None else None
        if other is None or other.function is None or call.function is None or not other.arguments:
            return None
        return other if other.function.text == call.function.text else None

    # --- functions of the file

    def _definition(self, call: Call) -> Node | None:
        """The definition of the function that is called, where the file has it."""
        if call.function is None or call.function.type != "identifier":
            return None
        bindings = self._module.scopes.lookup(call.function)
        found = [binding.value for binding in bindings if binding.kind is BindingKind.FUNCTION]
        return found[0] if found else None

    def _visit_returns(self, definition: Node, role: Role) -> None:
        for statement in self._module.of_type("return_statement"):
            if definition.start_byte < statement.start_byte < definition.end_byte and statement.named_children:
                self._visit(statement.named_children[0], role, statement.id)

    def _passed(self, parameter: Binding) -> Iterator[Node]:
        """What calls in the file give for a parameter of a function."""
        definition = parameter.node.parent
        while definition is not None and definition.type != "function_definition":
            definition = definition.parent
        if definition is None:
            return
        listed = definition.child_by_field_name("parameters")
        names = _parameter_names(listed) if listed is not None else []
        position = names.index(parameter.name) if parameter.name in names else None
        for call in self._module.calls:
            if self._definition(call) == definition and (argument := call.argument(parameter.name, position)):
                yield argument.value


def _parameter_names(parameters: Node) -> list[str]:
    names = []
    for parameter in parameters.named_children:
        node = parameter.child_by_field_name("name") or parameter
        if node.type == "typed_parameter" and node.named_children:
            node = node.named_children[0]
        names.append(name_of(node))
    return names


def _next_statement(statement: Node) -> Node | None:
    following = statement.next_named_sibling
    while following is not None and following.type == "comment":
        following = following.next_named_sibling
    return following
