"""What rules/build/notebook.toml says, ready to look up."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from musify.rules.shipped import shipped_tables


@cache
def cell_kinds() -> Mapping[str, str]:
    """What a cell is (python, shell, script, file, cuda, prose), by the magic that it begins with."""
    table: Mapping[str, str] = shipped_tables("build")["notebook.toml"]["cells"]
    return {name: kind for kind, names in table.items() for name in names.split()}


@cache
def python_lines() -> frozenset[str]:
    """Magics of one line that a statement of Python follows."""
    return frozenset(shipped_tables("build")["notebook.toml"]["lines"]["python"].split())


@cache
def cuda_magic() -> Mapping[str, str]:
    """What a finding says of magics that compile CUDA."""
    table: Mapping[str, str] = shipped_tables("build")["notebook.toml"]["cuda"]
    return {key: table[key] for key in ("what", "what_zh")}
