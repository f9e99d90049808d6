"""Macros that make a string of a name and look it up at run time: what they are given, no other macro renames."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from musify.source.outline import Outline

_HINT = re.compile(rb"(?i:sym|getproc|driverentrypoint)")
_STRINGIZED = re.compile(rb"(?<!#)#[ \t]*([A-Za-z_]\w*)")


def lookup_macros(paths: Iterable[Path]) -> frozenset[bytes]:
    """The names of such macros in the files at `paths`, told by what they call: dlsym, load_symbol ..."""
    found: set[bytes] = set()
    for path in paths:
        try:
            data = path.read_bytes()
        except OSError:
            continue  # reported where it is converted
        if b"#" in data and _HINT.search(data):
            found.update(_in_source(data))
    return frozenset(found)


def _in_source(data: bytes) -> Iterable[bytes]:
    for directive in Outline(data).directives:
        body = data[directive.body : directive.end]
        if directive.parameters and _HINT.search(body) and set(_STRINGIZED.findall(body)) & set(directive.parameters):
            yield directive.name
