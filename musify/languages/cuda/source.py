"""C, C++ and CUDA sources: the one place that says which passes run over them, and in what order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from musify import checks
from musify.languages.cuda import way_back
from musify.languages.cuda.declarations import Declaration, unlisted_declarations
from musify.languages.cuda.embedded import Holds, carried_over
from musify.languages.cuda.includes import IncludeConverter
from musify.languages.cuda.macros import MacroConverter
from musify.languages.cuda.names import NameConverter, rename_edit
from musify.languages.cuda.ownership import Ownership
from musify.languages.cuda.references import Scope
from musify.languages.cuda.resolution import Resolution
from musify.languages.cuda.strings import StringConverter
from musify.languages.cuda.unit import Unit
from musify.languages.surroundings import Settings, Surroundings
from musify.model import Applicability, Edit, Finding, Severity
from musify.rules.book import RuleBook
from musify.rules.model import Action
from musify.source.embedding import EmbeddedText
from musify.source.outline import OpaqueKind
from musify.source.words import Hits

SUFFIXES = frozenset(
    ".cu .cuh .c .cc .cpp .cxx .h .hh .hpp .hxx .inl .inc .ipp .tcc .tpp .txx .ixx .cppm .c++ .h++".split()
)


@dataclass
class SourceConversion:
    """Edits that do not overlap, findings, the CUDA-looking names that the source declares, the API names it pastes."""

    edits: list[Edit]
    findings: list[Finding]
    declared: set[bytes]
    pasted: set[bytes]


def look(data: bytes, book: RuleBook) -> Hits:
    """The words and marks in `data` that make it worth a closer look; neither: it is no business of ours."""
    return book.words(checks.all_triggers() | way_back.TRIGGERS).find(data)


def convert(unit: Unit) -> SourceConversion:
    """All edits and findings of one source. Findings of unknown names are for the caller to weigh against the run."""
    edits: list[Edit] = []
    findings: list[Finding] = []
    macros = MacroConverter(unit)
    for result in _passes(unit, macros):
        if isinstance(result, Edit):
            edits.append(result)
        else:
            findings.append(result)
    if unit.settings.reverse:
        edits, findings = way_back.settled(unit, edits, findings)
    return SourceConversion(edits, findings, unlisted_declarations(unit), macros.pasted)


def convert_string(
    text: EmbeddedText,
    holds: Holds,
    book: RuleBook,
    settings: Settings,
    surroundings: Surroundings,
    *,
    shown: bytes | None = None,
) -> Iterator[Edit | Finding]:
    """Edits and findings of source that stands in a string, at their places in the file around it.

    `holds` says whether the string can hold new text as it is. `shown`: what the converter sees, where that differs
    from the text (same length).
    """
    data = text.text if shown is None else shown
    result = convert(Unit(data, book, settings, surroundings, hits=look(data, book)))
    findings = (item for item in result.findings if item.name.encode() not in result.declared)
    yield from carried_over(text, holds, result.edits, findings)


def _passes(unit: Unit, macros: MacroConverter) -> Iterator[Edit | Finding]:
    yield from IncludeConverter(unit).run()
    ownership = Ownership(unit)
    resolution = Resolution(unit)
    yield from _declared(item for item in ownership.declarations if not _is_of_api(resolution, item))
    yield from NameConverter(unit, ownership, resolution).run()
    yield from macros.run()
    yield from StringConverter(unit, partial(_string_of, unit)).run()
    if unit.settings.comments:
        yield from _comments(unit)
    if unit.settings.reverse and not unit.settings.names_only:
        yield from way_back.checked(unit)
    for check in checks.all_checks() if not (unit.settings.names_only or unit.settings.reverse) else ():
        if not check.triggers or check.triggers & unit.marks:
            yield from check.run(unit)


def _string_of(unit: Unit, text: EmbeddedText, holds: Holds) -> Iterator[Edit | Finding]:
    return convert_string(text, holds, unit.book, unit.settings, unit.surroundings)


def _is_of_api(resolution: Resolution, item: Declaration) -> bool:
    """Whether what looks like a declaration is a use of the API to a compiler."""
    verdict = resolution.of(item.name, item.place, Scope.QUALIFIED)
    return verdict is not None and verdict.of_api


def _declared(declarations: Iterable[Declaration]) -> Iterator[Finding]:
    for item in declarations:
        if not item.exported or item.path or item.mirrors_api:
            continue
        if Ownership.is_ported(item):
            outcome = ("it was renamed together with its uses", "已与使用处一并改名")
        elif item.conditional:
            outcome = ("it stays, and uses elsewhere were renamed", "该声明保持原样，其他位置的使用处已改名")
        else:
            outcome = (
                "it stays, as do its uses where this file is always included",
                "该声明及始终包含本文件之处的使用均保持原样",
            )
        arguments = {
            "where": "for some configurations only" if item.conditional else "for every configuration",
            "where_zh": "仅部分配置可见" if item.conditional else "所有配置可见",
            "outcome": outcome[0],
            "outcome_zh": outcome[1],
        }
        severity = None if item.conditional else Severity.NOTE
        yield Finding("MUS106", item.place, item.name.decode(), arguments, severity)


def _comments(unit: Unit) -> Iterator[Edit]:
    for word in unit.words_elsewhere:
        opaque = unit.outline.opaque_at(word.start)
        if opaque is not None and opaque.kind is OpaqueKind.COMMENT:
            rule = unit.book.name(unit.text(word))
            if rule is not None and rule.action is Action.RENAME:
                yield rename_edit(rule, word, Applicability.SAFE)
