"""Meson: meson.build and files of options.

Meson has a language for CUDA and none for MUSA: flags, files, libraries, headers and architectures are changed, and
what belongs to the language has a finding that says what to write instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from musify.languages.build.brackets import tokens_of
from musify.languages.build.edits import without_inner
from musify.languages.meson.calls import find_calls, find_folders
from musify.languages.meson.lists import find_lists
from musify.languages.meson.names import find_names
from musify.languages.meson.reading import MesonFile
from musify.model import Finding

if TYPE_CHECKING:
    from musify.languages.build.unit import BuildUnit, Token
    from musify.model import Edit


def tokens(data: bytes) -> list[Token]:
    """Comments, strings, names and whatever else is not blank."""
    return tokens_of(MesonFile(data).pieces)


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Edits and findings that need the grammar."""
    file = MesonFile(unit.data)
    spoken = []
    for item in without_inner(chain(find_calls(unit, file), find_lists(unit, file), find_folders(file))):
        spoken.append(item.span)
        yield item
    yield from find_names(file, spoken)
