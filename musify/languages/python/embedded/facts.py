"""What rules/build/embedded.toml says, ready to look up."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from musify.rules.shipped import shipped_tables


class SourceArgument(NamedTuple):
    """An argument that holds source: its keyword, and its 0-based position (None: it is only given by keyword)."""

    keyword: str
    position: int | None


class Method(NamedTuple):
    """A method, in a file that imports `module`, whose argument at `position` matters."""

    module: str
    name: str
    position: int


class Part(NamedTuple):
    """A dotted name without counterpart, with all below it: what it is, and what to do instead."""

    name: str
    arguments: Mapping[str, str]


class Asked(NamedTuple):
    """A value of a keyword by which functions (full dotted names) ask for a package that only runs on CUDA."""

    functions: tuple[str, ...]
    keyword: str
    value: bytes
    part: Part


class Backend(NamedTuple):
    """How Triton calls CUDA and MUSA, and the classes (full dotted names) that take it first."""

    cuda: bytes
    musa: bytes
    evidence: str
    targets: tuple[str, ...]


def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = shipped_tables("build")["embedded.toml"]
    return table


@cache
def source_functions() -> Mapping[str, tuple[SourceArgument, ...]]:
    """Functions that take source, by full dotted name."""
    found = {}
    for line in _table()["source"]["functions"].split("\n"):
        name, *arguments = line.split() or ("",)
        pairs = (argument.split(":") for argument in arguments)
        if name:
            found[name] = tuple(SourceArgument(word, None if at == "-" else int(at)) for word, at in pairs)
    return found


@cache
def source_methods() -> tuple[Method, ...]:
    """Methods that take source."""
    lines = (line.split() for line in _table()["source"]["methods"].split("\n") if line)
    return tuple(Method(module, name, int(position)) for module, name, position in lines)


@cache
def openers(kind: str) -> tuple[str, ...]:
    """Functions that open a library; `kind`: by a name of "files", or by the "names" of libraries alone."""
    return tuple(_table()["library"][kind].split())


@cache
def opening_methods() -> tuple[Method, ...]:
    """Methods that open a library."""
    module, name = _table()["library"]["methods"].split()
    return (Method(module, name, 0),)


@cache
def packages() -> tuple[Part, ...]:
    """Packages that only run on CUDA, the longest names first."""
    return _parts(_table()["package"])


@cache
def asked() -> tuple[Asked, ...]:
    """Arguments that ask for packages."""
    by_name = {part.name: part for part in packages()}
    return tuple(
        Asked(tuple(table["functions"].split()), table["keyword"], table["value"].encode(), by_name[table["package"]])
        for table in _table()["asked"]
    )


@cache
def triton_parts() -> tuple[Part, ...]:
    """Parts of Triton that speak of CUDA, the longest names first."""
    return _parts(_table()["triton"]["part"])


@cache
def triton_backend() -> Backend:
    """What Triton calls its backends."""
    table = _table()["triton"]
    return Backend(table["cuda"].encode(), table["musa"].encode(), table["evidence"], tuple(table["targets"].split()))


def _parts(tables: list[Mapping[str, Any]]) -> tuple[Part, ...]:
    keys = ("what", "what_zh", "instead", "instead_zh")
    found = [Part(name, {key: table[key] for key in keys}) for table in tables for name in table["names"].split()]
    return tuple(sorted(found, key=lambda item: -len(item.name)))
