"""A finding for every CUDA word that nothing else spoke of: nothing is left in silence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from musify.languages.build.facts import cuda_literal_finder, cuda_words, words
from musify.languages.build.requirements import requirement_of
from musify.languages.build.unit import BuildUnit, TokenKind
from musify.model import Finding, Severity, Span
from musify.rules.book import RuleBook
from musify.rules.model import Action

_WORD = re.compile(rb"[\w.+-]+")
_PATH_BEFORE = re.compile(rb"[\w.+/-]*\Z")
_PATH = re.compile(rb"[\w.+-][\w.+/-]*/[\w.+*-]*\.(?:c|cc|cpp|cxx|cu|cuh|h|hh|hpp|mu|muh|py|txt|cmake)(?![\w.])")
_LONGEST_PATH = 400


def find_leftovers(unit: BuildUnit, spoken: Iterable[Span]) -> Iterator[Finding]:
    """Findings for CUDA words outside comments and outside `spoken` (places of edits and findings)."""
    taken = sorted(spoken)
    sources = {token.start for token in unit.tokens if token.kind is TokenKind.SOURCE}
    index = 0
    for span in unit.code_at(cuda_literal_finder().starts(unit.data.lower())):
        position = span.start
        for hit in cuda_words().finditer(unit.data, *span):
            while index < len(taken) and taken[index].end <= hit.start():
                index += 1
            following = taken[index].start if index < len(taken) else span.end
            if hit.start() < position or following < hit.end():
                continue
            if span.start in sources and _is_the_same(unit.book, hit.group()):
                continue
            preceding = taken[index - 1].end if index else 0
            word = _word_around(unit.data, hit.span(), max(position, preceding), min(span.end, following))
            position = word.end
            yield _left(unit.data, word, is_own=_is_own(unit.data, word))


def _is_the_same(book: RuleBook, name: bytes) -> bool:
    """Whether a namespace of CUDA's has the same name on MUSA: `thrust`."""
    rule = book.namespace(name)
    return rule is not None and rule.action is Action.IDENTITY


def cuda_words_in(data: bytes, within: Span) -> Iterator[Span]:
    """The words in a stretch of text that mention CUDA."""
    position = within.start
    for hit in cuda_words().finditer(data, *within):
        if hit.start() >= position:
            word = _word_around(data, hit.span(), position, within.end)
            position = word.end
            yield word


def _word_around(data: bytes, hit: tuple[int, int], floor: int, end: int) -> Span:
    """The word that holds a hit, as far as it lies between `floor` and `end`."""
    first, last = hit
    while first > floor and _WORD.fullmatch(data, first - 1, first):
        first -= 1
    whole = _WORD.match(data, first, end)
    return Span(first, max(last, first + len(whole.group().rstrip(b".-+"))) if whole else last)


def _left(data: bytes, span: Span, *, is_own: bool) -> Finding:
    text = data[span.start : span.end]
    word = words().get(text)
    requirement = requirement_of(text)
    name = text.decode("utf-8", "replace")
    if word is not None:
        known = {
            "what": f"MUSA has {word.musa.decode()}" if word.musa else "no counterpart is known",
            "what_zh": f"MUSA 对应为 {word.musa.decode()}" if word.musa else "未知对应物",
        }
        return Finding("MUS503", span, name, known)
    if requirement is not None:
        return Finding("MUS547", span, name, requirement)
    return Finding("MUS504", span, name, severity=Severity.NOTE if is_own else None)


def _is_own(data: bytes, span: Span) -> bool:
    """Whether a name may well be the project's own: CUDA stands in a longer word, or in the path of a source."""
    hit = cuda_words().search(data, *span)
    if hit is not None and hit.span() != span:
        return True
    before = _PATH_BEFORE.search(data, max(0, span.start - _LONGEST_PATH), span.start)
    path = _PATH.match(data, before.start() if before else span.start)
    return path is not None and path.end() >= span.end
