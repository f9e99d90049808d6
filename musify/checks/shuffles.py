"""Shuffles and votes without a mask, and shuffle widths that no card has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._constants import constants
from musify.checks._device_code import device_code
from musify.checks._warp_code import WARP, shuffles
from musify.languages.cuda.unit import Unit
from musify.model import Finding

_WITHOUT_MASK = re.compile(rb"__(?:shfl(?:_up|_down|_xor)?|any|all|ballot)\b(?=\s*\()")
TRIGGERS = (b"__shfl", b"__any", b"__all", b"__ballot")


def run(unit: Unit) -> Iterator[Finding]:
    """A finding for every such call."""
    yield from _without_mask(unit)
    if b"__shfl" in unit.data:
        yield from _widths(unit)


def _without_mask(unit: Unit) -> Iterator[Finding]:
    code = device_code(unit)
    if not _WITHOUT_MASK.search(code.with_macros):
        return
    own = {item.name for item in unit.outline.directives if item.keyword == b"define"}
    own |= {item.name for item in code.functions}
    for call in code.calls(_WITHOUT_MASK):
        name = unit.text(call.name)
        directive = unit.outline.directive_at(call.name.start)
        stands_in = directive is not None and directive.name.endswith(b"_sync")
        if name not in own and not stands_in and not code.is_elsewhere(call.name.start):
            yield Finding("MUS213", call.name, name.decode())


def _widths(unit: Unit) -> Iterator[Finding]:
    code = device_code(unit)
    for shuffle in shuffles(unit):
        width = constants(unit).value_at(shuffle.width) if shuffle.width else None
        if width is None or (0 < width <= WARP and width & (width - 1) == 0):
            continue
        if not code.is_elsewhere(shuffle.call.name.start):
            assert shuffle.width is not None
            yield Finding("MUS214", shuffle.width, unit.text(shuffle.call.name).decode(), {"width": str(width)})
