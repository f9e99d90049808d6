"""A finding for every CUDA word that nothing else spoke of: nothing is left in silence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from musify.languages.build.facts import cuda_words, words
from musify.languages.build.unit import BuildUnit, TokenKind
from musify.model import Finding, Severity, Span

_WORD = re.compile(rb"[\w.+-]+")


def find_leftovers(unit: BuildUnit, spoken: Iterable[Span]) -> Iterator[Finding]:
    """Findings for CUDA words outside comments and outside `spoken` (places of edits and findings)."""
    taken = sorted(spoken)
    index = 0
    for token in unit.tokens:
        if token.kind is TokenKind.COMMENT:
            continue
        for match in _words_of(unit.data, token.start, token.end):
            while index < len(taken) and taken[index].end <= match.start:
                index += 1
            if any(span.start < match.end for span in taken[index : index + 1]):
                continue
            yield _left(unit.data, match)


def _words_of(data: bytes, start: int, end: int) -> Iterator[Span]:
    position = start
    for hit in cuda_words().finditer(data, start, end):
        if hit.start() < position:
            continue
        first, last = hit.start(), hit.end()
        while first > position and _WORD.fullmatch(data, first - 1, first):
            first -= 1
        whole = _WORD.match(data, first, end)
        last = max(last, first + len(whole.group().rstrip(b".-+")) if whole else last)
        position = last
        yield Span(first, last)


def _left(data: bytes, span: Span) -> Finding:
    text = data[span.start : span.end]
    word = words().get(text)
    name = text.decode("utf-8", "replace")
    if word is not None:
        known = {
            "what": f"MUSA has {word.musa.decode()}" if word.musa else "no counterpart is known",
            "what_zh": f"MUSA 对应为 {word.musa.decode()}" if word.musa else "未知对应物",
        }
        return Finding("MUS503", span, name, known)
    return Finding("MUS504", span, name, severity=Severity.NOTE if _is_own(text) else None)


def _is_own(text: bytes) -> bool:
    """Whether CUDA stands in a longer word, so that the name may well be the project's own."""
    hit = cuda_words().search(text)
    return hit is not None and hit.span() != (0, len(text))
