"""Strings that name a device (`"cuda:0"`) or a backend of torch.distributed (`"nccl"`), and no other strings.

Where a string stands decides: an argument that is a device, a comparison with one, a variable, key or option of such a
name. What stands elsewhere is text, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.python.module import PythonModule, unwrapped
from musify.languages.python.nodes import name_of
from musify.languages.python.pytorch import facts
from musify.languages.python.references import chain_of
from musify.languages.python.strings import StringLiteral
from musify.model import Applicability, Edit, Finding

if TYPE_CHECKING:
    from tree_sitter import Node

DEVICE_STRING = "torch-device-string"
_INDEX = rb"(?::(?:\d+|\{[^{}]*\}|%[ds]))?"
# `cuda:0` and f"cuda:{rank}" are hardly ever anything but devices, wherever they stand.
_WITH_INDEX = re.compile(rb"cuda:(?:\d+|\{[^{}]*\}|%[ds])")
# Several devices with a backend each, as init_process_group takes them.
_BACKENDS = re.compile(rb"[a-z]+:[a-z]+(?:,[a-z]+:[a-z]+)*")
_CONTAINERS = ("list", "tuple", "set", "expression_list", "pattern_list")
_THROUGH = ("parenthesized_expression", "conditional_expression", "boolean_operator", *_CONTAINERS)
_LOOKUPS = ("get", "pop", "setdefault", "getenv", "getattr")
_PREFIX_TESTS = ("startswith", "endswith", "find", "count")


def find_strings(module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits for every string that names a device or a backend."""
    for literal in module.strings:
        for word in facts.words():
            if not _fits(literal.text, word):
                continue
            if _Place(module, literal, word).holds():
                yield from _edits(literal, word, Applicability.SAFE)
            elif _WITH_INDEX.fullmatch(literal.text):
                yield from _edits(literal, word, Applicability.REVIEW)
                yield Finding("MUS605", literal.span, literal.text.decode("utf-8", "replace"))


def _fits(text: bytes, word: facts.Word) -> bool:
    if re.fullmatch(re.escape(word.cuda) + _INDEX, text):
        return True
    return word.cuda in text and _BACKENDS.fullmatch(text) is not None


def _edits(literal: StringLiteral, word: facts.Word, applicability: Applicability) -> Iterator[Edit]:
    """Edits for the word; in a list of devices with their backends, for those of both kinds."""
    words = facts.words() if _BACKENDS.fullmatch(literal.text) else (word,)
    for item in words:
        for match in re.finditer(rb"\b" + re.escape(item.cuda) + rb"\b", literal.text):
            place = literal.locate(*match.span())
            if place is not None:
                name = item.cuda.decode()
                yield Edit(place, item.musa, DEVICE_STRING, applicability, name, "torch", "documented")


class _Place:
    """Where a literal stands, and whether something there says that it is a device (or backend)."""

    def __init__(self, module: PythonModule, literal: StringLiteral, word: facts.Word) -> None:
        self._module = module
        self._word = word
        self._node = literal.node
        self._through: list[Node] = []

    def holds(self) -> bool:
        node = self._node
        parent = node.parent
        while parent is not None and parent.type in _THROUGH:
            if parent.type == "conditional_expression" and self._asks_for_cuda(parent, node):
                return True
            node, parent = parent, parent.parent
        if parent is None:
            return False
        check = getattr(self, f"_in_{parent.type}", None)
        return bool(check(parent, node)) if check is not None else False

    def _asks_for_cuda(self, conditional: Node, branch: Node) -> bool:
        """`"cuda" if torch.cuda.is_available() else "cpu"` needs no name beside it."""
        parts = [child for child in conditional.named_children if child.type != "comment"]
        condition = parts[1] if len(parts) == 3 and branch != parts[1] else None
        return condition is not None and b"is_available" in (condition.text or b"")

    def _in_keyword_argument(self, parent: Node, node: Node) -> bool:
        name = name_of(parent.child_by_field_name("name"))
        if name in self._word.keywords or self._word.is_name(name):
            return True
        call = parent.parent.parent if parent.parent is not None else None
        return name in ("default", "choices", "const") and call is not None and self._first_argument_names(call)

    def _in_argument_list(self, parent: Node, node: Node) -> bool:
        call = next((item for item in self._module.calls if item.node == parent.parent), None)
        if call is None:
            return False
        number = next((i for i, item in enumerate(call.arguments) if item.value == node), -1)
        for name, expected in self._word.calls.items():
            if call.calls(name) and number == expected.position:
                return True
        method = call.method_name
        if number == 0 and method in self._word.methods and call.function is not None:
            return call.function.type == "attribute"
        if number == 0 and method in _PREFIX_TESTS and call.function is not None:
            return self._is_device(call.function.child_by_field_name("object"))
        if number == 1 and (method in _LOOKUPS or method == "parametrize"):
            return self._first_argument_names(call.node)
        return False

    def _in_comparison_operator(self, parent: Node, node: Node) -> bool:
        return any(self._is_device(child) for child in parent.named_children if child != node)

    def _in_assignment(self, parent: Node, node: Node) -> bool:
        return parent.child_by_field_name("right") == node and self._is_device(parent.child_by_field_name("left"))

    def _in_named_expression(self, parent: Node, node: Node) -> bool:
        return self._is_device(parent.child_by_field_name("name"))

    def _in_default_parameter(self, parent: Node, node: Node) -> bool:
        return self._is_device(parent.child_by_field_name("name"))

    _in_typed_default_parameter = _in_default_parameter

    def _in_for_statement(self, parent: Node, node: Node) -> bool:
        return parent.child_by_field_name("right") == node and self._is_device(parent.child_by_field_name("left"))

    def _in_pair(self, parent: Node, node: Node) -> bool:
        return parent.child_by_field_name("value") == node and self._names(parent.child_by_field_name("key"))

    def _in_return_statement(self, parent: Node, node: Node) -> bool:
        function: Node | None = parent
        while function is not None and function.type not in ("function_definition", "lambda"):
            function = function.parent
        return function is not None and self._word.is_name(name_of(function.child_by_field_name("name")))

    def _is_device(self, node: Node | None) -> bool:
        """Whether an expression is a variable, attribute or item that holds a device, by its name."""
        node = unwrapped(node)
        if node is None:
            return False
        if node.type == "subscript":
            return self._names(node.child_by_field_name("subscript"))
        if node.type == "call":  # str(device), device_of(x).type
            arguments = node.child_by_field_name("arguments")
            return arguments is not None and any(self._is_device(child) for child in arguments.named_children)
        if node.type not in ("attribute", "identifier"):
            return False
        name = name_of(node.child_by_field_name("attribute") if node.type == "attribute" else node)
        if name == "type" and node.type == "attribute":
            return self._is_device(node.child_by_field_name("object"))
        if name == "backend" and not chain_of(node):
            return False
        return self._word.is_name(name)

    def _names(self, node: Node | None) -> bool:
        """Whether a key or option is called like a device: `"device"`, `"--map-location"`."""
        literal = self._module.string(node)
        if literal is None:
            return False
        names = re.split(rb"[,\s]+", literal.text)
        return any(self._word.is_name(name.decode("utf-8", "replace").lstrip("-")) for name in names)

    def _first_argument_names(self, call: Node) -> bool:
        arguments = call.child_by_field_name("arguments")
        values = [child for child in arguments.named_children if child.type != "comment"] if arguments else []
        return any(self._names(value) for value in values[:2] if value.type in ("string", "concatenated_string"))
