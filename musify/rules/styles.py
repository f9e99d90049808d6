"""Where ports of PyTorch extensions differ: the choices of rules/torch/styles.toml, put over the compiled rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from musify.model import Evidence, MusifyError
from musify.rules.loader import Table
from musify.rules.shipped import shipped_tables


class Style(NamedTuple):
    """One choice: what it is about, what holds without it, and the names and headers that it gives other targets.

    Names in `attested` have been seen; the others have the evidence of the choice.
    """

    name: str
    about: str
    default: str
    default_zh: str
    summary: str
    summary_zh: str
    evidence: Evidence
    source: str
    names: dict[str, str]
    headers: dict[str, str]
    attested: frozenset[str]


def styles() -> tuple[Style, ...]:
    """All choices, in the order of the file."""
    return tuple(
        Style(
            table["name"], table["about"], table["default"], table["default_zh"], table["summary"], table["summary_zh"],
            Evidence(table["evidence"]), table["source"], table.get("names", {}), table.get("headers", {}),
            frozenset(table.get("attested", "").split()),
        )
        for table in shipped_tables("torch")["styles.toml"]["style"]
    )  # fmt: skip


def chosen(names: Sequence[str]) -> list[Style]:
    """The choices of these names. Raises MusifyError for one that there is not, and for two about one thing."""
    known = {style.name: style for style in styles()}
    taken: dict[str, Style] = {}
    for name in names:
        if name not in known:
            raise MusifyError(f"torch style {name!r}: there is no such style; known are {', '.join(sorted(known))}")
        other = taken.setdefault(known[name].about, known[name])
        if other.name != name:
            message = f"torch styles {other.name} and {name} exclude each other: both are about the {other.about}"
            raise MusifyError(message)
    return list(taken.values())


def apply(tables: Table, style: Style) -> None:
    """Give the names and headers of one choice their other targets in compiled rules."""
    for name, target in style.names.items():
        encoded = name.encode()
        tables["renames"][encoded] = target.encode()
        tables["names"][encoded] = _group(tables, tables["names"][encoded], style, name)
    for path, target in style.headers.items():
        encoded = path.encode()
        group = _group(tables, tables["headers"][encoded][1], style, path)
        tables["headers"][encoded] = (target.encode(), group)


def _group(tables: Table, group: int, style: Style, name: str) -> int:
    """A group like another one, with the evidence that the choice has for a name."""
    library, kind, _, since = tables["groups"][group]
    evidence = Evidence.CODE if name in style.attested else style.evidence
    tables["groups"].append((library, kind, evidence.value, since))
    return len(tables["groups"]) - 1
