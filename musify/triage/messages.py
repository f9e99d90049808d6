"""What a message of a compiler or build tool means: patterns of rules/triage/messages.toml, the first that fits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from musify.model import MusifyError
from musify.rules.location import rules_folder
from musify.rules.shipped import shipped_tables
from musify.triage.log import Diagnostic

CONSEQUENCE, TRUNCATED, OTHER = "consequence", "truncated", "other"
_TOOLS = frozenset({"compiler", "linker", "cmake", "make", "shell", "crash"})
_KEYS = frozenset({"kind", "pattern", "tool", "note", "named_by_note", "follow_up", "example", "name"})
_QUOTED = re.compile(r"""(['"])[^'"]*\1""")
_NUMBER = re.compile(r"\d+")


class Pattern(NamedTuple):
    """One way in which a kind of error is written. `tool` and `note` are empty where any will do."""

    kind: str
    text: re.Pattern[str]
    tool: str
    note: re.Pattern[str] | None
    named_by_note: re.Pattern[str] | None
    follow_up: bool
    example: str
    name: str


class Meaning(NamedTuple):
    """What an error is: its kind, what it is about (a name, a header, an option ...), and the type that owns it.

    `follow_up`: such an error often follows from an earlier one on the same line.
    """

    kind: str
    subject: str
    owner: str = ""
    follow_up: bool = False


@lru_cache(maxsize=1)
def patterns() -> tuple[Pattern, ...]:
    """All patterns, in their order. Raises MusifyError where the file is bad."""
    table = shipped_tables("triage")["messages.toml"]
    return tuple(_pattern(entry) for entry in table["message"])


def meaning(item: Diagnostic) -> Meaning:
    """What an error of a log means."""
    for pattern in patterns():
        if pattern.tool and pattern.tool != item.tool:
            continue
        match = pattern.text.search(item.text)
        if match is None or (
            pattern.note is not None and not any(pattern.note.search(note.text) for note in item.notes)
        ):
            continue
        return Meaning(pattern.kind, _subject(pattern, match, item), _group(match, "owner"), pattern.follow_up)
    return Meaning(OTHER, _NUMBER.sub("N", _QUOTED.sub("'...'", item.text)))


def _subject(pattern: Pattern, match: re.Match[str], item: Diagnostic) -> str:
    if pattern.named_by_note is not None:
        for note in item.notes:
            found = pattern.named_by_note.search(note.text)
            if found:
                return found["name"]
    return _group(match, "name") or _group(match, "other") or _group(match, "third")


def _group(match: re.Match[str], name: str) -> str:
    return match.groupdict().get(name) or ""


def _pattern(entry: Mapping[str, Any]) -> Pattern:
    where = f"{rules_folder() / 'triage' / 'messages.toml'}: {entry.get('kind')}"
    unknown = set(entry) - _KEYS
    if unknown or not {"kind", "pattern", "example"} <= set(entry):
        raise MusifyError(f"{where}: keys are {', '.join(sorted(_KEYS))}; kind, pattern and example are needed")
    tool = str(entry.get("tool", ""))
    if tool and tool not in _TOOLS:
        raise MusifyError(f"{where}: tool {tool!r} is none of {', '.join(sorted(_TOOLS))}")
    try:
        return Pattern(
            entry["kind"], re.compile(entry["pattern"]), tool, _compiled(entry, "note"),
            _compiled(entry, "named_by_note"), bool(entry.get("follow_up", False)), entry["example"],
            str(entry.get("name", "")),
        )  # fmt: skip
    except re.error as error:
        raise MusifyError(f"{where}: not a pattern: {error}") from error


def _compiled(entry: Mapping[str, Any], key: str) -> re.Pattern[str] | None:
    return re.compile(entry[key]) if key in entry else None
