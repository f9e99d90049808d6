"""Dispatch keys in torch.library: `Library("ops", "IMPL", "CUDA")`, `impl(library, "scan", "CUDA")`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from musify.model import Applicability, Edit, Finding
from musify.rules.shipped import shipped_tables

if TYPE_CHECKING:
    from musify.languages.python.module import PythonModule
    from musify.languages.python.references import Argument, Call
    from musify.languages.python.strings import StringLiteral

DISPATCH_KEY = "torch-dispatch-key"
_LIBRARY = "torch.library.Library"


@cache
def _facts() -> Mapping[str, Any]:
    table: Mapping[str, Any] = shipped_tables("torch")["python.toml"]["dispatch_key"]
    return table


@cache
def _counterparts() -> Mapping[bytes, bytes]:
    table = shipped_tables("torch")["devices.toml"]["counterparts"]
    return {cuda.encode(): musa.encode() for cuda, musa in table.items()}


def find_dispatch_keys(module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits for keys that have a counterpart, findings for the others."""
    for call in module.calls:
        argument = _key_of(module, call)
        literal = module.string(argument.value) if argument is not None else None
        if literal is not None and b"CUDA" in literal.text:
            yield _result(literal)


def _key_of(module: PythonModule, call: Call) -> Argument | None:
    for line in _facts()["calls"]:
        name, keyword, position = line.split()
        if call.calls(name):
            return call.argument(keyword, int(position))
    for line in _facts()["methods"]:
        name, keyword, position = line.split()
        if call.method_name == name and _is_of_library(module, call):
            return call.argument(keyword, int(position))
    return None


def _is_of_library(module: PythonModule, call: Call) -> bool:
    """Whether a method is that of a Library, as far as its variable is assigned in the file."""
    holder = call.function.child_by_field_name("object") if call.function is not None else None
    value = module.value(holder) if holder is not None else None
    return value is not None and any(item.node == value and item.calls(_LIBRARY) for item in module.calls)


def _result(literal: StringLiteral) -> Edit | Finding:
    name = literal.text.decode("utf-8", "replace")
    place, target = literal.locate(0, len(literal.text)), _counterparts().get(literal.text)
    if place is None or target is None:
        return Finding("MUS601", literal.span, name)
    return Edit(place, target, DISPATCH_KEY, Applicability.SAFE, name, "torch", "documented")
