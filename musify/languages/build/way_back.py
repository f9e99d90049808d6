"""Build files on the way back from MUSA to CUDA: names of sources follow, every other MUSA word is reported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from musify.languages.build.facts import words
from musify.languages.build.files import find_files
from musify.languages.build.unit import BuildUnit
from musify.languages.cuda.way_back import header_beginnings
from musify.model import Edit, Finding, Span
from musify.rules.book import RuleBook

_PLAIN = re.compile(rb"[A-Za-z][\w-]*\Z")


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Edits for renamed sources, and a finding for every word of MUSA's outside comments."""
    yield from find_files(unit)
    for span in unit.code:
        for match in _words(unit.book).finditer(unit.data, *span):
            yield _left(match)


def mentions_musa(data: bytes, book: RuleBook) -> bool:
    """Whether there is anything to look at in a build file."""
    return b".mu" in data or _words(book).search(data) is not None


def _left(match: re.Match[bytes]) -> Finding:
    name = match.group().decode("utf-8", "replace")
    known = _counterparts().get(match.group())
    hint, hint_zh = (f": CUDA has {known}", f"：CUDA 对应为 {known}") if known else ("", "")
    return Finding("MUS136", Span(*match.span()), name, {"hint": hint, "hint_zh": hint_zh})


@cache
def _counterparts() -> dict[bytes, str]:
    found: dict[bytes, str] = {}
    for word in words().values():
        if word.musa:
            found.setdefault(word.musa, word.cuda.decode())
    return found


@cache
def _words(book: RuleBook) -> re.Pattern[bytes]:
    """Words that hold one of MUSA's beginnings, and the programs and variables that are MUSA's as they are."""
    stems = b"|".join(sorted(header_beginnings(book) - {b"muvid"}))
    # Backwards, so that a longer word stands before one that it begins with.
    whole = b"|".join(re.escape(word) for word in sorted(_counterparts(), reverse=True) if _PLAIN.match(word))
    return re.compile(
        rb"[\w.+-]*?(?i:"
        + stems
        + rb"|mthreads)[\w.+-]*|[\w.=-]*mp_(?:\d\w*|(?=\$))|(?<![\w.-])(?:"
        + whole
        + rb")(?![\w-])"
    )
