"""Words of the user's mappings in build files, whole and outside comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

from musify.languages.build.unit import BuildUnit, TokenKind
from musify.model import Edit, Evidence, Span
from musify.rules.book import RuleBook

OWN_WORD = "own-word"
# What stands before a word that is not a part of a longer one: `-l`, `-D`, `-I` and `-L` may, being flags.
_BEFORE = re.compile(rb"(?<![\w.+/-])|(?<=(?<![\w.+-])-[lDIL])")
# A folder is a part of its path; a variable before one is not.
_AFTER = re.compile(rb"(?![\w+/-]|\.\w)")
_AFTER_VARIABLE = re.compile(rb"(?![\w+-]|\.\w)")


def find_own_words(unit: BuildUnit) -> Iterator[Edit]:
    """An edit for every word that a mapping changes."""
    words = unit.book.own_words
    for token in unit.tokens if words else ():
        if token.kind is not TokenKind.COMMENT:
            for span in _found(unit.data, Span(token.start, token.end), unit.book):
                name = unit.text(span)
                if words[name] != name:
                    yield Edit(
                        span, words[name], OWN_WORD, name=name.decode(), library="project",
                        evidence=Evidence.PROJECT.value,
                    )  # fmt: skip


def mentions_own_words(data: bytes, book: RuleBook) -> bool:
    """Whether a build file holds a word of a mapping."""
    return bool(book.own_words) and any(True for _ in _found(data, Span(0, len(data)), book))


def _found(data: bytes, within: Span, book: RuleBook) -> Iterator[Span]:
    """The words of mappings, whole ones, in a stretch of text; of two that begin together the longer one."""
    for _, start, end in _automaton(book).find_matches_as_indexes(data[within.start : within.end]):
        span = Span(within.start + start, within.start + end)
        after = _AFTER_VARIABLE if data[span.start - 1 : span.start] == b"$" else _AFTER
        if _BEFORE.match(data, span.start) and after.match(data, span.end):
            yield span


@lru_cache(maxsize=4)
def _automaton(book: RuleBook) -> BytesAhoCorasick:
    """Mappings hold tens of thousands of words: one pass finds them all."""
    kind = MatchKind.LeftmostLongest
    return BytesAhoCorasick(list(book.own_words), matchkind=kind, implementation=Implementation.ContiguousNFA)
