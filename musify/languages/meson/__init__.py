"""Meson: meson.build and files of options.

Meson has a language for CUDA and none for MUSA: flags, files, libraries, headers and architectures are changed, and
what belongs to the language has a finding that says what to write instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from musify.languages.build.unit import Token, TokenKind
from musify.languages.meson.calls import find_calls, find_folders
from musify.languages.meson.lists import find_lists
from musify.languages.meson.names import find_names
from musify.languages.meson.reading import MesonFile
from musify.model import Finding

if TYPE_CHECKING:
    from musify.languages.build.unit import BuildUnit
    from musify.model import Edit

_KINDS = {"comment": TokenKind.COMMENT, "string": TokenKind.STRING, "name": TokenKind.NAME}


def tokens(data: bytes) -> list[Token]:
    """Comments, strings, names and whatever else is not blank."""
    pieces = MesonFile(data).pieces
    return [
        Token(_KINDS.get(piece.kind, TokenKind.OTHER), piece.start, piece.end)
        for piece in pieces
        if piece.kind != "newline"
    ]


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Edits and findings that need the grammar."""
    file = MesonFile(unit.data)
    spoken = []
    for item in chain(find_calls(unit, file), find_lists(unit, file), find_folders(file)):
        spoken.append(item.span)
        yield item
    yield from find_names(file, spoken)
