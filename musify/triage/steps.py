"""What can be done about a cause of errors: one step, in words and, where it is a rule, as that rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from musify.rules.shipped import shipped_tables


class Overlay(NamedTuple):
    """A rule that the project can have: `table` is absent, changed, rename or header. `active`: it needs no thought."""

    table: str
    cuda: str
    musa: str
    why: str
    active: bool


@dataclass(frozen=True)
class Step:
    """One thing to do. `arguments` fill the text of the step in rules/triage/steps.toml."""

    id: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    overlay: Overlay | None = None

    @property
    def sort(self) -> str:
        """overlay, spelling, source, suppress, build or hand."""
        return str(_texts()[self.id]["sort"])

    def text(self, language: str = "en") -> str:
        """What to do, in words."""
        template = _texts()[self.id]["text" if language == "en" else f"text_{language}"]
        return str(template).format_map(_Arguments(self.arguments))


class _Arguments(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return self[key[:-3]] if key.endswith("_zh") and key[:-3] in self else ""


def _texts() -> Mapping[str, Mapping[str, str]]:
    return shipped_tables("triage")["steps.toml"]
