"""C, C++ and CUDA sources: the one place that says which passes run over them, and in what order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from musify import checks
from musify.languages.cuda.declarations import Declaration, Ownership
from musify.languages.cuda.includes import IncludeConverter
from musify.languages.cuda.macros import MacroConverter
from musify.languages.cuda.names import RENAME, NameConverter
from musify.languages.cuda.strings import StringConverter
from musify.languages.cuda.unit import Unit
from musify.model import Applicability, Edit, Finding, Span
from musify.rules.model import Action

SUFFIXES = frozenset(
    ".cu .cuh .c .cc .cpp .cxx .h .hh .hpp .hxx .inl .inc .ipp .tcc .c++ .h++".split()
)
# What can make a file interesting at all; a file without any of these is done.
INTERESTING = re.compile(rb"[cC][uU]|[nN][vVpP]|[nN][cC]{2}|__|asm|thrust|warpSize|MUSIFY_EXCL|musify:")


def convert(unit: Unit) -> tuple[list[Edit], list[Finding]]:
    """All edits and findings of one source. Edits do not overlap."""
    if not INTERESTING.search(unit.data):
        return [], []
    edits: list[Edit] = []
    findings: list[Finding] = []
    for result in _passes(unit):
        if isinstance(result, Edit):
            edits.append(result)
        else:
            findings.append(result)
    return edits, findings


def _passes(unit: Unit) -> Iterator[Edit | Finding]:
    yield from IncludeConverter(unit).run()
    ownership = Ownership(unit)
    yield from _declared(ownership.declarations)
    yield from NameConverter(unit, ownership).run()
    yield from MacroConverter(unit).run()
    yield from StringConverter(unit, lambda data: _convert_fragment(unit, data)).run()
    if unit.settings.comments:
        yield from _comments(unit)
    for check in checks.all_checks():
        yield from check(unit)


def _convert_fragment(unit: Unit, data: bytes) -> tuple[list[Edit], list[Finding]]:
    return convert(Unit(data, unit.book, unit.settings, unit.surroundings))


def _declared(declarations: Iterable[Declaration]) -> Iterator[Finding]:
    for item in declarations:
        if not item.conditional or not item.exported or item.path or item.mirrors_api:
            continue
        ported = Ownership.is_ported(item)
        arguments = {
            "where": "in some configurations only",
            "where_zh": "仅部分配置可见",
            "outcome": "it was renamed together with its uses" if ported else "its uses elsewhere were renamed",
            "outcome_zh": "已与使用处一并改名" if ported else "其他位置的使用处已改名",
        }
        yield Finding("MUS106", item.place, item.name.decode(), arguments)


def _comments(unit: Unit) -> Iterator[Edit]:
    for comment in unit.outline.comments():
        for match in unit.book.words.finditer(unit.data, comment.start, comment.end):
            rule = unit.book.name(match.group())
            if rule is not None and rule.action is Action.RENAME:
                yield Edit(
                    Span(*match.span()), rule.target, RENAME, Applicability.SAFE,
                    rule.name.decode(), rule.library.id, rule.evidence.value,
                )  # fmt: skip
