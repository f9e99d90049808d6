"""The smaller tables that ship with musify, as they stand in their files, through the cache."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from musify.rules import cache
from musify.rules.loader import Table, read_toml
from musify.rules.location import rules_folder


@lru_cache(maxsize=4)
def shipped_tables(part: str) -> dict[str, Table]:
    """All files of the folder `part` of the rules (findings, device), by file name. Raises MusifyError."""

    def read(folder: Path) -> dict[str, Table]:
        return {path.name: read_toml(path) for path in sorted((folder / part).glob("*.toml"))}

    return cache.load(rules_folder(), (part,), read)
