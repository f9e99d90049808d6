"""Synchronisation of the whole grid: not at run time before SDK 5.2, and known to work on mp_31 only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._device_code import device_code
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Severity, Span, version_number

_SINCE = "5.2"
_WORKS_ON = "mp_31"
_GROUP = re.compile(
    rb"\b(\w+)\s*(?:=|\(|\{)\s*(?:\w+::)*this_(?:multi_)?grid\s*\(\s*\)|\b(?:multi_)?grid_group\s*(?:const\s*)?[&*]?\s*(\w+)"
)
_DIRECT = re.compile(rb"\bthis_(?:multi_)?grid\s*\(\s*\)\s*\.\s*(?:sync|barrier_arrive|barrier_wait)\s*\(")
_SYNC = rb")\s*(?:\.|->)\s*(?:sync|barrier_arrive|barrier_wait)\s*\(|\bsync\s*\(\s*(?:"
_GRIDS = (b"this_grid", b"this_multi_grid", b"grid_group")
TRIGGERS = (b"_grid", b"grid_group")


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a function, at its first synchronisation."""
    target = unit.settings.target
    is_late = target.sdk_number >= version_number(_SINCE)
    without = [item for item in target.architectures if item != _WORKS_ON]
    if is_late and not without:
        return
    code = device_code(unit)
    if not any(word in code.text for word in _GRIDS):
        return
    architectures = ", ".join(without if is_late else target.architectures)
    members = {
        match.group(1) or match.group(2)
        for match in _GROUP.finditer(code.text)
        if code.function_at(match.start()) is None
    }
    for function in code.functions:
        place = _first_sync(unit, Span(function.start, function.body.end), members)
        if place is not None and not code.is_elsewhere(place.start):
            arguments = {"architectures": architectures, "sdk": target.sdk}
            severity = Severity.WARNING if is_late else None
            yield Finding("MUS232", place, function.name.decode(), arguments, severity)


def _first_sync(unit: Unit, span: Span, members: set[bytes]) -> Span | None:
    text = device_code(unit).text
    found = [match.span() for match in [_DIRECT.search(text, *span)] if match]
    names = members | {first or second for first, second in _GROUP.findall(text, *span)}
    if names:
        alternatives = b"|".join(re.escape(name) for name in sorted(names))
        match = re.compile(rb"\b(?:" + alternatives + _SYNC + alternatives + rb")\s*\)").search(text, *span)
        found += [match.span()] if match else []
    return Span(*min(found)) if found else None
