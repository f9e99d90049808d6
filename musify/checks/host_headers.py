"""Headers of half precision in host code: MUSA's are for mcc alone, and g++ does not compile them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span
from musify.rules.shipped import shipped_tables

_INCLUDE = re.compile(rb"[ \t]*[<\"](cuda_(?:fp|bf)[^>\"\n]*)[>\"]")


def run(unit: Unit) -> Iterator[Finding]:
    """A finding for each such header that a file of host code includes."""
    if b"cuda_fp" not in unit.data and b"cuda_bf" not in unit.data:
        return
    table = shipped_tables("device")["host.toml"]
    if not unit.surroundings.path.endswith(tuple(table["suffixes"].split())):
        return
    headers = table["headers"].encode().split()
    for directive in unit.outline.directives:
        match = _INCLUDE.match(unit.data, directive.body, directive.end) if directive.keyword == b"include" else None
        if match and match.group(1) in headers:
            yield Finding("MUS123", Span(*match.span(1)), match.group(1).decode(), {"source": table["source"]})
