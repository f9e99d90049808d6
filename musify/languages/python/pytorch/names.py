"""Dotted names of PyTorch, in use and as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import name_of
from musify.languages.python.pytorch import facts
from musify.languages.python.pytorch.meaning import RENAME, below, doubt_of, edit_of, renaming_of
from musify.languages.python.references import Meaning, Reference
from musify.model import Applicability, Edit, Finding, Span

if TYPE_CHECKING:
    from musify.languages.python.strings import StringLiteral

# Functions that take the dotted name of what they replace.
_REPLACERS = frozenset({"patch", "setattr", "delattr"})
_DOTTED = re.compile(rb"(?:\w+\.)*?torch\.(cuda(?:\.\w+)*)")
# What Tensor.type() gives.
_TENSOR_TYPE = re.compile(rb"torch\.(cuda)(?:\.sparse)?\.[A-Z]\w*Tensor")


def find_names(module: PythonModule) -> Iterator[Edit | Finding]:
    """Uses of torch's names."""
    for reference in module.references:
        for meaning in reference.meanings[:1]:
            if meaning.dotted.startswith("torch."):
                yield from _use(module, reference, meaning)
        through = _through_module(reference)
        if through is not None:
            yield from _use(module, reference, through)


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
            renamed, stays = renaming_of(dotted)
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


def _use(module: PythonModule, reference: Reference, meaning: Meaning) -> Iterator[Edit | Finding]:
    renamed, stays = renaming_of(meaning.dotted)
    if stays is not None:
        yield _stays(reference.span, stays)
    if renamed is None:
        return
    doubt = doubt_of(meaning.dotted)
    if doubt is not None:
        yield Finding("MUS606", reference.span, meaning.dotted, doubt)
    if meaning.dotted in facts.scales():
        why, why_zh = facts.scales()[meaning.dotted]
        yield Finding("MUS603", reference.span, meaning.dotted, {"why": why, "why_zh": why_zh})
    how = Applicability.SAFE if doubt is None else Applicability.REVIEW
    old, new = renamed.cuda.split("."), renamed.musa.split(".")
    for index, (before, after) in enumerate(zip(old, new, strict=True)):
        node = reference.component(meaning, index) if before != after else None
        if node is not None and index >= meaning.first:
            yield edit_of(node, after, renamed, how)
        elif before != after and index < meaning.first:
            yield from _imported(module, reference, meaning, index, renamed)


def _imported(
    module: PythonModule, reference: Reference, meaning: Meaning, index: int, renamed: facts.Renamed
) -> Iterator[Edit]:
    """The part of a name that its import stands for: `cuda` after `from torch import cuda`, `cudnn` of its own import.

    Names imported from torch.cuda are written anew with their import (see imported.py).
    """
    node = reference.component(meaning, index)
    if meaning.first == 2 and node is not None:  # `cuda` itself
        yield edit_of(node, renamed.musa.split(".")[index], renamed)
    elif node is not None and not below(renamed.cuda, "torch.cuda") and module.scopes.module.bindings.get("torch"):
        yield edit_of(reference.parts[0], ".".join(renamed.musa.split(".")[: meaning.first]), renamed)


def _stays(place: Span, item: facts.Without) -> Finding:
    arguments = {"why": item.why, "why_zh": item.why_zh, "instead": item.instead, "instead_zh": item.instead_zh}
    return Finding("MUS602", place, item.name, arguments)
