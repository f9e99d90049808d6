"""double in the kernels of a torch extension: torch_musa builds without it unless told otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._device_code import device_code
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span

_TORCH = re.compile(rb"#[ \t]*include[ \t]*[<\"](?:torch|ATen|c10)/")
_DOUBLE = re.compile(rb"\bdouble\b")
_DISPATCH = re.compile(rb"\b(AT_DISPATCH_(?:CASE_)?(?:ALL|FLOATING|COMPLEX)\w*)\s*\(")
_DEVICE_SOURCES = (".cu", ".cuh")


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a file, at the first double of a device function or the first dispatch that includes it."""
    if b"double" not in unit.data and b"AT_DISPATCH_" not in unit.data:
        return
    if not _TORCH.search(unit.data):
        return
    code = device_code(unit)
    places = [
        match.span() for item in code.functions if (match := _DOUBLE.search(code.text, item.start, item.body.end))
    ]
    # A kernel may be launched in a header: what dispatches to it is device source all the same.
    if b"<<<" in code.text or unit.surroundings.path.endswith(_DEVICE_SOURCES):
        places += [match.span(1) for match in [_DISPATCH.search(code.text)] if match]
    if places:
        place = Span(*min(places))
        yield Finding("MUS235", place, unit.text(place).decode())
