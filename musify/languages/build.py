"""Build files of any kind: which renamed sources they still name. Nothing is changed in them yet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from musify.languages.surroundings import IncludeTarget
from musify.model import Finding, Span

_SOURCE = re.compile(rb"[\w./${}@+-]*[\w}]\.(?:cuh|cu)\b(?![\w.])")
_PATTERN = re.compile(rb"[\w./${}@+*?%-]*[*?%]\.(?:cuh|cu)\b(?![\w.])|(?<![\w.)}\]])\.(?:cuh|cu)\b(?![\w.(])")


def find_renamed(data: bytes, renamed: Mapping[bytes, IncludeTarget]) -> Iterator[Finding]:
    """Findings for every mention of a renamed file, and for every pattern over a CUDA suffix.

    `renamed` maps base names of renamed files to one of the files so named.
    """
    if not renamed or b".cu" not in data:
        return
    for match in _SOURCE.finditer(data):
        target = renamed.get(match.group().rpartition(b"/")[2])
        if target is not None:
            new = match.group()[: -len(target.path.rpartition("/")[2])].decode("utf-8", "replace")
            arguments = {"target": new + target.new_path.rpartition("/")[2]}
            yield Finding("MUS501", Span(*match.span()), match.group().decode("utf-8", "replace"), arguments)
    for match in _PATTERN.finditer(data):
        text = match.group().decode("utf-8", "replace")
        arguments = {"target": re.sub(r"\.cu(h?)\Z", r".mu\1", text)}
        yield Finding("MUS502", Span(*match.span()), text, arguments)
