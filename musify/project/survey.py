"""The first look at all files of a run: what each declares, includes and pastes, so that the others can know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from musify.languages.cuda.declarations import Ownership, listed_declarations, unlisted_declarations
from musify.languages.cuda.macros import pasting_macros
from musify.languages.cuda.source import INTERESTING
from musify.languages.cuda.unit import Unit
from musify.languages.surroundings import IncludeTarget, OwnName, PastingMacro, Surroundings
from musify.project.layout import Layout
from musify.rules.book import RuleBook

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*[<"]([^>"\n]+)[>"]', re.M)
_NAMESPACE = re.compile(rb"^[ \t]*(?:inline[ \t]+)?namespace[ \t]+([A-Za-z_]\w*)(?:::\w+)*[ \t\r\n]*\{", re.M)


@dataclass(frozen=True)
class FileSurvey:
    """What one file tells the others. `includes`: paths, and whether only some configurations include them."""

    includes: tuple[tuple[bytes, bool], ...] = ()
    declared: frozenset[bytes] = frozenset()
    own: frozenset[OwnName] = frozenset()
    macros: Mapping[bytes, PastingMacro] = field(default_factory=dict)
    namespaces: frozenset[bytes] = frozenset()


def survey_source(data: bytes, book: RuleBook) -> FileSurvey:
    """Look at one source."""
    if not INTERESTING.search(data):
        return FileSurvey(tuple((path, False) for path in dict.fromkeys(_INCLUDE.findall(data))))
    unit = Unit(data, book)
    includes = tuple(_includes(unit).items())
    own = frozenset(
        OwnName(item.name, item.path, item.kind, item.conditional)
        for item in listed_declarations(unit)
        if item.exported and not Ownership.is_ported(item)
    )
    spaces = frozenset(name for name in _NAMESPACE.findall(data) if name in book.namespace_heads)
    return FileSurvey(includes, frozenset(unlisted_declarations(unit)), own, pasting_macros(unit.outline), spaces)


def _includes(unit: Unit) -> dict[bytes, bool]:
    """Included paths; one that is included both ways counts as included always."""
    found: dict[bytes, bool] = {}
    for match in _INCLUDE.finditer(unit.data):
        conditional = unit.conditionals.is_conditional(match.start())
        found[match.group(1)] = found.get(match.group(1), True) and conditional
    return found


class ProjectIndex:
    """The surveys of all files together."""

    def __init__(self, surveys: Mapping[str, FileSurvey], layout: Layout, book: RuleBook) -> None:
        self._surveys = surveys
        self._layout = layout
        self._book = book
        self._declared = frozenset[bytes]().union(*(survey.declared for survey in surveys.values()))
        self._namespaces = frozenset[bytes]().union(*(survey.namespaces for survey in surveys.values()))
        self._macros: dict[bytes, PastingMacro] = {}
        for survey in surveys.values():
            self._macros.update(survey.macros)
        self._includes = {path: self._resolve(path, survey.includes) for path, survey in surveys.items()}
        self._owners = {path for path, survey in surveys.items() if survey.own}

    def surroundings(self, path: str) -> Surroundings:
        """What the file at `path` needs to know."""
        return Surroundings(
            path,
            self._declared,
            self._own_names(path),
            self._macros,
            self._namespaces,
            self._includes.get(path, {}),
        )

    def _resolve(self, path: str, includes: Iterable[tuple[bytes, bool]]) -> dict[bytes, IncludeTarget]:
        found = {}
        for written, _ in includes:
            is_toolkit = self._book.header(written) is not None
            target = self._layout.resolve(path, written.decode("utf-8", "surrogateescape"), is_toolkit=is_toolkit)
            if target is not None:
                found[written] = target
        return found

    def _own_names(self, path: str) -> frozenset[OwnName]:
        """The names that files declare which `path` includes, directly or not."""
        if not self._owners:
            return frozenset()
        always: dict[str, bool] = {path: True}
        pending = [path]
        while pending:
            includer = pending.pop()
            targets = self._includes.get(includer, {})
            survey = self._surveys.get(includer)
            for written, conditional in survey.includes if survey else ():
                target = targets.get(written)
                reached = always[includer] and not conditional
                if target is not None and always.get(target.path) is not True and always.get(target.path) != reached:
                    always[target.path] = reached
                    pending.append(target.path)
        return frozenset(
            name if is_always else name._replace(conditional=True)
            for reached, is_always in always.items()
            if reached != path and reached in self._owners
            for name in self._surveys[reached].own
        )
