"""What rules/build/flags.toml says of the flags of nvcc, and how a list of flags is read with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from musify.model import Severity, version_number
from musify.rules.shipped import shipped_tables


class FlagRule(NamedTuple):
    """One flag under all its spellings; the fields are described in rules/build/flags.toml."""

    spellings: tuple[bytes, ...]
    takes: str
    pattern: re.Pattern[bytes] | None
    action: str
    to: bytes
    keep: tuple[bytes, ...]
    values: Mapping[bytes, bytes]
    since_sdk: str
    review: bool
    evidence: str
    source: str
    why: str
    why_zh: str
    severity: Severity | None


class Flag(NamedTuple):
    """A flag as it stands in a list of words: words `first` up to `last`, which is not part of it.

    `glue` is what stands between flag and value: `=`, a blank where the value is the next word, or nothing.
    `value` is None where the flag takes none, or where the list ends before its value.
    """

    first: int
    last: int
    spelling: bytes
    glue: bytes
    value: bytes | None
    rule: FlagRule

    @property
    def written(self) -> bytes:
        """The flag as it is written, with its value."""
        return self.spelling + self.glue + (self.value or b"")


def read_flags(words: Sequence[bytes], sdk: str) -> Iterator[Flag]:
    """The flags in a list of words that the table knows, for an SDK version."""
    table = _table(sdk)
    index = 0
    while index < len(words):
        flag = _read(table, words, index)
        if flag is None:
            index += 1
        else:
            yield flag
            index = flag.last


def all_rules() -> Sequence[FlagRule]:
    """All entries of the table, in the order of the file."""
    return _rules()


def _read(table: _Table, words: Sequence[bytes], index: int) -> Flag | None:
    word = words[index]
    if not word.startswith(b"-"):
        return None
    head, equals, tail = word.partition(b"=")
    if equals:
        flag = _fitting(table, head, Flag(index, index + 1, head, b"=", tail, _ANY))
        if flag is not None:
            return flag
    following = words[index + 1] if index + 1 < len(words) else None
    separate = Flag(index, index + (1 if following is None else 2), word, b" ", following, _ANY)
    return _fitting(table, word, separate) or _joined(table, word, index)


def _fitting(table: _Table, spelling: bytes, flag: Flag) -> Flag | None:
    """The flag with the first rule that fits it."""
    for rule in table.by_spelling.get(spelling, ()):
        if rule.takes == "nothing":
            if flag.glue == b" ":
                return Flag(flag.first, flag.first + 1, spelling, b"", None, rule)
            if flag.value == b"true":
                return flag._replace(rule=rule)
        elif flag.value is None:
            # `-t` at the end of a list may be anything; `-Xcompiler` is what it is.
            if rule.pattern is None:
                return flag._replace(glue=b"", rule=rule)
        elif rule.pattern is None or rule.pattern.fullmatch(flag.value):
            return flag._replace(rule=rule)
    return None


def _joined(table: _Table, word: bytes, index: int) -> Flag | None:
    for spelling, rule in table.joined:
        if word.startswith(spelling) and len(word) > len(spelling):
            value = word[len(spelling) :]
            if rule.pattern is None or rule.pattern.fullmatch(value):
                return Flag(index, index + 1, spelling, b"", value, rule)
    return None


class _Table(NamedTuple):
    by_spelling: Mapping[bytes, tuple[FlagRule, ...]]
    joined: Sequence[tuple[bytes, FlagRule]]


@lru_cache(maxsize=4)
def _table(sdk: str) -> _Table:
    by_spelling: dict[bytes, tuple[FlagRule, ...]] = {}
    joined = []
    for rule in _rules():
        if rule.since_sdk and version_number(sdk) < version_number(rule.since_sdk):
            continue
        for spelling in rule.spellings:
            by_spelling[spelling] = (*by_spelling.get(spelling, ()), rule)
            # Only short flags take a value without anything between.
            if rule.takes == "joined" and not spelling.startswith(b"--"):
                joined.append((spelling, rule))
    joined.sort(key=lambda item: len(item[0]), reverse=True)
    return _Table(by_spelling, joined)


@lru_cache(maxsize=1)
def _rules() -> tuple[FlagRule, ...]:
    return tuple(
        FlagRule(
            tuple(table["flags"].encode().split()),
            table["takes"],
            re.compile(table["pattern"].encode()) if "pattern" in table else None,
            table["action"],
            table.get("to", "").encode(),
            tuple(table["keep"].encode().split(b"|")) if "keep" in table else (),
            {old.encode(): new.encode() for old, new in table.get("values", {}).items()},
            table.get("since_sdk", ""),
            table.get("review", False),
            table.get("evidence", ""),
            table.get("source", ""),
            table.get("why", ""),
            table.get("why_zh", ""),
            Severity(table["severity"]) if "severity" in table else None,
        )
        for table in shipped_tables("build")["flags.toml"]["flag"]
    )


_ANY = FlagRule((), "nothing", None, "same", b"", (), {}, "", False, "", "", "", "", None)
