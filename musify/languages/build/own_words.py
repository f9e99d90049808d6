"""Words of the user's mappings in build files, whole and outside comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from musify.languages.build.unit import BuildUnit, TokenKind
from musify.model import Edit, Evidence, Span
from musify.rules.book import RuleBook

OWN_WORD = "own-word"
# What a word may not be a part of, besides letters and digits.
_JOINED = rb"[\w.+-]"


def find_own_words(unit: BuildUnit) -> Iterator[Edit]:
    """An edit for every word that a mapping changes."""
    words = unit.book.own_words
    for token in unit.tokens if words else ():
        if token.kind is not TokenKind.COMMENT:
            for match in _pattern(unit.book).finditer(unit.data, token.start, token.end):
                name, new = match.group(), words[match.group()]
                if new != name:
                    project = Evidence.PROJECT.value
                    yield Edit(
                        Span(*match.span()), new, OWN_WORD, name=name.decode(), library="project", evidence=project
                    )


def mentions_own_words(data: bytes, book: RuleBook) -> bool:
    """Whether a build file holds a word of a mapping."""
    return bool(book.own_words) and _pattern(book).search(data) is not None


@lru_cache(maxsize=4)
def _pattern(book: RuleBook) -> re.Pattern[bytes]:
    """Words with letters only stand alone in paths and after `-l`, `-D`, `-I` and `-L` too."""
    words = b"|".join(re.escape(word) for word in sorted(book.own_words, key=len, reverse=True))
    before = rb"(?:(?<!" + _JOINED + rb")|(?<=(?<![\w.+-])-[lDIL]))"
    return re.compile(before + rb"(?:" + words + rb")(?![\w+-]|\.\w)")
