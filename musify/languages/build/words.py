"""Environment variables and paths that have a counterpart, in any language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from musify.languages.build.facts import named
from musify.languages.build.unit import BuildUnit, TokenKind
from musify.model import Applicability, Edit, Span

BUILD_WORD = "build-word"
_VERSIONED = re.compile(rb"-\d+(?:\.\d+)*")


def find_words(unit: BuildUnit) -> Iterator[Edit]:
    """Edits for variables and paths, outside comments and names of a programming language."""
    for token in unit.tokens:
        if token.kind not in (TokenKind.COMMENT, TokenKind.NAME):
            yield from word_edits(unit.data, Span(token.start, token.end))


def word_edits(data: bytes, within: Span) -> Iterator[Edit]:
    """Edits for variables and paths in a stretch of text."""
    for match in _pattern().finditer(data, *within):
        word = named("variable").get(match.group()) or named("path")[match.group()]
        end, applicability = match.end(), Applicability.SAFE
        if word.kind == "path":
            version = _VERSIONED.match(data, end, within.end)
            if version is not None:  # MUSA's folder carries no version
                end, applicability = version.end(), Applicability.REVIEW
        yield Edit(
            Span(match.start(), end), word.musa, BUILD_WORD, applicability, word.cuda.decode(), "", word.evidence.value
        )


@cache
def _pattern() -> re.Pattern[bytes]:
    texts = sorted([*named("variable"), *named("path")], key=len, reverse=True)
    return re.compile(rb"(?<![\w])(?:" + b"|".join(map(re.escape, texts)) + rb")(?![A-Za-z0-9_])")
