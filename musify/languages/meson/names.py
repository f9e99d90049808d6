"""Names in Meson's files that mention CUDA: variables and options of the project keep theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from musify.languages.build.facts import cuda_words
from musify.languages.meson.facts import known
from musify.languages.meson.reading import MesonFile, Piece
from musify.model import Finding, Severity, Span

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
        if piece.kind == "name" or piece.start in options:
            yield from _note(piece, spoken)


def _note(piece: Piece, spoken: Sequence[Span]) -> Iterator[Finding]:
    if any(start <= piece.start < end for start, end in spoken) or not cuda_words().search(piece.text):
        return
    name = (piece.content or piece.text).decode("utf-8", "replace")
    if piece.kind == "name" and name in known():
        yield known()[name].at(piece.span, name)
    else:
        yield Finding("MUS504", piece.span, name, severity=Severity.NOTE)
