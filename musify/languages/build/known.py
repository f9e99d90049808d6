"""What build systems take from CUDA that MUSA has nothing like: names with what to do instead, from rules/build."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from musify.model import Finding, Severity, Span
from musify.rules.shipped import shipped_tables

_TEXTS = ("what", "what_zh", "instead", "instead_zh")


class Known(NamedTuple):
    """A name of a build system: the finding that it has, and the arguments of that."""

    finding: str
    arguments: Mapping[str, str]
    severity: Severity | None

    def at(self, span: Span, name: str) -> Finding:
        """The finding at a place where the name stands."""
        return Finding(self.finding, span, name, self.arguments, self.severity)


@cache
def known_names(file: str) -> Mapping[str, Known]:
    """The names of a file of rules/build (`bazel.toml`), from its `[[known]]` tables."""
    return {
        name: Known(
            table.get("finding", "MUS551"),
            {key: table[key] for key in _TEXTS if key in table},
            Severity(table["severity"]) if "severity" in table else None,
        )
        for table in shipped_tables("build")[file]["known"]
        for name in table["names"].split()
    }
