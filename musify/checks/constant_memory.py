"""__constant__ memory: 8 KiB on mp_31, an eighth of CUDA's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._constants import constants
from musify.checks._device_code import closing_brace, device_code
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span
from musify.rules.device import limits

_CONSTANT = re.compile(rb"\b__constant__\b([^;{}=]*)([;{=])")
_UNBOUNDED = re.compile(rb"\[\s*\]")
TRIGGERS = (b"__constant__",)


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a file, at the declaration with which the sum goes over the limit."""
    exceeded = limits("constant", unit.settings.target)
    if not exceeded:
        return
    limit = min(exceeded.values())
    seen: dict[bytes, int] = {}
    over: Span | None = None
    for place, name, size in _variables(unit):
        if size is not None and size > seen.get(name, 0):
            seen[name] = size
            over = place if over is None and sum(seen.values()) > limit else over
    if over is not None:
        arguments = {"bytes": str(sum(seen.values())), "limit": str(limit), "architectures": ", ".join(exceeded)}
        yield Finding("MUS221", over, "__constant__", arguments)


def _variables(unit: Unit) -> Iterator[tuple[Span, bytes, int | None]]:
    """Places, names and sizes of the variables in constant memory."""
    code = device_code(unit)
    for match in _CONSTANT.finditer(code.text):
        before = code.text[max(0, match.start() - 40) : match.start(1)].rsplit(b";")[-1]
        if b"extern" in before + match.group(1) or code.is_elsewhere(match.start()):
            continue
        declaration = match.group(1).replace(b"__device__", b" " * len(b"__device__"))
        if match.group(2) != b";":
            count = b"[%d]" % _items(code.text, match.end() - 1)
            declaration = _UNBOUNDED.sub(count, declaration, count=1)
        for name, size in constants(unit).sizes(declaration, match.start(1)):
            yield Span(match.start(), match.end() - 1), name, size


def _items(text: bytes, position: int) -> int:
    """How many items the braces hold that open after `position`; one for other initialisers."""
    opening = re.compile(rb"[={\s]*\{").match(text, position)
    if opening is None:
        return 1
    body = text[opening.end() : closing_brace(text, opening.end())]
    depth, count = 0, 1
    for sign in re.findall(rb"[{}(),]", body.strip().removesuffix(b",")):
        depth += (sign in b"{(") - (sign in b"})")
        count += sign == b"," and depth == 0
    return count
