"""Methods and attributes of tensors and modules: `x.cuda()`, `x.is_cuda`, and where a class defines them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.python.nodes import above, name_of, span_of
from musify.languages.python.pytorch import facts
from musify.model import Applicability, Edit

if TYPE_CHECKING:
    from tree_sitter import Node

    from musify.languages.python.module import PythonModule
    from musify.languages.python.references import Call

METHOD = "torch-method"
# Methods of these names take few arguments: device, non_blocking, memory_format.
_MOST_ARGUMENTS = 3
_ATTRIBUTES = frozenset({"getattr", "hasattr", "setattr", "delattr"})
# What a test asks of a method that it has replaced.
_ASKED = ("assert_", "call", "return_value", "side_effect")


def find_methods(module: PythonModule) -> Iterator[Edit]:
    """Edits for the methods and attributes, where what they are asked of is no module."""
    for call in module.calls:
        node = call.method
        if node is not None and name_of(node) == "cuda" and _is_method(call):
            yield _edit(node)
        elif call.method_name in _ATTRIBUTES:
            yield from _by_name(module, call)
    for attribute in module.of_type("attribute"):
        node = attribute.child_by_field_name("attribute")
        name = name_of(node)
        if node is not None and name == "is_cuda" and not _is_called(attribute):
            yield _edit(node)
        elif name.startswith(_ASKED):
            yield from _asked(attribute.child_by_field_name("object"))
    yield from _definitions(module)


def _is_method(call: Call) -> bool:
    is_attribute = call.function is not None and call.function.type == "attribute"
    of_module = call.reference is not None and bool(call.reference.meanings)
    return is_attribute and not of_module and len(call.arguments) <= _MOST_ARGUMENTS


def _by_name(module: PythonModule, call: Call) -> Iterator[Edit]:
    """`getattr(x, "is_cuda", False)`, `hasattr(torch, "cuda")`."""
    literal = module.string(call.arguments[1].value) if len(call.arguments) > 1 else None
    name = literal.text.decode("utf-8", "replace") if literal is not None else ""
    of_torch = "torch" in module.resolve(call.arguments[0].value) if name == "cuda" else name == "is_cuda"
    place = literal.locate(0, len(name)) if literal is not None and of_torch else None
    if place is not None:
        yield Edit(place, facts.methods()[name].encode(), METHOD, Applicability.SAFE, name, "torch", "documented")


def _asked(method: Node | None) -> Iterator[Edit]:
    """`model.cuda.assert_called_once()`."""
    if method is None or method.type != "attribute":
        return
    node = method.child_by_field_name("attribute")
    if node is not None and name_of(node) == "cuda" and name_of(method.child_by_field_name("object")) != "torch":
        yield _edit(node)


def _definitions(module: PythonModule) -> Iterator[Edit]:
    """What classes define under these names is found under the new ones, since every use is written anew."""
    for function in module.of_type("function_definition"):
        node = function.child_by_field_name("name")
        name, parent = name_of(node), function.parent
        is_property = (
            parent is not None and parent.type == "decorated_definition" and b"property" in _decorators(parent)
        )
        if node is not None and _is_in_class(function) and (name == "cuda" or (name == "is_cuda" and is_property)):
            yield _edit(node)
    for assignment in module.of_type("assignment"):
        node = assignment.child_by_field_name("left")
        if node is not None and node.type == "identifier" and name_of(node) == "is_cuda" and _is_in_class(assignment):
            yield _edit(node)


def _is_in_class(node: Node) -> bool:
    around = above(node, "class_definition", "function_definition", "lambda")
    return around is not None and around.type == "class_definition"


def _decorators(definition: Node) -> bytes:
    return b" ".join(child.text or b"" for child in definition.named_children if child.type == "decorator")


def _is_called(node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type == "call" and parent.child_by_field_name("function") == node


def _edit(node: Node) -> Edit:
    name = name_of(node)
    return Edit(span_of(node), facts.methods()[name].encode(), METHOD, Applicability.SAFE, name, "torch", "documented")
