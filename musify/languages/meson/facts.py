"""What rules/build/meson.toml says, ready to look up."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from musify.languages.build.known import Known, known_names
from musify.rules.shipped import shipped_tables

_FILE = "meson.toml"


def known() -> Mapping[str, Known]:
    """Names of Meson's that are CUDA's."""
    return known_names(_FILE)


@cache
def device_keywords() -> frozenset[bytes]:
    """Keyword arguments with flags for nvcc."""
    return frozenset(shipped_tables("build")[_FILE]["keywords"]["device"].encode().split())
