"""Code that trusts the threads of a warp to run in lockstep: steps through shared memory without a barrier."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from musify.checks._constants import constants
from musify.checks._device_code import Function, closing_brace, device_code
from musify.checks._warp_code import WARP, wide_warps
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span

# s[t] += s[t + 16];  s[t] = max(s[t], s[t + 16]);
_STEP = re.compile(
    rb"(?:->|\b)(\w+)\s*\[\s*(\w+(?:\.\w)?)\s*\]\s*[-+*|&^]?=(?!=)[^;]*?\b\1\s*\[\s*\2\s*\+\s*(\w+)\s*\][^;]*;"
)
_FURTHER_ON = re.compile(rb"\[\s*\w+(?:\.\w)?\s*\+\s*\w+\s*\]")
_NEAR = 300
_BARRIER = re.compile(rb"sync|barrier|SYNC", re.IGNORECASE)
_LOOP = re.compile(rb"\bfor\s*\(\s*(?:[\w\s]*\s)?(\w+)\s*=\s*([^;,]+);[^;]*;[^)]*\)\s*")
TRIGGERS = (b"__shared__", b"volatile")


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a function, at its first such step."""
    wide = wide_warps(unit.settings.target)
    if not wide:
        return
    code = device_code(unit)
    for function in code.functions:
        steps = _steps(unit, function)
        step = _in_a_row(unit, steps) or _in_a_loop(unit, function, steps)
        if step is not None and not code.is_elsewhere(step.start):
            statement = " ".join(unit.text(step).decode("utf-8", "replace").split())
            arguments = {"statement": statement, "architectures": ", ".join(wide)}
            yield Finding("MUS212", step, function.name.decode(), arguments)


def _steps(unit: Unit, function: Function) -> list[re.Match[bytes]]:
    """The statements of a function that add to an element one that lies further on."""
    text = device_code(unit).text
    found: list[re.Match[bytes]] = []
    for further in _FURTHER_ON.finditer(text, *function.body):
        start = max(text.rfind(sign, function.body.start, further.start()) for sign in (b";", b"{", b"}")) + 1
        end = text.find(b";", further.end(), function.body.end) + 1
        step = _STEP.search(text, max(start, function.body.start), end)
        if (
            step is not None
            and step.end() > further.start() >= step.start()
            and (not found or step.start() >= found[-1].end())
        ):
            found.append(step)
    return found


def _in_a_row(unit: Unit, steps: list[re.Match[bytes]]) -> Span | None:
    """`s[t] += s[t + 16]; s[t] += s[t + 8];` and nothing that synchronises between them."""
    text = device_code(unit).text
    for last, match in pairwise(steps):
        before, distance = (constants(unit).value_at(Span(*item.span(3))) or 0 for item in (last, match))
        follows = match.group(1, 2) == last.group(1, 2) and 0 < distance < before <= WARP
        if follows and not _BARRIER.search(text, last.end(), match.start()):
            return Span(*last.span())
    return None


def _in_a_loop(unit: Unit, function: Function, steps: list[re.Match[bytes]]) -> Span | None:
    """The same as a loop that starts at 32 or less."""
    text = device_code(unit).text
    for step in steps:
        loops = list(_LOOP.finditer(text, max(function.body.start, step.start() - _NEAR), step.start()))
        if not loops or loops[-1].group(1) != step.group(3):
            continue
        loop = loops[-1]
        start = constants(unit).value_at(Span(*loop.span(2)))
        braced = text[loop.end() : loop.end() + 1] == b"{"
        end = closing_brace(text, loop.end() + 1) if braced else step.end()
        if start is not None and 1 < start <= WARP and step.end() <= end and not _BARRIER.search(text, loop.end(), end):
            return Span(*step.span())
    return None
