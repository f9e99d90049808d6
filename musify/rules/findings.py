"""The catalogue of findings: what each id means, in English and Chinese. Read only when something is reported."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from musify.model import Finding, MusifyError, Severity
from musify.rules.location import rules_folder
from musify.rules.shipped import shipped_tables

LANGUAGES = ("en", "zh")
_TEXTS = ("title", "message", "suggestion", "why")


class Example(NamedTuple):
    """A source text, what becomes of it, and the ids that are found in it. The tests run every one.

    `rules` is the text of a rule file of the user's, empty where there is none. `command` is what finds the ids where
    that is not a conversion (`header`). `file` names a build file; empty for source. `reverse`: from MUSA to CUDA.
    """

    before: str
    after: str
    findings: tuple[str, ...]
    sdk: str
    architectures: tuple[str, ...]
    rules: str
    command: str
    file: str
    reverse: bool


class FindingKind(NamedTuple):
    """What an id means. Texts by language; messages hold placeholders in braces."""

    id: str
    severity: Severity
    texts: Mapping[str, Mapping[str, str]]
    examples: tuple[Example, ...]

    def text(self, part: str, language: str = "en") -> str:
        """The `title`, `message`, `suggestion` or `why` in a language."""
        return self.texts[language][part]


@lru_cache(maxsize=1)
def catalogue() -> dict[str, FindingKind]:
    """All kinds of findings by id. Raises MusifyError where a file is bad."""
    kinds: dict[str, FindingKind] = {}
    for name, content in shipped_tables("findings").items():
        path = rules_folder() / "findings" / name
        for identifier, table in content.items():
            if identifier in kinds:
                raise MusifyError(f"{path}: finding {identifier} is defined twice")
            try:
                kinds[identifier] = _kind(identifier, table)
            except (KeyError, ValueError) as error:
                raise MusifyError(f"{path}: finding {identifier}: {error}") from error
    return kinds


def severity(finding: Finding) -> Severity:
    """How grave a finding is: its own severity, or that of its kind."""
    return finding.severity or catalogue()[finding.rule_id].severity


def message(finding: Finding, language: str = "en") -> str:
    """What the finding says; in a notebook it names the cell."""
    said = _filled(finding, "message", language)
    cell = finding.arguments.get("cell")
    return said if cell is None else said + (f"（单元格 {cell}）" if language == "zh" else f" (cell {cell})")


def suggestion(finding: Finding, language: str = "en") -> str:
    """What a person can do about the finding."""
    return _filled(finding, "suggestion", language)


class _Arguments(dict[str, str]):
    def __missing__(self, key: str) -> str:
        # A rule that gives only the English of an argument still reads well in Chinese.
        return self[key[:-3]] if key.endswith("_zh") and key[:-3] in self else ""


def _filled(finding: Finding, part: str, language: str) -> str:
    template = catalogue()[finding.rule_id].text(part, language)
    return template.format_map(_Arguments({"name": finding.name, **finding.arguments}))


def _kind(identifier: str, table: Mapping[str, object]) -> FindingKind:
    texts = {
        language: {part: str(table[part if language == "en" else f"{part}_zh"]) for part in _TEXTS}
        for language in LANGUAGES
    }
    examples = table.get("example", [])
    if not isinstance(examples, list):
        raise ValueError("write [[ID.example]], with two brackets")
    return FindingKind(identifier, Severity(table["severity"]), texts, tuple(_example(example) for example in examples))


def _example(table: Mapping[str, object]) -> Example:
    before = str(table["before"])
    found = table.get("findings", [])
    architectures = table.get("architectures", [])
    assert isinstance(found, list) and isinstance(architectures, list)
    return Example(
        before, str(table.get("after", before)), tuple(found), str(table.get("sdk", "")), tuple(architectures),
        str(table.get("rules", "")), str(table.get("command", "")), str(table.get("file", "")),
        bool(table.get("reverse", False)),
    )  # fmt: skip
