"""The first look at all files of a run: what each includes, and what headers declare that others must know."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial

from musify.languages.cuda.declarations import EXPORTED_AGAIN, is_tracked, listed_declarations
from musify.languages.cuda.macros import pasting_macros
from musify.languages.cuda.ownership import Ownership
from musify.languages.cuda.unit import Unit
from musify.languages.surroundings import IncludeTarget, OwnName, PastingMacro, Surroundings
from musify.model import Span
from musify.project.definitions import Definitions
from musify.project.layout import Layout
from musify.rules.book import RuleBook
from musify.rules.model import Library
from musify.source.conditions import Conditionals
from musify.source.outline import Outline

_INCLUDE = re.compile(rb'#[ \t]*(?:include_next|include|import)[ \t]*[<"]([^>"\n]+)[>"]')
# Paths that are named without being included there: in __has_include, and as the whole body of a macro.
# Each pattern begins with a literal text, so that the search skips quickly to the next one.
_ASKED_FOR = re.compile(rb'__has_include(?:_next)?[ \t]*\([ \t]*[<"]([^>"\n]+\.\w+)[>"]')
_DEFINED = re.compile(rb'#[ \t]*define[ \t]+\w+[ \t]*[<"]([^>"\n]+\.\w+)[>"]')
_NAMESPACE = re.compile(rb"namespace[ \t]+([A-Za-z_]\w*)(?:::\w+)*[ \t\r\n]*\{")
# Bytes beside a name that rule a declaration of it out. A newline or comment may hide anything.
_NOT_DECLARED_IF_FOLLOWED_BY = (b"_", b"<", b">", b"*", b"&", b".", b"-")
_NOT_DECLARED_IF_PRECEDED_BY = (b"(", b"=", b";", b"!", b"?", b"|", b"<", b".")
_SOURCES = frozenset({".cu", ".mu", ".c", ".cc", ".cpp", ".cxx", ".c++"})

Read = Callable[[str], bytes]


@dataclass(frozen=True)
class FileSurvey:
    """What one file tells the others: paths it includes, names and pasting macros that it declares."""

    includes: tuple[bytes, ...] = ()
    own: frozenset[OwnName] = frozenset()
    macros: Mapping[bytes, PastingMacro] = field(default_factory=dict)
    namespaces: frozenset[bytes] = frozenset()

    @property
    def tells_others(self) -> bool:
        """Whether files that include this one must know of it."""
        return bool(self.own or self.macros)


def survey_source(path: str, data: bytes, book: RuleBook) -> FileSurvey:
    """Look at one source. What it declares is asked of headers only: other files are seldom included."""
    mentions = (path for pattern in (_INCLUDE, _ASKED_FOR, _DEFINED) for path in pattern.findall(data))
    includes = tuple(dict.fromkeys(mentions))
    spaces = frozenset(name for name in _NAMESPACE.findall(data) if name in book.namespace_heads)
    if posixpath.splitext(path)[1].lower() in _SOURCES:
        return FileSurvey(includes, namespaces=spaces)
    return FileSurvey(includes, *declared_for_others(data, book), namespaces=spaces)


def declared_for_others(data: bytes, book: RuleBook) -> tuple[frozenset[OwnName], Mapping[bytes, PastingMacro]]:
    """The listed names that a file declares at file, namespace or class scope, and its pasting macros."""
    hits = book.words().find(data)
    if b"##" not in data and not any(_may_be_declared(data, word, book) for word in hits.words):
        return frozenset(), {}
    unit = Unit(data, book, hits=hits)
    own = frozenset(
        OwnName(item.name, item.path, item.kind, item.conditional)
        for item in listed_declarations(unit)
        if item.exported and (not Ownership.is_ported(item) or (item.kind == EXPORTED_AGAIN and item.path))
    )
    return own, pasting_macros(unit.outline)


def _may_be_declared(data: bytes, word: Span, book: RuleBook) -> bool:
    """A quick first test, on the bytes beside a listed name; whatever passes is looked at properly."""
    if not is_tracked(book, data[word.start : word.end]):
        return False
    before = data[max(0, word.start - 80) : word.start].rstrip(b" \t")
    if b"define" in before:  # anything may follow the name of a macro
        return True
    after = data[word.end : word.end + 80].lstrip()
    if after[:1] in _NOT_DECLARED_IF_FOLLOWED_BY or (after[:1].isalpha() and not after.startswith(b"final")):
        return False
    return before[-1:] not in _NOT_DECLARED_IF_PRECEDED_BY


def included_files(path: str, includes: Iterable[bytes], layout: Layout, book: RuleBook) -> dict[bytes, IncludeTarget]:
    """The files of the run that the file at `path` includes, by how it writes their paths."""
    found = {}
    for written in includes:
        is_toolkit = book.header(written) is not None
        target = layout.resolve(path, written.decode("utf-8", "surrogateescape"), is_toolkit=is_toolkit)
        if target is not None:
            found[written] = target
    return found


class ProjectIndex:
    """The surveys of all files together. `read` gives the bytes of a file of the run."""

    def __init__(self, surveys: Mapping[str, FileSurvey], layout: Layout, book: RuleBook, read: Read) -> None:
        self._surveys = dict(surveys)
        self._book = book
        self._read = read
        self._namespaces = frozenset[bytes]().union(*(survey.namespaces for survey in surveys.values()))
        self._includes = {path: included_files(path, survey.includes, layout, book) for path, survey in surveys.items()}
        self._includers = self._turned_round()
        self._survey_included_sources()
        self._tellers = {path for path, survey in self._surveys.items() if survey.tells_others}
        self._leading = self._leading_to(self._tellers)
        self._including = {
            library.id: self._including_headers_of(library) for library in book.libraries if library.needs
        }
        self._make_caches()

    def surroundings(self, path: str) -> Surroundings:
        """What the file at `path` needs to know."""
        own, macros = self._told(path)
        constants = partial(self._constants, path)
        libraries = frozenset(name for name, paths in self._including.items() if path in paths)
        return Surroundings(path, own, macros, self._namespaces, self._includes.get(path, {}), constants, libraries)

    def __getstate__(self) -> dict[str, object]:
        """Without the cache and the reader, which cannot cross to a spawned process; that one makes its own."""
        return {key: value for key, value in self.__dict__.items() if key not in ("_conditions", "_definitions")}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._make_caches()

    def _make_caches(self) -> None:
        self._conditions = lru_cache(maxsize=None)(self._conditional_includes)
        self._definitions = Definitions(self._read)

    def _constants(self, path: str) -> dict[bytes, bytes]:
        """What the files define that `path` includes, directly or not."""
        return self._definitions.of(self._reachable(path) - {path})

    def sources_including(self, path: str) -> list[str]:
        """The sources that include the header at `path`, directly or not: the nearest first. None for a source."""
        if posixpath.splitext(path)[1].lower() in _SOURCES:
            return []
        found: list[str] = []
        seen = {path}
        level = [path]
        while level:
            level = sorted({other for item in level for other in self._includers.get(item, ())} - seen)
            seen.update(level)
            sources = [item for item in level if posixpath.splitext(item)[1].lower() in _SOURCES]
            found += sorted(sources, key=lambda item: (not item.endswith(".cu"), item))
        return found

    def _survey_included_sources(self) -> None:
        """A .cu that another file includes tells as a header does."""
        included = {target.path for targets in self._includes.values() for target in targets.values()}
        for path in sorted(included):
            if posixpath.splitext(path)[1].lower() in _SOURCES and path in self._surveys:
                own, macros = declared_for_others(self._read(path), self._book)
                old = self._surveys[path]
                self._surveys[path] = FileSurvey(old.includes, own, macros, old.namespaces)

    def _told(self, path: str) -> tuple[frozenset[OwnName], dict[bytes, PastingMacro]]:
        """What the files declare that `path` includes, directly or not."""
        if not any(target.path in self._leading for target in self._includes.get(path, {}).values()):
            return frozenset(), {}
        reached = self._reached(path)
        own = frozenset(
            name if always else name._replace(conditional=True)
            for other, always in reached.items()
            for name in self._surveys[other].own
        )
        macros: dict[bytes, PastingMacro] = {}
        for other in reached:
            macros.update(self._surveys[other].macros)
        return own, macros

    def _including_headers_of(self, library: Library) -> set[str]:
        """The files that include headers of a library, directly or not."""
        folders = tuple(text for text in library.needs if text.endswith(b"/"))
        direct = {
            path
            for path, survey in self._surveys.items()
            if any(written.startswith(folders) for written in survey.includes)
        }
        return self._leading_to(direct)

    def _turned_round(self) -> dict[str, list[str]]:
        """The files that include each file."""
        includers: dict[str, list[str]] = {}
        for path, targets in self._includes.items():
            for target in targets.values():
                includers.setdefault(target.path, []).append(path)
        return includers

    def _leading_to(self, goals: set[str]) -> set[str]:
        """`goals` and all files that include one of them, directly or not."""
        seen = set(goals)
        pending = list(goals)
        while pending:
            new = set(self._includers.get(pending.pop(), ())) - seen
            seen |= new
            pending += new
        return seen

    def _reachable(self, path: str) -> set[str]:
        """All files that `path` includes in any configuration, itself too."""
        seen = {path}
        pending = [path]
        while pending:
            for target in self._includes.get(pending.pop(), {}).values():
                if target.path not in seen:
                    seen.add(target.path)
                    pending.append(target.path)
        return seen

    def _reached(self, path: str) -> dict[str, bool]:
        """The telling files that `path` includes, and whether every configuration does."""
        always: dict[str, bool] = {path: True}
        pending = [path]
        while pending:
            includer = pending.pop()
            for written, target in self._includes.get(includer, {}).items():
                if target.path not in self._leading or always.get(target.path) is True:
                    continue
                state = always[includer] and written not in self._conditions(includer)
                if always.get(target.path) != state:
                    always[target.path] = state
                    pending.append(target.path)
        return {other: state for other, state in always.items() if other != path and other in self._tellers}

    def _conditional_includes(self, path: str) -> frozenset[bytes]:
        """The paths that the file includes in some configurations only."""
        data = self._read(path)
        conditionals = Conditionals(Outline(data))
        found: dict[bytes, bool] = {}
        for match in _INCLUDE.finditer(data):
            conditional = conditionals.is_conditional(match.start())
            found[match.group(1)] = found.get(match.group(1), True) and conditional
        return frozenset(written for written, conditional in found.items() if conditional)
