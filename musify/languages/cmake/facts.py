"""What rules/build/cmake.toml says, ready to look up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from musify.model import Evidence
from musify.rules.loader import Table
from musify.rules.shipped import shipped_tables

FINDMUSA, CXX, LANGUAGE = FORMS = ("findmusa", "cxx", "language")
# What is true where the toolkit was found, in each form that asks for it.
FOUND = {FINDMUSA: b"MUSA_FOUND", CXX: b"MUSAToolkit_FOUND"}


class CMakeName(NamedTuple):
    """A name of CUDA's in CMake and MUSA's (empty: none is known). `own`: the converted project's own variable."""

    cuda: bytes
    musa: bytes
    evidence: Evidence
    own: bool
    is_command: bool = False


class Property(NamedTuple):
    """A property that is taken out, with the severity of the finding and why."""

    severity: str
    why: str
    why_zh: str


@cache
def names(kind: str, form: str) -> Mapping[bytes, CMakeName]:
    """The names of one kind (package, command, variable, target) under one form of --cmake, by CUDA's name."""
    found = {}
    for table in _tables()[kind]:
        if form in table.get("forms", form).split():
            for cuda, musa in table["map"].items():
                evidence = Evidence(table["evidence"])
                own = table.get("own", False)
                found[cuda.encode()] = CMakeName(cuda.encode(), musa.encode(), evidence, own, kind == "command")
    return found


@cache
def versions() -> frozenset[bytes]:
    """Variables whose value is a number on CUDA's scale."""
    return frozenset(_tables()["versions"]["variables"].encode().split())


@cache
def dropped_properties() -> Mapping[bytes, Property]:
    """Properties of targets and sources that are taken out."""
    return {
        name.encode(): Property(table["severity"], table["why"], table["why_zh"])
        for table in _tables()["property"]
        for name in table["names"].split()
    }


@cache
def architecture() -> re.Pattern[bytes]:
    """A GPU architecture as CMake and FindCUDA name them."""
    return re.compile(_tables()["architectures"]["pattern"].encode())


def _tables() -> Table:
    return shipped_tables("build")["cmake.toml"]
