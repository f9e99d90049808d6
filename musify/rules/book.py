"""The rule book: look-ups in the compiled rules, each name worked out when it is first asked for."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from musify.model import Evidence
from musify.rules import cache, loader
from musify.rules.interest import THEN_LOWER, namespaces, words_of_interest
from musify.rules.location import rules_folder
from musify.rules.model import Action, ArchitectureTier, Library, MusaArchitecture, NameRule, Note, Policy, Prefix
from musify.rules.styles import apply, chosen
from musify.source.words import WordFinder

_PARTS = ("api", "device")
# No family of names is told by one letter; `c` and `n` begin more than half of all names.
_SHORTEST_PREFIX = 2


class RuleBook:
    """All rules of one run. Made by `load`; read-only."""

    def __init__(self, tables: loader.Table) -> None:
        self._tables = tables
        self._names: dict[bytes, int] = tables["names"]
        self._known: dict[bytes, NameRule | None] = {}
        self._headers: dict[bytes, NameRule | None] = {}

    @cached_property
    def libraries(self) -> list[Library]:
        """All libraries, in the order of their files."""
        return [_library(table) for table in self._tables["libraries"]]

    def name(self, name: bytes) -> NameRule | None:
        """The rule of a CUDA name, qualified (`cuda::std::abs`) or plain; None where it is on no list."""
        try:
            return self._known[name]
        except KeyError:
            rule = self._known[name] = self._work_out(name)
            return rule

    def namespace(self, name: bytes) -> NameRule | None:
        """The rule of a namespace (`cuda::std`) that listed names lie in; its evidence is the best of theirs."""
        group = self._tables["namespaces"].get(name)
        if group is None:
            return None
        target = self._target(name + b"::", self._tables["groups"][group][0]).removesuffix(b"::")
        return self._rule(name, group, target)

    @cached_property
    def namespace_heads(self) -> frozenset[bytes]:
        """First parts of qualified names: cuda, nvcuda, thrust ..."""
        return frozenset(name for name in self._tables["namespaces"] if b"::" not in name)

    def header(self, path: bytes) -> NameRule | None:
        """The rule of a toolkit header, by its exact path."""
        if path not in self._headers:
            entry = self._tables["headers"].get(path)
            self._headers[path] = None if entry is None else self._rule(path, entry[1], entry[0])
        return self._headers[path]

    @cached_property
    def owners(self) -> dict[bytes, tuple[bytes, Library]]:
        """Namespaces of libraries (`at::cuda`) with MUSA's and the library; they are known behind another only."""
        return {old: (new, library) for library in self.libraries for old, new in library.owner_map}

    def all_of(self, name: bytes) -> Sequence[bytes]:
        """(way back) The CUDA names or headers that a MUSA one stands for, where it stands for more than one."""
        found: Sequence[bytes] = self._tables.get("several", {}).get(name, ())
        return found

    @cached_property
    def own_words(self) -> dict[bytes, bytes]:
        """What the user's mappings make of words in build files, whatever those words are."""
        return dict(self._tables["own_words"])

    @property
    def warnings(self) -> Sequence[str]:
        """What is odd about the user's rule files, a line each, with file and line."""
        return list(self._tables["warnings"])

    def is_version_macro(self, name: bytes) -> bool:
        """Whether `name` carries the version of a CUDA library: a number on another scale than MUSA's."""
        return name in self._tables["version_macros"]

    def is_architecture_macro(self, name: bytes) -> bool:
        """Whether `name` is __CUDA_ARCH__."""
        return name in self._tables["architecture_macros"]

    def looks_like_cuda(self, name: bytes) -> bool:
        """Whether an unlisted name has the shape of a CUDA API name."""
        return self._lookalike.match(name) is not None

    def lookalike_library(self, name: bytes) -> Library | None:
        """The library whose prefix an unlisted name carries, the longest prefix first."""
        fits = [
            (len(prefix), library)
            for library in self.libraries
            for prefix in library.lookalike
            if name.startswith(prefix)
        ]
        return max(fits, key=lambda item: item[0])[1] if fits else None

    @lru_cache(maxsize=256)  # noqa: B019  # a book lives as long as its run
    def prefix(self, prefix: bytes) -> Prefix | None:
        """What becomes of a beginning of names (`cuda`, `cublasS`) that a macro pastes; None where no name begins so.

        The names that begin so decide: most of them keep their end and change their beginning in the same way.
        """
        targets: Counter[tuple[bytes, str]] = Counter()
        if len(prefix) < _SHORTEST_PREFIX:
            return None
        for name in self._beginning_with(prefix):
            rest = name[len(prefix) :]
            if not rest or b":" in rest:
                continue
            rule = self.name(name)
            if rule is not None and rule.action is Action.KEEP:
                targets[prefix, rule.library.id] += 1
            elif rule is not None and rule.action is Action.RENAME and rule.target.endswith(rest):
                targets[rule.target[: len(rule.target) - len(rest)], rule.library.id] += 1
        if not targets:
            return None
        (target, library_id), _ = targets.most_common(1)[0]
        return Prefix(target, next(library for library in self.libraries if library.id == library_id))

    def _beginning_with(self, prefix: bytes) -> list[bytes]:
        names = self._sorted_names
        first = bisect_left(names, prefix)
        return names[first : bisect_left(names, prefix + b"\xff", first)]

    @cached_property
    def _sorted_names(self) -> list[bytes]:
        return sorted(self._names)

    def all_names(self) -> Iterable[bytes]:
        """Every listed name, headers apart."""
        return self._names.keys()

    def all_headers(self) -> Iterable[bytes]:
        """Every listed header path."""
        return list(self._tables["headers"])

    @cached_property
    def link_names(self) -> dict[bytes, tuple[bytes, Library]]:
        """Linker names of CUDA libraries (`cudart`) with MUSA's (`musart`, or empty) and the library."""
        return {old: (new, library) for library in self.libraries for old, new in library.link}

    @cached_property
    def tiers(self) -> list[ArchitectureTier]:
        """The thresholds of __CUDA_ARCH__, lowest first."""
        return [ArchitectureTier(*entry) for entry in self._tables["tiers"]]

    @cached_property
    def musa_architectures(self) -> dict[str, MusaArchitecture]:
        """MUSA's architectures by name."""
        return {entry[0]: MusaArchitecture(*entry) for entry in self._tables["musa_architectures"]}

    @property
    def known_architectures(self) -> list[int]:
        """The values that __CUDA_ARCH__ takes on CUDA's cards, ascending."""
        return list(self._tables["cuda_architectures"])

    @lru_cache(maxsize=4)  # noqa: B019  # a book lives as long as its run
    def words(self, triggers: frozenset[bytes] = frozenset()) -> WordFinder:
        """Finds every identifier that a rule may care about, and few others; `triggers` are further marks to note."""
        prefixes, words, marks = self._tables["words"]
        return WordFinder(prefixes, words, sorted(triggers | set(marks)))

    @cached_property
    def _lookalike(self) -> re.Pattern[bytes]:
        entries = {entry for library in self.libraries for entry in library.lookalike}
        prefixes = sorted((entry for entry in entries if not entry.endswith(THEN_LOWER)), key=len, reverse=True)
        lower = sorted(entry.removesuffix(THEN_LOWER) for entry in entries if entry.endswith(THEN_LOWER))
        upper = b"|".join(re.escape(prefix) for prefix in prefixes) or rb"(?!)"
        lowered = b"|".join(re.escape(prefix) for prefix in lower) or rb"(?!)"
        return re.compile(rb"(?:" + upper + rb")(?:(?<=_)\w|[A-Z])|(?:" + lowered + rb")[a-z]")

    def _work_out(self, name: bytes) -> NameRule | None:
        group = self._names.get(name)
        if group is None:
            return None
        return self._rule(name, group, self._target(name, self._tables["groups"][group][0]))

    def target_of(self, name: bytes) -> bytes:
        """What a listed name is called in MUSA, whether or not MUSA has it; the name itself where it is on no list."""
        group = self._names.get(name)
        return name if group is None else self._target(name, self._tables["groups"][group][0])

    def _target(self, name: bytes, library: int) -> bytes:
        explicit: bytes | None = self._tables["renames"].get(name)
        return self.libraries[library].by_convention(name) if explicit is None else explicit

    def _rule(self, name: bytes, group: int, target: bytes) -> NameRule:
        library_index, kind, evidence, since = self._tables["groups"][group]
        library = self.libraries[library_index]
        note = self._note("unsupported", name)
        action = _action(name, target, library, kind, note)
        return NameRule(
            name, target, library, kind, Evidence(evidence), since, action, note, self._notes("known_issues", name),
            self._note("absent", name), self._notes("changed", name),
        )  # fmt: skip

    def _note(self, key: str, name: bytes) -> Note | None:
        index = self._tables[key].get(name)
        return None if index is None else Note(*self._tables["notes"][index])

    def _notes(self, key: str, name: bytes) -> tuple[Note, ...]:
        return tuple(Note(*self._tables["notes"][index]) for index in self._tables[key].get(name, ()))


def load(
    user_files: Sequence[Path] = (), torch_styles: Sequence[str] = (), *, reverse: bool = False, shipped: bool = True
) -> RuleBook:
    """The shipped rules, from the cache where it is fresh, with the styles asked for and the user's files over them.

    `reverse`: from MUSA to CUDA. `shipped`: without it the user's files are all there is. Raises MusifyError, with file
    and line, where a rule file is bad, and for a style that there is not.
    """
    if not user_files and not torch_styles and not reverse and shipped:
        return RuleBook(cache.load(rules_folder(), _PARTS, _compile))
    taken = chosen(torch_styles)

    def compile_own(folder: Path) -> loader.Table:
        tables = cache.load(folder, _PARTS, _compile)
        if not shipped:
            tables = {**tables, **loader.empty_tables()}
        for style in taken if shipped else ():
            apply(tables, style)
        for path in user_files:
            _add_own(tables, path)
        if reverse:
            from musify.rules import inverse

            tables = {**inverse.inverted(tables, RuleBook(tables)), "warnings": tables["warnings"]}
        return _completed(tables)

    own = [f"{path}\0".encode("utf-8", "surrogateescape") + loader.read_rules(path) for path in user_files]
    own += [repr(style).encode() for style in taken]
    form = ("reverse",) * reverse + ("bare",) * (not shipped)
    return RuleBook(cache.load(rules_folder(), _PARTS, compile_own, own, form))


def _add_own(tables: loader.Table, path: Path) -> None:
    """Put a rule file, or a mapping in JSON, over `tables`. Raises MusifyError."""
    if path.suffix.lower() != ".json":
        loader.add_user_rules(tables, path)
        return
    from musify.rules.mapping import add_mapping  # here, for most runs have none and should not wait for it

    add_mapping(tables, path, loader.read_rules(path), RuleBook(tables).target_of)


def _compile(folder: Path) -> loader.Table:
    tables = loader.load_api_rules(sorted((folder / "api").glob("*.toml")))
    scale = loader.read_toml(folder / "device" / "architectures.toml")
    tables["tiers"] = [
        (tier["upto"], tier["architecture"], tier["reason"], tier["reason_zh"]) for tier in scale["tier"]
    ]
    tables["cuda_architectures"] = scale["cuda"]["architectures"]
    tables["musa_architectures"] = [
        (item["name"], item["value"], *item["capability"], item["cards"]) for item in scale["musa"]
    ]
    return _completed(tables)


def _completed(tables: loader.Table) -> loader.Table:
    """Tables with what is worked out from them."""
    tables["namespaces"] = namespaces(tables)
    tables["words"] = words_of_interest(RuleBook(tables), tables)
    return tables


def _action(name: bytes, target: bytes, library: Library, kind: str, unsupported: Note | None) -> Action:
    if unsupported is not None:
        return Action.UNSUPPORTED
    if library.policy is Policy.KEEP:
        ours = kind == "header" or any(name.startswith(prefix) for prefix in library.lookalike)
        return Action.KEEP if ours else Action.IDENTITY
    return Action.IDENTITY if name == target else Action.RENAME


def _pairs(items: Iterable[Sequence[str]]) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((old.encode(), new.encode()) for old, new in items)


def _library(table: loader.Table) -> Library:
    return Library(
        table["id"],
        table["name"],
        table["target"],
        Policy(table["policy"]),
        _pairs(table.get("convention", ())),
        _pairs(table.get("link", {}).items()),
        tuple(table.get("lookalike", "").encode().split()),
        table.get("min_sdk", ""),
        table.get("finding", ""),
        table.get("instead", ""),
        table.get("instead_zh", ""),
        _pairs(table.get("inside", ())),
        frozenset(table.get("owners", "").encode().split()),
        _pairs(table.get("owner_map", {}).items()),
        tuple(table.get("needs", "").encode().split()),
        frozenset(table.get("one_way", "").encode().split()),
    )
