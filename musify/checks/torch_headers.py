"""Headers that the converted names of PyTorch need, and that a file does not include yet."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from musify.checks.torch_devices import TRIGGERS, mentions_torch
from musify.languages.cuda.ownership import Ownership
from musify.languages.cuda.references import Scope, scope_of
from musify.languages.cuda.unit import Unit
from musify.model import Applicability, Edit, Evidence, Finding, Severity, Span
from musify.rules.shipped import shipped_tables
from musify.source.outline import Directive

__all__ = ["TRIGGERS", "run"]

ADDED_HEADER = "torch-header-added"
_PATH = re.compile(rb"[ \t]*[<\"]([^>\"\n]*)[>\"]")


@lru_cache(maxsize=1)
def _needed() -> dict[bytes, str]:
    tables: list[dict[str, Any]] = shipped_tables("torch")["devices.toml"]["needed_header"]
    return {name.encode(): table["header"] for table in tables for name in table["names"].split()}


def run(unit: Unit) -> Iterator[Edit | Finding]:
    """One edit and one note a header; a warning where there is no place for the line."""
    if not mentions_torch(unit) or not unit.names & _needed().keys():
        return
    ownership, seen = Ownership(unit), set()
    for word in unit.words:
        name = unit.text(word)
        header = _needed().get(name)
        scope = scope_of(unit.outline, unit.neighbours(word))
        if header is None or header in seen or scope is Scope.MEMBER or ownership.owns(name, word, scope):
            continue
        seen.add(header)
        yield from _include(unit, word, header)


def _include(unit: Unit, word: Span, header: str) -> Iterator[Edit | Finding]:
    includes = [item for item in unit.outline.directives if item.keyword == b"include"]
    if any(_becomes(unit, item) == header.encode() for item in includes):
        return
    place = next((item for item in includes if _branches(unit, item.start) <= _branches(unit, word.start)), None)
    if place is None:
        outcome, outcome_zh = f"the file needs #include <{header}>", f"文件需要 #include <{header}>"
    else:
        outcome, outcome_zh = f"the file includes {header} for it", f"文件已为此包含 {header}"
        yield _line(unit, place, header)
    severity = Severity.WARNING if place is None else None
    at = word if place is None else Span(place.start, place.head_end)
    yield Finding("MUS616", at, unit.text(word).decode(), {"outcome": outcome, "outcome_zh": outcome_zh}, severity)


def _becomes(unit: Unit, include: Directive) -> bytes:
    """The header that an #include names once it is converted."""
    match = _PATH.match(unit.data, include.body, include.end)
    rule = unit.book.header(match.group(1)) if match else None
    return rule.target if rule is not None else match.group(1) if match else b""


def _branches(unit: Unit, offset: int) -> set[int]:
    return {branch.directive.start for branch in unit.conditionals.branches_around(offset)}


def _line(unit: Unit, place: Directive, header: str) -> Edit:
    start = unit.data.rfind(b"\n", 0, place.start) + 1
    if start == 0 and unit.data.startswith(BOM_UTF8):
        start = len(BOM_UTF8)
    newline = b"\r\n" if re.match(rb"[^\n]*\r\n", unit.data[place.start :]) else b"\n"
    text = f"#include <{header}>".encode() + newline
    evidence = Evidence.DOCUMENTED.value
    return Edit(Span(start, start), text, ADDED_HEADER, Applicability.REVIEW, header, "torch", evidence)
