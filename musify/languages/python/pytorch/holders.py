"""Which expressions of a file hold a device (or a backend), by what they are called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from musify.languages.python.module import unwrapped
from musify.languages.python.nodes import above, name_of, parts_of
from musify.languages.python.pytorch import facts
from musify.languages.python.references import chain_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from musify.languages.python.module import PythonModule
    from musify.languages.python.pytorch.facts import Word
    from musify.languages.python.references import Call

_LOOKUPS = frozenset({"get", "pop", "setdefault", "getenv", "getattr"})
# What gives a part of a text, or the same text in another form.
_SAME_TEXT = frozenset({"split", "rsplit", "partition", "lower", "strip", "casefold"})
_LOOPS = frozenset({"for_statement", "for_in_clause"})
_PLAIN_WORD = re.compile(rb"[a-z][a-z0-9_]*")


class Holders:
    """What holds `word` in one file. Made once a file and word.

    `literals` is what the literals in lists and calls say, by the id of the node, as far as it was asked for.
    """

    def __init__(self, module: PythonModule, word: Word) -> None:
        self.module = module
        self.word = word
        self.literals: dict[int, tuple[bytes, ...]] = {}
        self._followed: set[int] = set()

    @cached_property
    def is_build(self) -> bool:
        """Whether the file builds extensions, where the word may as well name a folder or a suffix."""
        return imports_any(self.module, self.word.builders)

    @cached_property
    def calls(self) -> Mapping[int, Call]:
        """The calls of the file, by the id of their node."""
        return {call.node.id: call for call in self.module.calls}

    def are_foreign(self, texts: Iterable[bytes]) -> bool:
        """Whether some of these words are nothing that PyTorch knows: then the names are the project's own."""
        if not self.word.is_closed:
            return False
        known = {word.cuda for word in facts.words()} | {word.musa for word in facts.words()} | self.word.others
        return any(_PLAIN_WORD.fullmatch(text) is not None and text not in known for text in texts)

    def is_name(self, name: str, place: Node) -> bool:
        """Whether something of this name holds the word here."""
        return self.word.is_name(name) and not self._is_own(name, place)

    def holds(self, node: Node | None) -> bool:
        """Whether an expression is a variable, attribute or item that holds the word, by its name."""
        node = unwrapped(node)
        if node is None:
            return False
        if node.type == "subscript":
            return self._item_holds(node)
        if node.type == "call":
            return self._call_holds(node)
        if node.type not in ("attribute", "identifier"):
            return False
        name = name_of(node.child_by_field_name("attribute") if node.type == "attribute" else node)
        if name == "type" and node.type == "attribute":
            return self.holds(node.child_by_field_name("object"))
        if name == "backend" and not chain_of(node):
            return False
        return self.is_name(name, node) or (node.type == "identifier" and self._is_item(node))

    def _is_item(self, node: Node) -> bool:
        """Whether a name goes through something that holds the word: `for d in devices`."""
        for binding in self.module.scopes.lookup(node):
            loop = binding.node.parent
            if loop is not None and loop.type in _LOOPS and loop.id not in self._followed:
                self._followed.add(loop.id)  # `for a in b` and `for b in a` lead back to each other
                source = loop.child_by_field_name("right")
                found = source is not None and source.type != "call" and self.holds(source)
                self._followed.discard(loop.id)
                return found
        return False

    def has_type(self, node: Node | None) -> bool:
        """Whether an expression is some `x.type`: a device, as a rule, where it is compared with one."""
        node = unwrapped(node)
        return (
            node is not None and node.type == "attribute" and name_of(node.child_by_field_name("attribute")) == "type"
        )

    def names(self, node: Node | None) -> bool:
        """Whether a key or option is called like the word: `"device"`, `"--map-location"`."""
        literal = self.module.string(node)
        if literal is None:
            return False
        return any(map(self.is_called, re.split(rb"[,\s]+", literal.text)))

    def is_called(self, text: bytes) -> bool:
        """Whether a text is a name of the word: `device`, `--map-location`, `tools.utils.device_type`."""
        name = text.decode("utf-8", "replace").lstrip("-").rpartition(".")[2]
        return not self._imports_other and self.word.is_name(name)

    def first_argument_names(self, call: Node) -> bool:
        """Whether one of the first two arguments is such a key or option."""
        arguments = call.child_by_field_name("arguments")
        values = parts_of(arguments)[:2] if arguments is not None else []
        return any(self.names(value) for value in values if value.type in ("string", "concatenated_string"))

    def parameter_holds(self, call: Call, number: int) -> bool:
        """Whether every function of this name in the file takes the word as its argument `number`."""
        functions = self._functions.get(call.method_name, ())
        return bool(functions) and all(self._parameter_holds(item, call, number) for item in functions)

    def _parameter_holds(self, function: Node, call: Call, number: int) -> bool:
        listed = function.child_by_field_name("parameters")
        parameters = [_parameter_name(item) for item in parts_of(listed)] if listed is not None else []
        if parameters[:1] in (["self"], ["cls"]):
            number += 1
        return number < len(parameters) and self.word.is_name(parameters[number])

    @cached_property
    def _functions(self) -> Mapping[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for node in self.module.of_type("function_definition"):
            name, class_body = (
                name_of(node.child_by_field_name("name")),
                above(node, "class_definition", "function_definition"),
            )
            if name == "__init__" and class_body is not None:  # called by the name of the class
                name = name_of(class_body.child_by_field_name("name"))
            found.setdefault(name, []).append(node)
        return found

    def _item_holds(self, node: Node) -> bool:
        """`config["device"]`, `devices[0]`, `device[:4]`, `device.split(":")[0]`."""
        if any(self.names(key) for key in node.children_by_field_name("subscript")):
            return True
        keys = node.children_by_field_name("subscript")
        return all(key.type in ("integer", "slice") for key in keys) and self.holds(node.child_by_field_name("value"))

    def _call_holds(self, node: Node) -> bool:
        """`str(device)`, `device.lower()`, `get_device()`, `options.get("device")`."""
        call = self.calls.get(node.id)
        if call is None or call.function is None:
            return False
        name = call.method_name
        if name in _LOOKUPS and self.first_argument_names(node):
            return True
        if name in _SAME_TEXT and self.holds(call.function.child_by_field_name("object")):
            return True
        return self.is_name(name, node) or any(self.holds(argument.value) for argument in call.arguments)

    def _is_own(self, name: str, place: Node) -> bool:
        """Whether the same name is compared with words that PyTorch does not know, in the same function."""
        if not self.word.is_closed:
            return False
        return self._imports_other or (self._scope(place), name) in self._own

    def _scope(self, place: Node) -> int:
        """Where the scope of a name begins; a parameter belongs to the body of its function."""
        parameters = place if place.type == "parameters" else above(place, "parameters")
        body = parameters.parent.child_by_field_name("body") if parameters is not None and parameters.parent else None
        return self.module.scopes.at(place.start_byte if body is None else body.start_byte).start

    @cached_property
    def meets_others(self) -> bool:
        """Whether the file uses a library that has the same, so that a name alone does not tell whose it is."""
        return imports_any(self.module, self.word.alike)

    @cached_property
    def _imports_other(self) -> bool:
        """Whether the file uses another library whose names for this are the same."""
        return self.word.is_closed and self.meets_others

    @cached_property
    def _own(self) -> set[tuple[int, str]]:
        """Names of the project's own enumerations, with the scopes that compare them."""
        found = set()
        for comparison in self.module.of_type("comparison_operator"):
            texts = [literal.text for literal in map(self.module.string, parts_of(comparison)) if literal is not None]
            if self.are_foreign(texts):
                scope = self._scope(comparison)
                found |= {(scope, name_of(part).rpartition(".")[2]) for part in parts_of(comparison)}
        return found


def imports_any(module: PythonModule, packages: Iterable[str]) -> bool:
    """Whether a file imports one of these packages or modules."""
    names = [name for item in module.imports for name in (item.module, *(one.target for one in item.items))]
    return any(f"{name}.".startswith(f"{package}.") for name in names for package in packages)


def _parameter_name(parameter: Node) -> str:
    named = parameter.child_by_field_name("name") or parameter
    if named.type == "typed_parameter" and named.named_children:
        named = named.named_children[0]
    return name_of(named)
