"""What is known about the subjects of errors: the rules seen from MUSA's side, other spellings, flags."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from musify.languages.build.flag_table import Flag, read_flags
from musify.model import Evidence, Target
from musify.rules.book import RuleBook
from musify.rules.model import Action, Library, NameRule
from musify.rules.shipped import shipped_tables


class Spelling(NamedTuple):
    """Another MUSA name of a CUDA name, and who writes it."""

    musa: str
    evidence: Evidence
    note: str
    note_zh: str
    source: str


class Knowledge:
    """The rules of a run, asked for by MUSA names as well as CUDA names."""

    def __init__(self, book: RuleBook, target: Target) -> None:
        self.book = book
        self.target = target

    def rules_of(self, name: str) -> list[NameRule]:
        """The rules that give the MUSA name `name`, the best attested first; for a CUDA name its own rule."""
        own = self.book.name(name.encode())
        if own is not None:
            return [own]
        strength = list(Evidence)
        return sorted(self._by_target.get(name, ()), key=lambda rule: (strength.index(rule.evidence), rule.name))

    def header_rules(self, path: str) -> list[NameRule]:
        """The rules whose MUSA header is `path`, or the rule of the CUDA header `path`."""
        own = self.book.header(path.encode())
        if own is not None:
            return [own]
        found = (self.book.header(item) for item in self.book.all_headers())
        return [rule for rule in found if rule is not None and rule.target.decode() == path]

    def spellings(self, rule: NameRule) -> list[Spelling]:
        """Other MUSA names than the one that the rules give."""
        return [item for item in self._spellings.get(rule.name.decode(), ()) if item.musa != rule.target.decode()]

    def flag(self, text: str) -> Flag | None:
        """What the table of flags says of an option, or of a language that `-x` names."""
        words = [text.encode()] if text.startswith("-") else [b"-x", text.encode()]
        return next(read_flags(words, self.target.sdk), None)

    def library(self, name: str) -> tuple[str, Library] | None:
        """For the linker name of a CUDA library, MUSA's (empty where none is known) and the library."""
        found = self.book.link_names.get(name.encode())
        return None if found is None else (found[0].decode(), found[1])

    def linked_by(self, rule: NameRule) -> str:
        """The linker name of MUSA's library that a name lies in; empty where none is known."""
        return next((new.decode() for _, new in rule.library.link if new), "")

    @cached_property
    def _by_target(self) -> Mapping[str, list[NameRule]]:
        found: dict[str, list[NameRule]] = defaultdict(list)
        for name in self.book.all_names():
            rule = self.book.name(name)
            if rule is not None and rule.action is Action.RENAME:
                found[rule.target.decode()].append(rule)
        return found

    @cached_property
    def _spellings(self) -> Mapping[str, list[Spelling]]:
        found: dict[str, list[Spelling]] = defaultdict(list)
        for entry in shipped_tables("triage")["spellings.toml"]["spelling"]:
            found[entry["cuda"]].append(
                Spelling(entry["musa"], Evidence(entry["evidence"]), entry["note"], entry["note_zh"], entry["source"])
            )
        return found

    @cached_property
    def standard(self) -> Mapping[str, str]:
        """The headers of the C and C++ libraries that declare names which CUDA's headers bring in by themselves."""
        headers = shipped_tables("triage")["standard.toml"]["headers"]
        return {name: header for header, names in headers.items() for name in names.split()}
