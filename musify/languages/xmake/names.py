"""Names in xmake's files that mention CUDA: variables, targets and options of the project keep theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from musify.languages.build.brackets import own_names
from musify.languages.xmake.facts import settings
from musify.languages.xmake.reading import LuaFile
from musify.model import Finding, Span


def find_names(file: LuaFile, spoken: Sequence[Span]) -> Iterator[Finding]:
    """A note for each name of the project's own, where nothing in `spoken` covers it."""
    own = [
        argument.string
        for group in file.groups
        if group.called in settings("own")
        for argument in group.positional
        if argument.string is not None
    ]
    yield from own_names([*own, *(piece for piece in file.pieces if piece.kind == "name")], spoken)
