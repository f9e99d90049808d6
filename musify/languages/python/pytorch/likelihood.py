"""What the words beside a literal make likely, where nothing says it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from musify.languages.python.nodes import above
from musify.languages.python.pytorch import facts
from musify.languages.python.pytorch.values import Value, call_around, given

if TYPE_CHECKING:
    from tree_sitter import Node

    from musify.languages.python.pytorch.holders import Holders

# `use_cuda`, `args.gpu`: what is asked before a device is chosen. `x.is_cuda` is asked for other reasons, too.
_CHOOSES = re.compile(rb"(?i)\b(?!is_cuda\b)\w*(?:cuda|gpu)")

_NUMBERS = re.compile(r"torch\.(?:b?float(?:\d+\w*)?|u?int\d+|half|double|short|int|long|bool)")


def is_likely(holders: Holders, value: Value, text: bytes) -> bool:
    """Whether a literal that says `text` is a device (or backend) by its form or by what stands beside it."""
    word = holders.word
    if text.endswith(b":") and value.node.type == "binary_operator":  # "cuda:" + str(i)
        return True
    others = [other for other in value.beside if other != text]
    if others and not holders.is_build and all(other in word.others for other in others):
        return True
    if value.other in word.others and _CHOOSES.search(value.condition) is not None:
        return True
    return _is_with_backend(holders, value) or _is_compared(holders, value) or _is_passed(holders, value)


def _is_with_backend(holders: Holders, value: Value) -> bool:
    """`("cuda", "GPU", "nccl")`: a device and a backend in one list or call."""
    call = call_around(holders, value.node)
    beside = {*value.beside, *(given(holders, call) if call is not None else ())}
    return beside >= {word.cuda for word in facts.words()}


def _is_compared(holders: Holders, value: Value) -> bool:
    """`source.type == "cuda"`."""
    parent = value.node.parent
    if holders.word.is_closed or parent is None or parent.type != "comparison_operator":
        return False
    return any(holders.has_type(child) for child in parent.named_children if child != value.node)


def _is_passed(holders: Holders, value: Value) -> bool:
    """`check_device("cuda")`, `matches(x.device, "cuda")`: an argument by its place."""
    parent = value.node.parent
    call = call_around(holders, value.node) if parent is not None and parent.type == "argument_list" else None
    if call is None or above(value.node, "call") != call.node:
        return False
    if any(word.is_name(call.method_name) for word in facts.words()):
        return True
    others = [argument.value for argument in call.arguments if argument.value != value.node]
    return any(holders.holds(other) or _is_type(holders, other) for other in others)


def _is_type(holders: Holders, node: Node) -> bool:
    """Whether an expression is a type of numbers: what takes one takes a device, too."""
    return any(_NUMBERS.fullmatch(name) for name in holders.module.resolve(node))
