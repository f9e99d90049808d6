"""A lossless lexer for C, C++ and CUDA: one compiled regular expression.

The texts of the tokens, joined, are the input again, byte for byte, whatever the input is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class TokenKind(str, Enum):
    """The sort of a token."""

    BLANK = "blank"
    NEWLINE = "newline"
    COMMENT = "comment"
    STRING = "string"
    CHARACTER = "character"
    IDENTIFIER = "identifier"
    NUMBER = "number"
    PUNCTUATION = "punctuation"


class Token(NamedTuple):
    """A token and its place, in bytes."""

    kind: TokenKind
    start: int
    end: int


TOKEN = re.compile(
    rb"""(?sx)
      (?P<newline> \r?\n )
    | (?P<blank> (?: [ \t\f\v\r]+ | \\\r?\n )+ )
    | (?P<comment> //[^\n\\]*(?:\\(?:\r?\n|.)?[^\n\\]*)* | /\*.*?(?:\*/|\Z) )
    | (?P<string> (?:u8|[uUL])? (?: R"(?P<delimiter>[^ ()\\\t\v\f\r\n]{0,16})\(.*?\)(?P=delimiter)"
                                  | "[^"\\\n]*(?:\\(?:\r\n|.)[^"\\\n]*)*"? ) )
    | (?P<character> (?:u8|[uUL])? '(?:[^'\\\n]|\\.)+' )
    | (?P<identifier> [A-Za-z_$\x80-\xff][\w$\x80-\xff]* )
    | (?P<number> \.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|[\w.])* )
    | (?P<punctuation> <<<|>>>|\.\.\.|<<=|>>=|->\*|<=>|::|->|\#\#|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||. )
    """
)
_KINDS = {kind.value: kind for kind in TokenKind}


def tokenize(data: bytes, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """All tokens of `data[start:end]`, white space and comments included, without gaps.

    `start` must be where a token starts. An unclosed string ends at its line, an unclosed comment at the end.
    """
    limit = len(data) if end is None else end
    for match in TOKEN.finditer(data, start, limit):
        group = match.lastgroup or "punctuation"
        yield Token(_KINDS["string" if group == "delimiter" else group], match.start(), match.end())


def each_significant(data: bytes, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of `data[start:end]` that a compiler sees, one by one: no white space, newlines or comments."""
    skipped = (TokenKind.BLANK, TokenKind.NEWLINE, TokenKind.COMMENT)
    return (token for token in tokenize(data, start, end) if token.kind not in skipped)


def significant(data: bytes, start: int = 0, end: int | None = None) -> list[Token]:
    """The same as a list."""
    return list(each_significant(data, start, end))
