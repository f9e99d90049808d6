"""What a makefile says by names alone: of its variables, of products that hold a source's suffix, of folders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from musify.languages.build.facts import cuda_words, named
from musify.languages.build.files import FILE_PATTERN
from musify.languages.build.unit import BuildUnit, TokenKind
from musify.languages.build.variables import Variables
from musify.languages.build.words import BUILD_WORD, LIBRARY_FOLDER
from musify.languages.make.names import Branch
from musify.languages.make.reader import Kind
from musify.languages.registry import RENAMED_SUFFIXES
from musify.model import Applicability, Edit, Finding, Span

_NAME = re.compile(rb"(?<=\$[({])[\w.-]+(?=[)}:])")
# A rule or a name made of a CUDA suffix and that of a product: `.cu.o:`, `%.cu.o`, `$(name).cu.d`.
_PRODUCT = re.compile(rb"(?:(?<![^\s])|(?<=[%)}*]))(\.cuh?)(?=\.(?:o|obj|lo|d|dep|s|ii)\b)")
_ROOT = re.compile(rb"\$[({]([\w.]+)(?=[)}]/lib64)")


def results(unit: BuildUnit, branches: Sequence[Branch], variables: Variables) -> Iterator[Edit | Finding]:
    """Edits and findings that no statement asks for."""
    yield from _names(unit, branches)
    yield from _folders(unit, variables)
    if unit.surroundings.renamed:
        yield from _products(unit)
        yield from _suffixes(unit, branches)


def _names(unit: BuildUnit, branches: Sequence[Branch]) -> Iterator[Finding]:
    """Variables keep their names; that is noted where one speaks of CUDA."""
    for branch in branches:
        name = branch.statement.name
        if branch.statement.kind is Kind.ASSIGNMENT:
            yield from _noted(name, unit.data.rfind(name, 0, branch.statement.body.start))
    for match in _NAME.finditer(unit.data):
        yield from _noted(match.group(), match.start())


def _noted(name: bytes, start: int) -> Iterator[Finding]:
    if cuda_words().search(name) and name not in named("variable"):
        yield Finding("MUS532", Span(start, start + len(name)), name.decode("utf-8", "replace"))


def _products(unit: BuildUnit) -> Iterator[Edit]:
    """Rules and names of products that hold the suffix of a source."""
    for token in unit.tokens:
        if token.kind is not TokenKind.COMMENT:
            for match in _PRODUCT.finditer(unit.data, token.start, token.end):
                new = RENAMED_SUFFIXES[match.group(1).decode()]
                yield Edit(Span(*match.span(1)), new.encode(), FILE_PATTERN, Applicability.REVIEW)


def _suffixes(unit: BuildUnit, branches: Sequence[Branch]) -> Iterator[Edit | Finding]:
    """A variable that holds the suffix of sources, as in `%.$(EXT)` with `EXT = cu`."""
    for branch in branches:
        body, name = branch.statement.body, branch.statement.name
        new = RENAMED_SUFFIXES.get("." + unit.text(body).decode("utf-8", "replace"))
        if branch.statement.kind is not Kind.ASSIGNMENT or new is None:
            continue
        if re.search(rb"\.\$[({]" + re.escape(name) + rb"[)}]", unit.data):
            yield Edit(body, new[1:].encode(), FILE_PATTERN, Applicability.REVIEW)
            yield Finding("MUS502", body, unit.text(body).decode(), {"target": new[1:]})


def _folders(unit: BuildUnit, variables: Variables) -> Iterator[Edit]:
    """MUSA's toolkit has one folder of libraries, also under a name of the project's for the toolkit."""
    for match in _ROOT.finditer(unit.data):
        folder = LIBRARY_FOLDER.match(unit.data, match.end())
        if folder and match.group(1) in variables.roots - named("variable").keys():
            yield Edit(Span(*folder.span(1)), b"", BUILD_WORD, Applicability.REVIEW, "lib64", "", "documented")
