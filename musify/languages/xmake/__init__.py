"""xmake: xmake.lua and the files that it includes from xmake/.

xmake compiles CUDA by itself and needs a rule of the project's for MUSA: flags, libraries, architectures, macros and
names of rules are changed, the rest has findings that say what to write instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from musify.languages.build.brackets import tokens_of
from musify.languages.build.edits import without_inner
from musify.languages.xmake.calls import find_calls, find_settings
from musify.languages.xmake.flags import find_flags
from musify.languages.xmake.names import find_names
from musify.languages.xmake.reading import LuaFile

if TYPE_CHECKING:
    from musify.languages.build.unit import BuildUnit, Token
    from musify.model import Edit, Finding


def tokens(data: bytes) -> list[Token]:
    """Comments, strings, names and whatever else is not blank."""
    return tokens_of(LuaFile(data).pieces)


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Edits and findings that need the grammar."""
    file = LuaFile(unit.data)
    spoken = []
    for item in without_inner(chain(find_settings(unit, file), find_flags(unit, file), find_calls(unit, file))):
        spoken.append(item.span)
        yield item
    yield from find_names(file, spoken)
