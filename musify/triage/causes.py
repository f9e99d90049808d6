"""Errors of a log by cause: one cause once, however many errors it makes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from musify.triage.log import Diagnostic, Log
from musify.triage.messages import CONSEQUENCE, OTHER, TRUNCATED, Meaning, meaning

_HINT = re.compile(r"""did you mean ['"](?P<name>[\w:]+)['"]""")
_TYPE_NOISE = re.compile(r"\b(?:const|volatile|struct|class|enum)\b|[*&]+|\s*\(aka [^)]*\)|\[[^\]]*\]")
_SYNTAX = "syntax"


@dataclass
class Cause:
    """One reason for errors. `subject` is the name, header, option ... that it is about; `owner` the type it lacks.

    `errors` are all that it makes, in the order of the log; `hints` are names that a compiler suggested.
    """

    kind: str
    subject: str
    owner: str = ""
    errors: list[Diagnostic] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)

    @property
    def places(self) -> list[Diagnostic]:
        """Each place once: a header is compiled many times, and a device source for every architecture."""
        seen: dict[tuple[str, int, int], Diagnostic] = {}
        for item in self.errors:
            seen.setdefault((item.path, item.line, item.column), item)
        return list(seen.values())


@dataclass
class Causes:
    """All causes, those first that make the most errors. `truncated`: a compiler stopped before the end."""

    found: list[Cause]
    errors: int
    truncated: bool


def causes_of(log: Log) -> Causes:
    """The causes of a log's errors."""
    found: dict[tuple[str, str, str], Cause] = {}
    waiting: list[Diagnostic] = []
    by_line: dict[tuple[str, int], Cause] = {}
    truncated = False
    for item in log.errors:
        meant = meaning(item)
        truncated |= meant.kind == TRUNCATED
        if meant.kind in (CONSEQUENCE, TRUNCATED):
            continue
        if meant.follow_up:
            waiting.append(item)
            continue
        cause = _cause(found, meant)
        cause.errors.append(item)
        cause.hints += [hint for hint in _HINT.findall(item.text) if hint not in cause.hints]
        if item.path:
            by_line.setdefault((item.path, item.line), cause)
    _add_follow_ups(found, waiting, by_line)
    ordered = sorted(
        found.values(), key=lambda cause: (-len(cause.errors), cause.kind == OTHER, cause.errors[0].log_line)
    )
    return Causes(ordered, sum(len(cause.errors) for cause in ordered), truncated)


def _cause(found: dict[tuple[str, str, str], Cause], meant: Meaning) -> Cause:
    subject = _TYPE_NOISE.sub("", meant.subject).strip() if meant.kind == "type" else meant.subject
    owner = _TYPE_NOISE.sub("", meant.owner).strip()
    return found.setdefault((meant.kind, subject, owner), Cause(meant.kind, subject, owner))


def _add_follow_ups(
    found: dict[tuple[str, str, str], Cause], waiting: Iterable[Diagnostic], by_line: dict[tuple[str, int], Cause]
) -> None:
    """Errors of syntax go to what else is wrong with their line; the rest is one cause a file."""
    for item in waiting:
        cause = by_line.get((item.path, item.line))
        if cause is None:
            cause = _cause(found, Meaning(_SYNTAX, item.path))
        cause.errors.append(item)
