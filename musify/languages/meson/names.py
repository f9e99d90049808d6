"""Names in Meson's files that mention CUDA: variables and options of the project keep theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from musify.languages.build.brackets import own_names
from musify.languages.build.facts import cuda_words
from musify.languages.meson.facts import known
from musify.languages.meson.reading import MesonFile
from musify.model import Finding, Span

_OPTIONS = ("option", "get_option")


def find_names(file: MesonFile, spoken: Sequence[Span]) -> Iterator[Finding]:
    """A note for each variable and option of the project's own, where nothing in `spoken` covers it."""
    options = {
        argument.pieces[0].start
        for group in file.groups
        if group.called in _OPTIONS
        for argument in group.positional[:1]
    }
    for piece in file.pieces:
        name = piece.text.decode("utf-8", "replace")
        if piece.kind == "name" and cuda_words().search(piece.text) and name in known():
            if not any(start <= piece.start < end for start, end in spoken):
                yield known()[name].at(piece.span, name)
        elif piece.kind == "name" or piece.start in options:
            yield from own_names([piece], spoken)
