"""Dotted names of PyTorch, in use and in import statements, and methods of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.python.imports import ImportStatement
from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import name_of
from musify.languages.python.pytorch import facts
from musify.languages.python.references import Meaning, Reference
from musify.model import Applicability, Edit, Finding, Span

if TYPE_CHECKING:
    from tree_sitter import Node

RENAME = "torch-name"
METHOD = "torch-method"
# Methods of these names take few arguments: device, non_blocking, memory_format.
_MOST_ARGUMENTS = 3


def find_names(module: PythonModule) -> Iterator[Edit | Finding]:
    """Uses of torch's names, and imports of them."""
    for reference in module.references:
        for meaning in reference.meanings[:1]:
            yield from _use(reference, meaning)
    for statement in module.imports:
        yield from _import(statement)


def find_methods(module: PythonModule) -> Iterator[Edit]:
    """`x.cuda()` and `x.is_cuda`, where x is no module and the class has no such method of the project's."""
    for call in module.calls:
        node = call.method
        if node is not None and name_of(node) == "cuda" and call.function is not None:
            is_method = call.function.type == "attribute" and not (call.reference and call.reference.meanings)
            if is_method and len(call.arguments) <= _MOST_ARGUMENTS:
                yield _method(node)
    for attribute in module.of_type("attribute"):
        node = attribute.child_by_field_name("attribute")
        if node is not None and name_of(node) == "is_cuda" and not _is_called(attribute):
            yield _method(node)


def _method(node: Node) -> Edit:
    name = name_of(node)
    return Edit(_span(node), facts.methods()[name].encode(), METHOD, Applicability.SAFE, name, "torch", "documented")


def _is_called(node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type == "call" and parent.child_by_field_name("function") == node


def _use(reference: Reference, meaning: Meaning) -> Iterator[Edit | Finding]:
    renamed = _longest(facts.modules(), meaning.dotted)
    stays = next((item for item in facts.without() if _below(meaning.dotted, item.name)), None)
    if stays is not None and (renamed is None or len(renamed.cuda) <= len(stays.name)):
        yield _stays(reference.span, stays)
        return
    if renamed is None:
        return
    if meaning.dotted in facts.scales():
        why, why_zh = facts.scales()[meaning.dotted]
        yield Finding("MUS603", reference.span, meaning.dotted, {"why": why, "why_zh": why_zh})
    old, new = renamed.cuda.split("."), renamed.musa.split(".")
    for index, (before, after) in enumerate(zip(old, new, strict=True)):
        node = reference.component(meaning, index) if before != after else None
        if node is not None:
            yield _edit(node, after, renamed)


def _import(statement: ImportStatement) -> Iterator[Edit | Finding]:
    """`from torch.cuda.amp import x` and `import torch.cuda`; `from torch import cuda`."""
    if statement.module_node is not None and _below(statement.module, "torch.cuda"):
        renamed = _longest(facts.imports(), statement.module)
        if renamed is not None:
            text = renamed.musa + statement.module[len(renamed.cuda) :]
            yield _edit(statement.module_node, text, renamed)
        else:
            yield from _imported_names(statement)
        return
    for item in statement.items:
        whole = item.name if not statement.module else f"{statement.module}.{item.name}"
        if not _below(whole, "torch.cuda"):
            continue
        if statement.module:
            yield _edit(item.name_node, "musa", facts.modules()[-1])
        elif item.alias:
            yield Finding("MUS604", _span(item.node), whole)
        else:  # `import torch.cuda` binds torch, and torch.musa is there once torch_musa is imported
            yield _edit(item.name_node, "torch", facts.modules()[-1])


def _imported_names(statement: ImportStatement) -> Iterator[Edit | Finding]:
    """`from torch.cuda import amp` names a module that can be imported; other names cannot."""
    whole = [_longest(facts.imports(), f"{statement.module}.{item.name}") for item in statement.items]
    parents = {item.musa.rpartition(".")[0] for item in whole if item is not None}
    if None not in whole and len(parents) == 1 and statement.module_node is not None:
        yield _edit(statement.module_node, parents.pop(), facts.imports()[-1])
    else:
        yield Finding("MUS604", _span(statement.node), statement.module)


def _stays(place: Span, item: facts.Without) -> Finding:
    arguments = {"why": item.why, "why_zh": item.why_zh, "instead": item.instead, "instead_zh": item.instead_zh}
    return Finding("MUS602", place, item.name, arguments)


def _edit(node: Node, text: str, renamed: facts.Renamed) -> Edit:
    return Edit(_span(node), text.encode(), RENAME, Applicability.SAFE, renamed.cuda, "torch", renamed.evidence)


def _longest(entries: tuple[facts.Renamed, ...], dotted: str) -> facts.Renamed | None:
    return next((item for item in entries if _below(dotted, item.cuda)), None)


def _below(dotted: str, prefix: str) -> bool:
    return f"{dotted}.".startswith(f"{prefix}.")


def _span(node: Node) -> Span:
    return Span(node.start_byte, node.end_byte)
