"""Where a string stands, and what says there that it is a device (or a backend of torch.distributed)."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from musify.languages.python.nodes import above, name_of, parts_of, text_of
from musify.languages.python.pytorch import facts
from musify.languages.python.pytorch.holders import Holders
from musify.model import Applicability

if TYPE_CHECKING:
    from tree_sitter import Node

    from musify.languages.python.module import PythonModule
    from musify.languages.python.references import Call
    from musify.languages.python.strings import StringLiteral

_CONTAINERS = frozenset({"list", "tuple", "set", "expression_list", "pattern_list"})
_THROUGH = frozenset({"parenthesized_expression", "conditional_expression", "boolean_operator", "lambda", *_CONTAINERS})
_TYPES = frozenset({"type", "type_parameter", "generic_type", "union_type", "binary_operator"})
_TYPED = frozenset({"assignment", "typed_parameter", "typed_default_parameter"})
# Calls that hand on what they are given: a case of a test; the default of a field or of an option.
_CASES = frozenset({"param"})
_FIELDS = frozenset({"field", "Field", "Option", "Argument"})
_DEFAULTS = frozenset({"default", "default_factory"})
_OPTIONS = frozenset({"default", "choices", "const"})
_PREFIX_TESTS = frozenset({"startswith", "endswith", "find", "count", "replace", "removeprefix", "split"})
_ATTRIBUTES = frozenset({"getattr", "setattr"})
_QUOTED = re.compile(rb"[\"']([^\"']*)[\"']")
_DICTIONARIES = ("device_map", "map_location")


class Place:
    """Where one literal stands. `verdict` is how sure it is that `word` is meant; None where nothing says so."""

    def __init__(self, module: PythonModule, holders: Holders, literal: StringLiteral) -> None:
        self._module = module
        self._holders = holders
        self._word = holders.word
        self._literal = literal
        self._siblings: list[bytes] = []

    @cached_property
    def verdict(self) -> Applicability | None:
        """SAFE where something says it, REVIEW where the words beside it make it likely."""
        node, sure = self._climb()
        parent = node.parent
        if self._is_foreign(node):
            return None
        if not sure and parent is not None:
            check = getattr(self, f"_in_{parent.type}", None)
            sure = bool(check(parent, node)) if check is not None else False
        if sure:
            return Applicability.SAFE
        return Applicability.REVIEW if self._is_likely(node) else None

    def _climb(self) -> tuple[Node, bool]:
        """The expression that the literal is the value of, and whether something on the way settles it."""
        node = self._literal.node
        while node.parent is not None:
            parent = node.parent
            if parent.type in _CONTAINERS:
                self._siblings += [literal.text for literal in self._strings(parent)]
            if self._is_settled(parent, node):
                return node, True
            following = parent if parent.type in _THROUGH else self._handed_on(parent, node)
            if following is None:
                return node, False
            node = following
        return node, False

    def _is_settled(self, parent: Node, node: Node) -> bool:
        """`"cuda" if torch.cuda.is_available() else "cpu"`, `args.device or "cuda"`: no name is needed beside them."""
        if parent.type not in ("conditional_expression", "boolean_operator"):
            return False
        parts = parts_of(parent)
        if parent.type == "conditional_expression":
            parts = [parts[0], parts[2]] if len(parts) == 3 and node != parts[1] else []
            if parts and b"is_available" in text_of(parts_of(parent)[1]):
                return True
        return any(self._holders.holds(part) for part in parts if part != node)

    def _handed_on(self, parent: Node, node: Node) -> Node | None:
        """The call or operation around `node` that gives its value on."""
        if parent.type == "binary_operator":
            return parent if self._is_joined(parent, node) else None
        if parent.type == "attribute":  # "cuda:{}".format(i)
            is_format = name_of(parent.child_by_field_name("attribute")) == "format"
            return parent.parent if is_format and parent.parent is not None and parent.parent.type == "call" else None
        argument = parent if parent.type == "keyword_argument" else None
        listed = argument.parent if argument is not None else parent
        call = self._holders.calls.get(listed.parent.id) if listed is not None and listed.parent is not None else None
        if call is None or listed is None or listed.type != "argument_list":
            return None
        keyword = name_of(argument.child_by_field_name("name")) if argument is not None else ""
        first = not keyword and bool(call.arguments) and call.arguments[0].value == node
        fields = call.method_name in _FIELDS and (keyword in _DEFAULTS or first)
        return call.node if fields or (call.method_name in _CASES and not keyword) else None

    def _is_joined(self, operation: Node, node: Node) -> bool:
        """`"cuda:%d" % i` and `"cuda:" + str(i)` are devices as much as the literal; `["cpu"] + ["cuda"]` is a list."""
        operator = text_of(operation.child_by_field_name("operator"))
        if node.type in _CONTAINERS or node.type == "conditional_expression":
            return operator == b"+"
        left = operation.child_by_field_name("left") == node
        return left and (operator == b"%" or (operator == b"+" and self._literal.text.endswith(b":")))

    def _is_foreign(self, node: Node) -> bool:
        """Whether another library takes it, or some of the names beside it are nothing that PyTorch knows."""
        call = self._call_around(node)
        reference = call.reference if call is not None else None
        elsewhere = reference is not None and any(reference.meaning(name) for name in self._word.elsewhere)
        return elsewhere or self._holders.are_foreign(self._siblings)

    def _is_likely(self, node: Node) -> bool:
        if self._literal.text.endswith(b":") and node.type == "binary_operator":  # "cuda:" + str(i)
            return True
        others = [text for text in self._siblings if text != self._literal.text]
        if others and all(text in self._word.others for text in others):
            return True
        beside = {*self._siblings, *self._beside(node)}
        if beside >= {word.cuda for word in facts.words()}:
            return True
        parent = node.parent
        if parent is not None and parent.type == "comparison_operator":
            compared = [child for child in parent.named_children if child != node]
            return not self._word.is_closed and any(self._holders.has_type(child) for child in compared)
        call = self._call(node)
        return call is not None and any(word.is_name(call.method_name) for word in facts.words())

    def _beside(self, node: Node) -> list[bytes]:
        """What the arguments of the same call say."""
        call = self._call_around(node)
        literals = [self._module.string(argument.value) for argument in call.arguments] if call is not None else []
        return [literal.text for literal in literals if literal is not None]

    def _call_around(self, node: Node) -> Call | None:
        """The call that `node` is an argument of, by its place or by a keyword."""
        parent = node.parent
        listed = parent.parent if parent is not None and parent.type == "keyword_argument" else parent
        inside = listed is not None and listed.type == "argument_list"
        return self._holders.calls.get(listed.parent.id) if inside and listed and listed.parent else None

    def _call(self, node: Node) -> Call | None:
        """The call that `node` is a positional argument of."""
        positional = node.parent is not None and node.parent.type == "argument_list"
        return self._call_around(node) if positional else None

    def _strings(self, container: Node) -> list[StringLiteral]:
        """The literals of a list; those of the cases of a test among them."""
        found = []
        for child in parts_of(container):
            call = self._holders.calls.get(child.id)
            is_case = call is not None and call.method_name in _CASES
            values = [argument.value for argument in call.arguments] if call is not None and is_case else [child]
            found += [literal for literal in map(self._module.string, values) if literal is not None]
        return found

    def _in_keyword_argument(self, parent: Node, node: Node) -> bool:
        name = name_of(parent.child_by_field_name("name"))
        around = above(parent, "call")
        call = self._holders.calls.get(around.id) if around is not None else None
        if name in self._word.keywords or self._holders.is_name(name, parent):
            return True
        if call is None:
            return False
        if any(name == expected.keyword and call.calls(full) for full, expected in self._word.calls.items()):
            return True
        return (
            name in _OPTIONS and self._holders.first_argument_names(call.node) and not self._is_option_of_others(call)
        )

    def _is_option_of_others(self, call: Call) -> bool:
        choices = call.argument("choices")
        return choices is not None and self._holders.are_foreign(item.text for item in self._strings(choices.value))

    def _in_argument_list(self, parent: Node, node: Node) -> bool:
        call = self._holders.calls.get(parent.parent.id) if parent.parent is not None else None
        number = next((i for i, item in enumerate(call.arguments) if item.value == node), -1) if call else -1
        if call is None or number < 0:
            return False
        if self._is_expected(call, number) or self._holders.parameter_holds(call, number):
            return True
        method = call.method_name
        if method.startswith("assert"):
            return any(self._holders.holds(argument.value) for argument in call.arguments if argument.value != node)
        if method in _ATTRIBUTES:
            return number == 2 and self._holders.names(call.arguments[1].value)
        return number == 1 and self._holders.first_argument_names(call.node)

    def _is_expected(self, call: Call, number: int) -> bool:
        """Whether PyTorch's functions and methods take a device (or backend) there."""
        for name, expected in self._word.calls.items():
            if number == expected.position and call.calls(name):
                return True
        if number != 0 or call.function is None:
            return False
        if call.reference and any(call.reference.meaning(prefix) for prefix in self._word.first_arguments):
            return True
        method = call.function.type == "attribute"
        if method and call.method_name in _PREFIX_TESTS:
            return self._holders.holds(call.function.child_by_field_name("object"))
        return method and call.method_name in self._word.methods

    def _in_comparison_operator(self, parent: Node, node: Node) -> bool:
        return any(self._holders.holds(child) for child in parent.named_children if child != node)

    def _in_assignment(self, parent: Node, node: Node) -> bool:
        if parent.child_by_field_name("right") != node or self._is_typed_otherwise(parent):
            return False
        return self._holders.holds(parent.child_by_field_name("left"))

    def _in_named_expression(self, parent: Node, node: Node) -> bool:
        return self._holders.holds(parent.child_by_field_name("name")) and not self._is_typed_otherwise(parent)

    _in_default_parameter = _in_named_expression
    _in_typed_default_parameter = _in_named_expression

    def _is_typed_otherwise(self, typed: Node) -> bool:
        """`backend: Literal["nccl", "nvshmem"]`: some of these are nothing that PyTorch knows."""
        return self._holders.are_foreign(_QUOTED.findall(text_of(typed.child_by_field_name("type"))))

    def _in_for_statement(self, parent: Node, node: Node) -> bool:
        return self._in_assignment(parent, node)

    def _in_pair(self, parent: Node, node: Node) -> bool:
        key, value = parent.child_by_field_name("key"), parent.child_by_field_name("value")
        if value == node and self._holders.names(key):
            return True
        texts = [literal.text for literal in map(self._module.string, (key, value)) if literal is not None]
        if texts == [word.cuda for word in facts.words()]:  # {"cuda": "nccl"}
            return True
        return self._in_dictionary_of_devices(parent)

    def _in_dictionary_of_devices(self, pair: Node) -> bool:
        around = pair.parent.parent if pair.parent is not None else None
        if around is None or around.type not in ("keyword_argument", "assignment"):
            return False
        name = name_of(around.child_by_field_name("name") or around.child_by_field_name("left")).rpartition(".")[2]
        return self._word.cuda == b"cuda" and name in _DICTIONARIES

    def _in_return_statement(self, parent: Node, node: Node) -> bool:
        function = above(parent, "function_definition", "lambda")
        return function is not None and self._word.is_name(name_of(function.child_by_field_name("name")))

    def _in_case_pattern(self, parent: Node, node: Node) -> bool:
        match = above(parent, "match_statement")
        return match is not None and any(self._holders.holds(item) for item in match.children_by_field_name("subject"))

    def _in_type(self, parent: Node, node: Node) -> bool:
        """`device: Literal["cuda", "cpu"]`."""
        listed = above(parent, "type_parameter")
        if listed is None or name_of(listed.prev_sibling).rpartition(".")[2] != "Literal":
            return False
        texts = [literal for literal in map(self._module.string, map(_inner, parts_of(listed))) if literal is not None]
        if self._holders.are_foreign([literal.text for literal in texts]):
            return False
        typed: Node | None = listed
        while typed is not None and typed.type in _TYPES:
            typed = typed.parent
        if typed is None or typed.type not in _TYPED:
            return False
        named = typed.child_by_field_name("left") or typed.child_by_field_name("name") or typed.named_children[0]
        return self._holders.holds(named)


def _inner(node: Node) -> Node:
    """What a node of a type holds."""
    return node.named_children[0] if node.type == "type" and node.named_children else node
