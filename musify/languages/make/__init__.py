"""Makefiles: nvcc's variables, rules for .cu, flags and commands. Variables of the project keep their names."""

from __future__ import annotations

from collections.abc import Iterator

from musify.languages.build.unit import BuildUnit, Token, TokenKind
from musify.languages.make.conversion import Conversion
from musify.languages.make.reader import comments_of
from musify.languages.shell.quoting import runs_of
from musify.model import Edit, Finding


def tokens(data: bytes) -> list[Token]:
    """Comments, and what stands between blanks outside them."""
    found = []
    position = 0
    for comment in comments_of(data):
        found += [Token(TokenKind.WORD, *span) for span in runs_of(data, position, comment.start)]
        found.append(Token(TokenKind.COMMENT, *comment))
        position = comment.end
    return found + [Token(TokenKind.WORD, *span) for span in runs_of(data, position, len(data))]


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """What the statements of a makefile ask for."""
    yield from Conversion(unit).results()
