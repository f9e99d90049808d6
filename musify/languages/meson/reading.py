"""Meson's files without loss: tokens, and the brackets that they stand in.

No wheel of a grammar for Meson was found. The language is small: comments, strings, names, brackets, commas and colons
say all that a rule asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from musify.languages.build.brackets import Grammar, Group, Piece, groups_of

_TOKEN = re.compile(
    rb"(?P<comment>#[^\n]*)|(?P<string>f?'''(?s:.*?)'''|f?'(?:\\.|[^'\\\n])*')|(?P<name>[A-Za-z_]\w*)|(?P<number>\d\w*)"
    rb"|(?P<newline>\n)|(?P<other>[=!<>+*/%-]=|[^\s])"
)
_GRAMMAR = Grammar(b":", (b".",), frozenset(b"if elif foreach in not and or".split()))


class MesonFile:
    """A file, read. Everything is found when it is first asked for."""

    def __init__(self, data: bytes) -> None:
        self.pieces = [_piece(match) for match in _TOKEN.finditer(data)]

    @cached_property
    def groups(self) -> Sequence[Group]:
        """All brackets that fit together, outer ones first."""
        return groups_of(self.pieces, _GRAMMAR)

    @property
    def lists(self) -> Sequence[Group]:
        """The lists among them; an index is none."""
        return [group for group in self.groups if group.opening.text == b"[" and group.name is None]


def _piece(match: re.Match[bytes]) -> Piece:
    kind, text = match.lastgroup or "other", match.group()
    if kind != "string":
        return Piece(kind, *match.span(), text)
    quotes = 3 if text.removeprefix(b"f").startswith(b"'''") else 1
    is_format = text.startswith(b"f")
    return Piece(kind, *match.span(), text, quotes + is_format, quotes, not is_format and b"\\" not in text)
