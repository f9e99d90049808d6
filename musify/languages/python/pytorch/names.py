"""Dotted names of PyTorch: in use, in import statements, and as text."""

from __future__ import annotations

import re
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

    from musify.languages.python.strings import StringLiteral

RENAME = "torch-name"
# Functions that take the dotted name of what they replace.
_REPLACERS = frozenset({"patch", "setattr", "delattr"})
_DOTTED = re.compile(rb"(?:\w+\.)*?torch\.(cuda(?:\.\w+)*)")
# What Tensor.type() gives.
_TENSOR_TYPE = re.compile(rb"torch\.(cuda)(?:\.sparse)?\.[A-Z]\w*Tensor")


def find_names(module: PythonModule) -> Iterator[Edit | Finding]:
    """Uses of torch's names, and imports of them."""
    for reference in module.references:
        for meaning in reference.meanings[:1]:
            if meaning.dotted.startswith("torch."):
                yield from _use(reference, meaning)
        through = _through_module(reference)
        if through is not None:
            yield from _use(reference, through)
    for statement in module.imports:
        yield from _import(statement)


def find_written_names(module: PythonModule) -> Iterator[Edit | Finding]:
    """Names in strings: of what a test replaces, and of the types of tensors."""
    for literal in module.strings:
        written = module.data[literal.span.start : literal.span.end]
        if b"torch.cuda." not in written:
            continue
        kind, match = _TENSOR_TYPE.fullmatch(literal.text), _DOTTED.fullmatch(literal.text)
        if kind is not None:
            yield from _written_edits(literal, kind.start(1), ["torch", "cuda"], facts.modules()[-1])
        elif match is not None and _is_replaced(module, literal):
            dotted = f"torch.{match.group(1).decode()}"
            renamed, stays = _renamed(dotted)
            if stays is not None:
                yield _stays(literal.span, stays)
            elif renamed is not None:
                yield from _written_edits(literal, match.start(1), dotted.split("."), renamed)


def _written_edits(literal: StringLiteral, start: int, parts: list[str], renamed: facts.Renamed) -> Iterator[Edit]:
    """Edits for the parts of a name in a string; the first after `torch` begins at `start` of its text."""
    for before, after in zip(parts[1:], renamed.musa.split(".")[1:], strict=False):
        place = literal.locate(start, start + len(before))
        if before != after and place is not None:
            yield Edit(place, after.encode(), RENAME, Applicability.SAFE, renamed.cuda, "torch", renamed.evidence)
        start += len(before) + 1


def _is_replaced(module: PythonModule, literal: StringLiteral) -> bool:
    listed = literal.node.parent
    function = listed.parent.child_by_field_name("function") if listed is not None and listed.parent else None
    name = (
        function.child_by_field_name("attribute") if function is not None and function.type == "attribute" else function
    )
    return name_of(name) in _REPLACERS


def _through_module(reference: Reference) -> Meaning | None:
    """`helper.torch.cuda`: torch as another module imports it."""
    if len(reference.parts) < 3:  # helper, torch and cuda
        return None
    names = [name_of(part) for part in reference.parts]
    for index in range(1, len(names) - 1):
        if names[index : index + 2] == ["torch", "cuda"]:
            return Meaning(".".join(names[index:]), 1 - index, True, True)
    return None


def _renamed(dotted: str) -> tuple[facts.Renamed | None, facts.Without | None]:
    """What becomes of a name, or why it stays; the longer entry wins."""
    renamed = _longest(facts.modules(), dotted)
    stays = next((item for item in facts.without() if _below(dotted, item.name)), None)
    if stays is not None and (renamed is None or len(renamed.cuda) <= len(stays.name)):
        return None, stays
    return renamed, None


def _use(reference: Reference, meaning: Meaning) -> Iterator[Edit | Finding]:
    renamed, stays = _renamed(meaning.dotted)
    if stays is not None:
        yield _stays(reference.span, stays)
    if renamed is None:
        return
    doubt = next((item for item in facts.unproven() if item[0].match(meaning.dotted)), None)
    if doubt is not None:
        yield Finding("MUS606", reference.span, meaning.dotted, {"why": doubt[1], "why_zh": doubt[2]})
    applicability = Applicability.SAFE if doubt is None else Applicability.REVIEW
    if meaning.dotted in facts.scales():
        why, why_zh = facts.scales()[meaning.dotted]
        yield Finding("MUS603", reference.span, meaning.dotted, {"why": why, "why_zh": why_zh})
    old, new = renamed.cuda.split("."), renamed.musa.split(".")
    for index, (before, after) in enumerate(zip(old, new, strict=True)):
        node = reference.component(meaning, index) if before != after else None
        if node is not None:
            yield _edit(node, after, renamed, applicability)


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


def _edit(node: Node, text: str, renamed: facts.Renamed, how: Applicability = Applicability.SAFE) -> Edit:
    return Edit(_span(node), text.encode(), RENAME, how, renamed.cuda, "torch", renamed.evidence)


def _longest(entries: tuple[facts.Renamed, ...], dotted: str) -> facts.Renamed | None:
    return next((item for item in entries if _below(dotted, item.cuda)), None)


def _below(dotted: str, prefix: str) -> bool:
    return f"{dotted}.".startswith(f"{prefix}.")


def _span(node: Node) -> Span:
    return Span(node.start_byte, node.end_byte)
