"""Facts about MUSA's devices that checks look up: limits, sizes of types, features. Read on first use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from musify.model import Target
from musify.rules.shipped import shipped_tables


class Feature(NamedTuple):
    """A feature of CUDA that MUSA lacks or has in part: the names that show its use.

    `form`: what follows the name where the feature is used (call, template, any). `per`: file or function.
    """

    finding: str
    names: tuple[str, ...]
    form: str
    per: str


class EnumArguments(NamedTuple):
    """Functions (a regular expression for their names) and which arguments of theirs are library enums."""

    functions: str
    positions: Mapping[int, str]


class ChangedArguments(NamedTuple):
    """Functions that take other arguments on MUSA under the same name."""

    names: tuple[str, ...]
    why: str
    why_zh: str
    source: str


@lru_cache(maxsize=1)
def _limits() -> Mapping[str, Mapping[str, Any]]:
    table: Mapping[str, Mapping[str, Any]] = shipped_tables("device")["limits.toml"]
    return table


def limits(quantity: str, target: Target) -> dict[str, int]:
    """The limit of a quantity for each architecture of the target that has a known one."""
    table = _limits()[quantity]
    return {item: table[item] for item in target.architectures if item in table}


@lru_cache(maxsize=1)
def type_sizes() -> Mapping[str, int]:
    """Sizes of basic types in bytes."""
    sizes: Mapping[str, int] = shipped_tables("device")["types.toml"]["sizes"]
    return sizes


@lru_cache(maxsize=1)
def features() -> tuple[Feature, ...]:
    """The features that names alone give away."""
    return tuple(
        Feature(table["finding"], tuple(table["names"].split()), table["form"], table["per"])
        for table in shipped_tables("device")["features.toml"]["feature"]
    )


@lru_cache(maxsize=1)
def _libraries() -> Mapping[str, Any]:
    table: Mapping[str, Any] = shipped_tables("device")["libraries.toml"]
    return table


@lru_cache(maxsize=1)
def enum_arguments() -> tuple[EnumArguments, ...]:
    """Where library functions take enums whose values MUSA numbers otherwise."""
    return tuple(
        EnumArguments(table["functions"], {int(key): kind for key, kind in table["positions"].items()})
        for table in _libraries()["enum_argument"]
    )


def enum_types() -> Mapping[str, Mapping[str, str]]:
    """Enum types whose values MUSA numbers otherwise: for each the CUDA values with their names."""
    types: Mapping[str, Mapping[str, str]] = _libraries()["enum"]
    return types


@lru_cache(maxsize=1)
def changed_arguments() -> Mapping[str, ChangedArguments]:
    """Functions that take other arguments on MUSA, by name."""
    groups = [
        ChangedArguments(tuple(table["names"].split()), table["why"], table["why_zh"], table["source"])
        for table in _libraries()["changed"]
    ]
    return {name: group for group in groups for name in group.names}
