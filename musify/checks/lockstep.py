"""Code that trusts the threads of a warp to run in lockstep: steps through shared memory without a barrier."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._constants import constants
from musify.checks._device_code import Function, closing_brace, device_code
from musify.checks._warp_code import WARP, wide_warps
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span

# s[t] += s[t + 16];  s[t] = max(s[t], s[t + 16]);
_STEP = re.compile(
    rb"(?:->|\b)(\w+)\s*\[\s*(\w+(?:\.\w)?)\s*\]\s*[-+*|&^]?=(?!=)[^;]*?\b\1\s*\[\s*\2\s*\+\s*(\w+)\s*\][^;]*;"
)
_BARRIER = re.compile(rb"sync|barrier|SYNC", re.IGNORECASE)
_LOOP = re.compile(rb"\bfor\s*\(\s*(?:[\w\s]*\s)?(\w+)\s*=\s*([^;,]+);[^;]*;[^)]*\)\s*")


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a function, at its first such step."""
    wide = wide_warps(unit.settings.target)
    if not wide or (b"__shared__" not in unit.data and b"volatile" not in unit.data):
        return
    code = device_code(unit)
    for function in code.functions:
        step = _in_a_row(unit, function) or _in_a_loop(unit, function)
        if step is not None and not code.is_elsewhere(step.start):
            statement = " ".join(unit.text(step).decode("utf-8", "replace").split())
            arguments = {"statement": statement, "architectures": ", ".join(wide)}
            yield Finding("MUS212", step, function.name.decode(), arguments)


def _in_a_row(unit: Unit, function: Function) -> Span | None:
    """`s[t] += s[t + 16]; s[t] += s[t + 8];` and nothing that synchronises between them."""
    text = device_code(unit).text
    last: re.Match[bytes] | None = None
    last_distance = 0
    for match in _STEP.finditer(text, *function.body):
        distance = constants(unit).value(match.group(3)) or 0
        follows = last is not None and match.group(1, 2) == last.group(1, 2) and 0 < distance < last_distance <= WARP
        if last is not None and follows and not _BARRIER.search(text, last.end(), match.start()):
            return Span(*last.span())
        last, last_distance = match, distance
    return None


def _in_a_loop(unit: Unit, function: Function) -> Span | None:
    """The same as a loop that starts at 32 or less."""
    text = device_code(unit).text
    for loop in _LOOP.finditer(text, *function.body):
        start = constants(unit).value(loop.group(2))
        if start is None or not 1 < start <= WARP:
            continue
        end = (
            closing_brace(text, loop.end() + 1)
            if text[loop.end() : loop.end() + 1] == b"{"
            else text.find(b";", loop.end()) + 1
        )
        step = _STEP.search(text, loop.end(), end)
        if step and step.group(3) == loop.group(1) and not _BARRIER.search(text, loop.end(), end):
            return Span(*step.span())
    return None
