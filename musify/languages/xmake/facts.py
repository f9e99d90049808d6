"""What rules/build/xmake.toml says, ready to look up."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from musify.languages.build.known import Known, known_names
from musify.rules.shipped import shipped_tables

_FILE = "xmake.toml"


def known() -> Mapping[str, Known]:
    """Names of xmake's that are CUDA's."""
    return known_names(_FILE)


@cache
def settings(kind: str) -> frozenset[str]:
    """The settings whose strings are of one kind: `device` flags, `libraries` ..."""
    return frozenset(shipped_tables("build")[_FILE]["settings"][kind].split())


@cache
def rules() -> Mapping[bytes, bytes]:
    """Rules of xmake's, and the one that takes their place."""
    table = shipped_tables("build")[_FILE]["rules"]
    return {old.encode(): new.encode() for old, new in table.items()}
