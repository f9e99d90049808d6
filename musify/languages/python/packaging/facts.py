"""What rules/build/python.toml says, ready to look up."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from musify.rules.shipped import shipped_tables


class Extension(NamedTuple):
    """PyTorch's module for extensions and MUSA's; names that go over to it, and names that stay.

    `renamed` has MUSA's name for each of CUDA's. `same` have one name in both modules. `neutral` belong to neither.
    """

    module: str
    musa: str
    renamed: Mapping[str, str]
    same: frozenset[str]
    neutral: frozenset[str]
    evidence: str

    def target(self, name: str) -> str:
        """What a name of PyTorch's module is called in MUSA's; empty where it has no counterpart there."""
        return self.renamed.get(name, name if name in self.same else "")


class FlagPlaces(NamedTuple):
    """Keys and keywords whose value is a list of flags, by whom it is for: device, host, libraries.

    `loaders` and `device_extensions` are the functions (full dotted names) that take flags for the device.
    """

    keys: Mapping[str, frozenset[bytes]]
    keywords: Mapping[str, frozenset[str]]
    loaders: tuple[str, ...]
    device_extensions: tuple[str, ...]


@cache
def extension() -> Extension:
    """The two modules for extensions."""
    table = shipped_tables("build")["python.toml"]["extension"]
    return Extension(
        table["module"],
        table["musa"],
        table["renamed"],
        frozenset(table["same"]["names"].split()),
        frozenset(table["neutral"]["names"].split()),
        table["evidence"],
    )


@cache
def keywords() -> Mapping[str, str]:
    """Keywords of the functions that build an extension at run time."""
    found: Mapping[str, str] = shipped_tables("build")["python.toml"]["keywords"]
    return found


@cache
def keys() -> Mapping[bytes, bytes]:
    """Keys of the flags of an extension."""
    table = shipped_tables("build")["python.toml"]["keys"]
    return {old.encode(): new.encode() for old, new in table.items()}


@cache
def flag_places() -> FlagPlaces:
    """Where flags stand."""
    table = shipped_tables("build")["python.toml"]["flags"]
    return FlagPlaces(
        {role: frozenset(words.encode().split()) for role, words in table["keys"].items()},
        {role: frozenset(words.split()) for role, words in table["keywords"].items()},
        tuple(table["loaders"].split()),
        tuple(table["device_extensions"].split()),
    )


@cache
def shell_functions() -> tuple[str, ...]:
    """Functions that hand their first argument to a shell, or can."""
    return tuple(shipped_tables("build")["python.toml"]["functions"]["shell"].split())


@cache
def capability_functions() -> tuple[str, ...]:
    """Functions that tell the compute capability of a device."""
    return tuple(shipped_tables("build")["python.toml"]["functions"]["capability"].split())
