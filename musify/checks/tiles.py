"""Tiles of cooperative groups: within a warp of 32 they work everywhere, above 32 nowhere seen."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._constants import constants
from musify.checks._device_code import device_code
from musify.checks._warp_code import WARP
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span

_TILE = re.compile(rb"\b(tiled_partition|thread_block_tile)\s*<\s*([^<>;,]+?)\s*[,>]")
_DYNAMIC_TILE = re.compile(rb"\btiled_partition\s*\(\s*\w+(?:\(\))?\s*,\s*([^()<>;,]+?)\s*\)")
TRIGGERS = (b"tiled_partition", b"thread_block_tile")


def run(unit: Unit) -> Iterator[Finding]:
    """A finding for every tile that is wider than a warp."""
    code = device_code(unit)
    found = [(match.span(2), match.group(1)) for match in _TILE.finditer(code.with_macros)]
    found += [(match.span(1), b"tiled_partition") for match in _DYNAMIC_TILE.finditer(code.with_macros)]
    for span, name in sorted(found):
        size = constants(unit).value_at(Span(*span))
        if size is not None and size > WARP and not code.is_elsewhere(span[0]):
            yield Finding("MUS217", Span(*span), name.decode(), {"size": str(size)})
