"""Triton: MUSA has a build of it under the same name; what its code says of the target differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.python.embedded.facts import triton_backend, triton_parts
from musify.languages.python.embedded.packages import imported_parts, part_of
from musify.languages.python.module import PythonModule, unwrapped
from musify.languages.python.nodes import name_of, span_of, text_of
from musify.languages.python.references import Call
from musify.languages.python.strings import StringLiteral
from musify.model import Applicability, Edit, Finding, Span

if TYPE_CHECKING:
    from tree_sitter import Node

TARGET = "triton-target"


def find_triton(module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits for the names of the backend, findings for targets written out and for parts that speak of CUDA."""
    if b"triton" not in module.data:
        return
    yield from _parts(module)
    for call in module.calls:
        if call.calls(*triton_backend().targets):
            yield from _target(module, call)
    for comparison in module.of_type("comparison_operator"):
        sides = comparison.named_children
        if any(_is_backend(module, side) for side in sides):
            for literal in (found for side in sides for found in _strings(module, side)):
                yield from _edit(literal)


def _parts(module: PythonModule) -> Iterator[Finding]:
    for node, name, part in imported_parts(module, triton_parts()):
        yield Finding("MUS621", span_of(node), name, part.arguments)
    for reference in module.references:
        known = next((found for m in reference.meanings if (found := part_of(triton_parts(), m.dotted))), None)
        if known is not None:
            yield Finding("MUS621", reference.span, reference.written, known.arguments)


def _target(module: PythonModule, call: Call) -> Iterator[Edit | Finding]:
    """`GPUTarget("cuda", 80, 32)`: the name is carried over, the numbers are another card's."""
    backend = call.argument("backend", 0)
    literal = module.string(backend.value) if backend is not None else None
    if literal is None or literal.text != triton_backend().cuda:
        return
    yield from _edit(literal)
    name = text_of(call.function).decode("utf-8", "replace")
    yield Finding("MUS622", Span(call.span.start, call.span.end), name)


def _strings(module: PythonModule, node: Node) -> Iterator[StringLiteral]:
    node = unwrapped(node) or node
    for part in node.named_children if node.type in ("tuple", "list", "set") else [node]:
        literal = module.string(part)
        if literal is not None and literal.text == triton_backend().cuda:
            yield literal


def _is_backend(module: PythonModule, node: Node) -> bool:
    """Whether an expression is the backend of Triton's current target: `....get_current_target().backend`."""
    value = module.value(node)
    if value is None or value.type != "attribute" or name_of(value.child_by_field_name("attribute")) != "backend":
        return False
    target = module.value(value.child_by_field_name("object"))
    return target is not None and target.type == "call" and b"get_current_target" in text_of(target)


def _edit(literal: StringLiteral) -> Iterator[Edit]:
    backend = triton_backend()
    place = literal.locate(0, len(literal.text))
    if place is not None:
        yield Edit(place, backend.musa, TARGET, Applicability.SAFE, backend.cuda.decode(), "", backend.evidence)
