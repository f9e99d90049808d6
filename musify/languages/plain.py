"""Build files of a form that is not parsed: only names of files, variables and paths are changed in them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.build.unit import BuildUnit, Token, TokenKind
from musify.model import Edit, Finding

_TOKEN = re.compile(rb"(?m)(?P<comment>(?:^|(?<=\s))#[^\n]*)|[^\s\"'<>=,;|&]+")


def tokens(data: bytes) -> list[Token]:
    """Comments after `#`, and everything that stands between blanks, quotes and separators, as words."""
    return [
        Token(TokenKind.COMMENT if match.lastgroup else TokenKind.WORD, *match.span())
        for match in _TOKEN.finditer(data)
    ]


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Nothing needs a grammar here."""
    return iter(())
