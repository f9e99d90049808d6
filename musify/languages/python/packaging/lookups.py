"""Literals that are keys: of a dictionary, of the environment, of anything that is looked into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from musify.languages.build.facts import named
from musify.languages.python.nodes import name_of, text_of
from musify.languages.python.strings import StringLiteral
from musify.source.words import TextFinder

if TYPE_CHECKING:
    from tree_sitter import Node

    from musify.languages.python.module import PythonModule

_LOOKUPS = ("get", "pop", "setdefault")
# How code calls the environment, or a copy of it.
_ENVIRONMENT = re.compile(rb"(?i)(?:environ|(?:\A|[._])env(?:s|_?vars?|ironment)?)\]?\Z")


class Holder(NamedTuple):
    """What a literal is a key of: a dictionary, or an expression that is looked into."""

    node: Node
    of_environment: bool


def holder_of(literal: StringLiteral) -> Holder | None:
    """What a literal is a key of; None where it is none."""
    node, parent = literal.node, literal.node.parent
    if parent is None:
        return None
    held: Node | None = None
    if parent.type == "pair" and parent.child_by_field_name("key") == node:
        return Holder(parent.parent, False) if parent.parent is not None else None
    if parent.type == "subscript" and parent.child_by_field_name("subscript") == node:
        held = parent.child_by_field_name("value")
    elif parent.type == "comparison_operator" and parent.named_children[0] == node:
        inside = any(child.type in ("in", "not in") for child in parent.children)
        held = parent.named_children[-1] if inside else None
    elif parent.type == "argument_list" and parent.named_children[0] == node and parent.parent is not None:
        held = _looked_into(parent.parent)
    return Holder(held, _ENVIRONMENT.search(text_of(held)) is not None) if held is not None else None


def own_keys(module: PythonModule) -> Iterator[StringLiteral]:
    """Literals with names of environment variables that are keys of the project's own in this file.

    A name that the file looks up in something else than the environment is the project's: it keeps that name wherever
    it is not looked up in the environment. So does one in text that is looked for in other text: what a program prints.
    """
    if not _finder().starts(module.data):
        return
    mentions = [literal for literal in module.strings if _variable().search(module.data, *literal.span)]
    own = set()
    for literal in mentions:
        holder = holder_of(literal)
        if holder is not None and not holder.of_environment and holder.node.type != "dictionary":
            own.add(literal.text)
    for literal in mentions:
        holder = holder_of(literal)
        environment = (holder is not None and holder.of_environment) or _is_asked_for(literal.node)
        is_text = holder is not None and b" " in literal.text
        if not environment and (is_text or any(name in own for name in _variable().findall(literal.text))):
            yield literal


def _looked_into(call: Node) -> Node | None:
    """`x` in `x.get("key")`."""
    function = call.child_by_field_name("function")
    if function is None or function.type != "attribute":
        return None
    return (
        function.child_by_field_name("object")
        if name_of(function.child_by_field_name("attribute")) in _LOOKUPS
        else None
    )


def _is_asked_for(node: Node) -> bool:
    """`os.getenv("NAME")`, and functions of the project's own that look into the environment."""
    parent = node.parent
    call = parent.parent if parent is not None and parent.type == "argument_list" else None
    return call is not None and b"env" in text_of(call.child_by_field_name("function")).lower()


@cache
def _finder() -> TextFinder:
    """Finds the names that `_variable` finds, also inside longer ones: quick enough for every file."""
    return TextFinder([*named("variable")])


@cache
def _variable() -> re.Pattern[bytes]:
    names = sorted(named("variable"), key=len, reverse=True)
    return re.compile(rb"(?<!\w)(?:" + b"|".join(map(re.escape, names)) + rb")(?!\w)")
