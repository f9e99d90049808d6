"""Build files of a form that is not parsed: only names of files, variables and paths are changed in them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.build.unit import BuildUnit, Token, TokenKind
from musify.model import Edit, Finding

# `#`; at the start of a line also what C, m4 and batch files have; and XML's.
_TOKEN = re.compile(
    rb"(?m)(?P<comment>(?:^|(?<=\s))#[^\n]*|^[ \t]*(?://|dnl\b)[^\n]*|^[ \t@]*(?i:rem\b|::)[^\n]*|<!--(?s:.*?)-->)"
    rb"|[^\s\"'<>=,;|&]+"
)


def tokens(data: bytes) -> list[Token]:
    """Comments, and everything that stands between blanks, quotes and separators, as words."""
    return [
        Token(TokenKind.COMMENT if match.lastgroup else TokenKind.WORD, *match.span())
        for match in _TOKEN.finditer(data)
    ]


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Nothing needs a grammar here."""
    return iter(())
