"""Facts about MUSA's devices that checks look up: limits, sizes of types, features. Read on first use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from musify.model import Target
from musify.rules.loader import read_toml
from musify.rules.location import rules_folder


class Feature(NamedTuple):
    """A feature of CUDA that MUSA lacks or has in part: the names that show its use.

    `form`: what follows the name where the feature is used (call, template, type, any). `architectures` and
    `below_sdk` say where it is a matter; empty: everywhere.
    """

    finding: str
    names: tuple[str, ...]
    form: str
    architectures: tuple[str, ...]
    below_sdk: str


class EnumArgument(NamedTuple):
    """Functions (a regular expression for their names) and the arguments of theirs that are library enums."""

    functions: str
    positions: Mapping[int, str]


@lru_cache(maxsize=1)
def _limits() -> Mapping[str, Mapping[str, Any]]:
    return read_toml(rules_folder() / "device" / "limits.toml")


def limits(quantity: str, target: Target) -> dict[str, int]:
    """The limit of a quantity for each architecture of the target that has a known one."""
    table = _limits()[quantity]
    return {item: table[item] for item in target.architectures if item in table}


@lru_cache(maxsize=1)
def type_sizes() -> Mapping[str, int]:
    """Sizes of basic types in bytes."""
    sizes: Mapping[str, int] = read_toml(rules_folder() / "device" / "types.toml")["sizes"]
    return sizes


@lru_cache(maxsize=1)
def features() -> tuple[Feature, ...]:
    """The features that names alone give away."""
    return tuple(
        Feature(
            table["finding"], tuple(table["names"].split()), table["form"],
            tuple(table.get("architectures", ())), table.get("below_sdk", ""),
        )
        for table in read_toml(rules_folder() / "device" / "features.toml")["feature"]
    )  # fmt: skip


@lru_cache(maxsize=1)
def enum_arguments() -> tuple[EnumArgument, ...]:
    """Where library functions take enums whose values MUSA numbers otherwise."""
    return tuple(
        EnumArgument(table["functions"], {int(key): kind for key, kind in table["positions"].items()})
        for table in read_toml(rules_folder() / "device" / "enums.toml")["function"]
    )


@lru_cache(maxsize=1)
def enum_types() -> Mapping[str, str]:
    """Enum types whose values MUSA numbers otherwise, each with an example for a person to see."""
    types: Mapping[str, str] = read_toml(rules_folder() / "device" / "enums.toml")["types"]
    return types
