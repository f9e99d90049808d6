"""Where a string stands, and what says there that it is a device (or a backend of torch.distributed)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from musify.languages.python.nodes import above, name_of, parts_of, text_of
from musify.languages.python.pytorch import facts
from musify.languages.python.pytorch.holders import Holders
from musify.languages.python.pytorch.likelihood import is_likely
from musify.languages.python.pytorch.values import call_around, literals, value_of
from musify.model import Applicability

if TYPE_CHECKING:
    from tree_sitter import Node

    from musify.languages.python.references import Call

_TYPES = frozenset({"type", "type_parameter", "generic_type", "union_type", "binary_operator"})
_TYPED = frozenset({"assignment", "typed_parameter", "typed_default_parameter"})
_OPTIONS = frozenset({"default", "choices", "const"})
# What is asked of a text or a list, and what is put into a list.
_ASKED = frozenset(
    """startswith endswith find count index replace removeprefix removesuffix split strip lstrip rstrip
append add remove discard""".split()
)
_ATTRIBUTES = frozenset({"getattr", "setattr"})
_ASSERTIONS = frozenset(
    """assertEqual assertEquals assertNotEqual assertIs assertIn assertNotIn assert_equal
assert_in""".split()
)
_QUOTED = re.compile(rb"[\"']([^\"']*)[\"']")
_DICTIONARIES = ("device_map", "map_location")
_DEEPEST_USE = 2


class Place:
    """Where an expression stands that says `text`: a literal, or a name that holds one.

    `verdict` is how sure it is that the word of `holders` is meant; None where nothing says so.
    """

    def __init__(self, holders: Holders, node: Node, text: bytes, depth: int = 0) -> None:
        self._module = holders.module
        self._holders = holders
        self._word = holders.word
        self._text = text
        self._depth = depth
        self._value = value_of(holders, node, text)

    @cached_property
    def verdict(self) -> Applicability | None:
        """SAFE where something says it, REVIEW where the words beside it make it likely."""
        node = self._value.node
        if self._is_foreign(node):
            return None
        if self._value.is_settled or self._is_said(node):
            return Applicability.SAFE if self._is_of_torch(node) else Applicability.REVIEW
        return Applicability.REVIEW if is_likely(self._holders, self._value, self._text) else None

    def _is_of_torch(self, node: Node) -> bool:
        """Whether it is PyTorch's device, in a file that uses another library's devices, too."""
        if not self._holders.meets_others:
            return True
        call = call_around(self._holders, node)
        return call is not None and call.reference is not None and call.reference.meaning("torch") is not None

    def _is_said(self, node: Node) -> bool:
        check = getattr(self, f"_in_{node.parent.type}", None) if node.parent is not None else None
        return check is not None and bool(check(node.parent, node))

    def _is_foreign(self, node: Node) -> bool:
        """Whether another library takes it, or some of the names beside it are nothing that PyTorch knows."""
        call = call_around(self._holders, node)
        reference = call.reference if call is not None else None
        elsewhere = reference is not None and any(reference.meaning(name) for name in self._word.elsewhere)
        return elsewhere or self._holders.are_foreign(self._value.beside)

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
        return choices is not None and self._holders.are_foreign(literals(self._holders, choices.value))

    def _in_argument_list(self, parent: Node, node: Node) -> bool:
        call = self._holders.calls.get(parent.parent.id) if parent.parent is not None else None
        number = next((i for i, item in enumerate(call.arguments) if item.value == node), -1) if call else -1
        if call is None or number < 0:
            return False
        if self._is_expected(call, number) or self._holders.parameter_holds(call, number):
            return True
        method = call.method_name
        if method in _ASSERTIONS:
            return any(self._holders.holds(argument.value) for argument in call.arguments if argument.value != node)
        if method in _ATTRIBUTES and number == 2:
            return self._holders.names(call.arguments[1].value)
        return number == 1 and self._is_named(call)

    def _is_named(self, call: Call) -> bool:
        """Whether the first argument names what the second one holds: `parametrize("size, device", [(1, "cuda")])`."""
        names = self._module.string(call.arguments[0].value)
        columns = re.split(rb"\s*,\s*", names.text) if names is not None else []
        if len(columns) == self._value.columns > 1:
            return self._holders.is_called(columns[self._value.column])
        return self._holders.names(call.arguments[0].value)

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
        if method and call.method_name in _ASKED:
            return self._holders.holds(call.function.child_by_field_name("object"))
        return method and call.method_name in self._word.methods

    def _in_comparison_operator(self, parent: Node, node: Node) -> bool:
        return any(self._holders.holds(child) for child in parent.named_children if child != node)

    def _in_assignment(self, parent: Node, node: Node) -> bool:
        if parent.child_by_field_name("right") != node or self._is_typed_otherwise(parent):
            return False
        return self._is_held(parent.child_by_field_name("left"))

    def _in_named_expression(self, parent: Node, node: Node) -> bool:
        return self._is_held(parent.child_by_field_name("name")) and not self._is_typed_otherwise(parent)

    _in_default_parameter = _in_named_expression
    _in_typed_default_parameter = _in_named_expression

    def _is_typed_otherwise(self, typed: Node) -> bool:
        """`backend: Literal["nccl", "nvshmem"]`: some of these are nothing that PyTorch knows."""
        return self._holders.are_foreign(_QUOTED.findall(text_of(typed.child_by_field_name("type"))))

    def _in_for_statement(self, parent: Node, node: Node) -> bool:
        return self._in_assignment(parent, node)

    def _is_held(self, target: Node | None) -> bool:
        """Whether a variable holds it: by its name, or by what it is passed to."""
        if self._holders.holds(target):
            return True
        if target is None or target.type != "identifier" or self._depth == _DEEPEST_USE:
            return False
        return any(
            Place(self._holders, use, self._text, self._depth + 1).verdict is Applicability.SAFE
            for use in self._uses(target)
        )

    def _uses(self, target: Node) -> Iterator[Node]:
        """Where a variable is used; a parameter is one of the body of its function."""
        scopes, name = self._module.scopes, name_of(target)
        parameters = above(target, "parameters")
        function = parameters.parent if parameters is not None else None
        body = function.child_by_field_name("body") if function is not None else None
        scope = scopes.at(target.start_byte if body is None else body.start_byte)
        if len(scope.bindings.get(name, ())) == 1:
            yield from (use for use in scopes.uses(scope, name) if not scopes.is_bound(use))

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
        said = [literal for literal in map(self._module.string, map(_inner, parts_of(listed))) if literal is not None]
        if self._holders.are_foreign([literal.text for literal in said]):
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
