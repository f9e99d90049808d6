"""Build files of any kind: which renamed sources they still name. Nothing is changed in them yet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from musify.languages.surroundings import IncludeTarget
from musify.model import Finding, Span

_SUFFIX = re.compile(rb"\.(?:cuh|cu)\b(?![\w.])")
_WORD = re.compile(rb"[\w./${}@+*?%-]*\Z")
_LONGEST_PATH = 400


def find_renamed(data: bytes, renamed: Mapping[bytes, IncludeTarget]) -> Iterator[Finding]:
    """Findings for every mention of a renamed file, and for every pattern over a CUDA suffix.

    `renamed` maps base names of renamed files to one of the files so named.
    """
    if not renamed or b".cu" not in data:
        return
    for match in _SUFFIX.finditer(data):
        word = _WORD.search(data, max(0, match.start() - _LONGEST_PATH), match.start())
        start = word.start() if word else match.start()
        yield from _mention(data, Span(start, match.end()), match.start(), renamed)


def _mention(data: bytes, span: Span, suffix: int, renamed: Mapping[bytes, IncludeTarget]) -> Iterator[Finding]:
    text = data[span.start : span.end]
    shown = text.decode("utf-8", "replace")
    if data[suffix - 1 : suffix] in (b"*", b"?", b"%") or (span.start == suffix and not _is_member(data, span)):
        yield Finding("MUS502", span, shown, {"target": re.sub(r"\.cu(h?)\Z", r".mu\1", shown)})
        return
    target = renamed.get(text.rpartition(b"/")[2])
    if target is not None:
        new = shown[: -len(target.path.rpartition("/")[2])] + target.new_path.rpartition("/")[2]
        yield Finding("MUS501", span, shown, {"target": new})


def _is_member(data: bytes, span: Span) -> bool:
    """`x).cu` and `.cu(...)` are code, not a suffix."""
    return data[span.start - 1 : span.start] in (b")", b"]") or data[span.end : span.end + 1] == b"("
