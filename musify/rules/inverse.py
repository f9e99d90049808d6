"""The rules turned round, from MUSA's names to CUDA's: made from the rules, so that there is no second table to keep.

The result has the form of the tables that it is made from, and everything that looks names up works on it as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from musify.model import Evidence
from musify.rules import loader
from musify.rules.book import RuleBook
from musify.rules.model import Action, Library, NameRule, Policy

_STRENGTH = {evidence: rank for rank, evidence in enumerate((Evidence.PROJECT, *Evidence))}
# Macros that carry versions and architectures: on the way back both are only compared, never carried over.
_NUMBERS = ("version_macros", "architecture_macros")
_KEPT_AS_THEY_ARE = ("tiers", "cuda_architectures", "musa_architectures")


class Forward(Protocol):
    """What is asked of the rules from CUDA to MUSA."""

    @property
    def libraries(self) -> list[Library]: ...  # noqa: D102  # see RuleBook

    def name(self, name: bytes) -> NameRule | None: ...  # noqa: D102

    def header(self, path: bytes) -> NameRule | None: ...  # noqa: D102

    def target_of(self, name: bytes) -> bytes: ...  # noqa: D102

    def all_names(self) -> Iterable[bytes]: ...  # noqa: D102

    def all_headers(self) -> Iterable[bytes]: ...  # noqa: D102


def inverted(tables: loader.Table, forward: Forward) -> loader.Table:
    """The tables of the way back. `several` holds, for a MUSA name of more than one CUDA name, all of those."""
    result = loader.empty_tables()
    result["libraries"] = [_library(table) for table in tables["libraries"]]
    result["groups"] = [*tables["groups"]]
    result["several"] = {}
    for key in _KEPT_AS_THEY_ARE:
        result[key] = tables[key]
    _names(result, tables, forward)
    _headers(result, tables, forward)
    for key in _NUMBERS:
        for name, library in tables[key].items():
            target = _converted(name.decode(), tables["libraries"][library]).encode()
            if target != name:
                result["version_macros"][target] = library
    result["own_words"] = {new: old for old, new in tables["own_words"].items()}
    return result


def _names(result: loader.Table, tables: loader.Table, forward: Forward) -> None:
    sources: dict[bytes, list[NameRule]] = defaultdict(list)
    for name in forward.all_names():
        rule = forward.name(name)
        if rule is None or rule.library.policy is Policy.KEEP or rule.action is Action.IDENTITY:
            continue
        if name in rule.library.one_way:
            continue
        target = forward.target_of(name)
        if target != name and target not in tables["names"]:  # a name that CUDA has too stays
            sources[target].append(rule)
    weak: dict[int, int] = {}
    libraries = RuleBook(result).libraries
    for target, rules in sources.items():
        chosen = _chosen(rules, lambda rule: rule.name in tables["renames"])
        result["names"][target] = _group(result, tables["names"][chosen.name], chosen, weak)
        if libraries[result["groups"][result["names"][target]][0]].by_convention(target) != chosen.name:
            result["renames"][target] = chosen.name
        if len(rules) > 1:
            result["several"][target] = [rule.name for rule in rules]


def _group(result: loader.Table, group: int, rule: NameRule, weak: dict[int, int]) -> int:
    """The group of a name; one that MUSA is said to lack is only inferred, where it is met all the same."""
    if rule.action is not Action.UNSUPPORTED:
        return group
    if group not in weak:
        library, kind, _, since = result["groups"][group]
        result["groups"].append((library, kind, Evidence.NONE.value, since))
        weak[group] = len(result["groups"]) - 1
    return weak[group]


def _headers(result: loader.Table, tables: loader.Table, forward: Forward) -> None:
    sources: dict[bytes, list[NameRule]] = defaultdict(list)
    for path in forward.all_headers():
        rule = forward.header(path)
        if rule is None or path in rule.library.one_way:
            continue
        if rule.action is Action.RENAME and rule.target not in tables["headers"]:
            sources[rule.target].append(rule)
    for target, rules in sources.items():
        chosen = _chosen(rules, lambda rule: False)
        result["headers"][target] = (chosen.name, tables["headers"][chosen.name][1])
        if len(rules) > 1:
            result["several"][target] = [rule.name for rule in rules]


def _chosen(rules: list[NameRule], is_exception: Callable[[NameRule], bool]) -> NameRule:
    """The CUDA name that a MUSA name goes back to: the user's, one of the convention, the best attested, the first."""
    return min(
        rules, key=lambda rule: (rule.evidence is not Evidence.PROJECT, is_exception(rule), _STRENGTH[rule.evidence])
    )


def _library(table: loader.Table) -> loader.Table:
    """A library turned round. What it says of MUSA's versions does not hold for CUDA's."""
    convention = [[new, old] for old, new in table.get("convention", ())]
    turned = {
        "id": table["id"], "name": table["target"], "target": table["name"], "policy": Policy.RENAME.value,
        "convention": convention,
        "inside": [[new, old] for old, new in table.get("inside", ())],
        "link": _turned({old: new for old, new in table.get("link", {}).items() if new}),
        "owner_map": _turned(table.get("owner_map", {})),
        "lookalike": " ".join(_lookalikes(table)),
        "owners": " ".join(_converted(owner, table) for owner in table.get("owners", "").split()),
    }  # fmt: skip
    if "needs" in table:
        turned["needs"] = f"{table['needs']} {table['target']}"
    return turned


def _turned(pairs: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for old, new in pairs.items():
        found.setdefault(new, old)  # the first of several counts
    return found


def _lookalikes(table: loader.Table) -> list[str]:
    """Beginnings of MUSA names. Where no name has a counterpart the name of the other library is all that is known."""
    if table["policy"] == Policy.KEEP.value:
        return [table["target"].lower()] if table["target"].isalnum() else []
    found = [_converted(prefix, table) for prefix in table.get("lookalike", "").split()]
    return [new for new, old in zip(found, table.get("lookalike", "").split(), strict=True) if new != old]


def _converted(name: str, table: loader.Table) -> str:
    for old, new in [*table.get("convention", ()), *table.get("inside", ())]:
        if name.startswith(old):
            return str(new + name[len(old) :])
    return name
