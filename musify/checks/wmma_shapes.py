"""WMMA: the namespace carries over, the shapes are another matter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._constants import constants
from musify.checks._device_code import Function, device_code, trimmed
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Severity, Span

_FRAGMENT = re.compile(
    rb"\bfragment\s*<\s*(?:\w+\s*::\s*)*(?:matrix_a|matrix_b|accumulator)\s*,\s*([^,<>;]+),([^,<>;]+),([^,<>;]+),\s*([\w:\s]+?)\s*[,>]"
)
_SETTLED = "mp_31"
TRIGGERS = (b"fragment",)


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a function (or one for what lies outside functions), at its first fragment."""
    if b"matrix_" not in unit.data and b"accumulator" not in unit.data:
        return
    code = device_code(unit)
    target = unit.settings.target
    # tilelang_musa generates it for mp_31; for the others a port that switched it off is all that is known.
    severity = Severity.NOTE if set(target.architectures) == {_SETTLED} else None
    seen: set[int] = set()
    for match in _FRAGMENT.finditer(code.with_macros):
        function: Function | None = code.function_at(match.start())
        start = function.start if function else -1
        if start in seen or code.is_elsewhere(match.start()):
            continue
        seen.add(start)
        arguments = {"shape": _shape(unit, match), "type": b" ".join(match.group(4).split()).decode()}
        arguments["architectures"] = ", ".join(target.architectures)
        yield Finding("MUS236", Span(*match.span()), "fragment", arguments, severity)


def _shape(unit: Unit, match: re.Match[bytes]) -> str:
    """`16x16x16`, with names where a size is not known."""
    sizes = [trimmed(match.string, *match.span(group)) for group in (1, 2, 3)]
    values = [(constants(unit).value_at(size), match.string[slice(*size)]) for size in sizes]
    return "x".join(text.decode() if value is None else str(value) for value, text in values)
