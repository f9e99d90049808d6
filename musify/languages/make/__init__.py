"""Makefiles: nvcc's variables, rules for .cu, flags and commands. Variables of the project keep their names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.build.unit import BuildUnit, Token
from musify.languages.make.conversion import Conversion
from musify.languages.make.reader import comments_of
from musify.languages.shell.quoting import words_around
from musify.model import Edit, Finding

# Arguments of a call stand side by side without blanks.
_WORD = re.compile(rb"(?:[^\s\"'(),]|(?<=[\w$@}])\(|\)(?=[\w./$%-]))+|[\"'(),]")


def tokens(data: bytes) -> list[Token]:
    """Comments, and what stands between blanks outside them."""
    return words_around(data, comments_of(data), _WORD)


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """What the statements of a makefile ask for."""
    yield from Conversion(unit).results()
