"""Static shared memory of a kernel above what a block of the architecture has."""

from __future__ import annotations

from collections.abc import Iterator

from musify.checks._constants import constants
from musify.checks._device_code import SHARED_VARIABLE, Function, device_code
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span
from musify.rules.device import limits

TRIGGERS = (b"__shared__",)


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a function, at its largest declaration."""
    available = limits("static_shared", unit.settings.target)
    code = device_code(unit)
    for function in code.functions:
        sizes = _sizes(unit, function)
        total = sum(size for size, _ in sizes.values())
        exceeded = {item: limit for item, limit in available.items() if total > limit}
        if exceeded and not code.is_elsewhere(function.body.start):
            place = max(sizes.values(), key=lambda entry: entry[0])[1]
            arguments = {"bytes": str(total), "limits": limits_text(exceeded)}
            yield Finding("MUS220", place, function.name.decode(), arguments)


def limits_text(exceeded: dict[str, int]) -> str:
    """`mp_21 28672, mp_22 73728`."""
    return ", ".join(f"{item} {limit}" for item, limit in exceeded.items())


def _sizes(unit: Unit, function: Function) -> dict[bytes, tuple[int, Span]]:
    """Bytes and place of each variable whose size is known; of a name declared twice (#if, #else) the smaller."""
    text = device_code(unit).text
    found: dict[bytes, tuple[int, Span]] = {}
    for match in SHARED_VARIABLE.finditer(text, *function.body):
        if b"extern" in text[max(0, match.start() - 20) : match.start(1)].rsplit(b";")[-1] + match.group(1):
            continue
        for name, size in constants(unit).sizes(match.group(1), match.start(1)):
            if size is not None:
                entry = (size, Span(match.start(), match.end() - 1))
                found[name] = min(found.get(name, entry), entry)
    return found
