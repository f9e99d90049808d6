"""A notebook: its pieces converted each in its language, the changes carried over to where they stand in the JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from musify.engine.document import Conversion, convert_build, convert_source
from musify.languages.build.conversion import is_of_interest
from musify.languages.build.leftovers import cuda_words_in
from musify.languages.notebook.facts import cuda_magic
from musify.languages.notebook.pieces import Piece, pieces_of
from musify.languages.notebook.reading import Cell, Notebook, read_notebook, skeleton
from musify.languages.python import read
from musify.languages.python.pytorch.imports import IMPORT, import_edits
from musify.languages.registry import Language
from musify.languages.surroundings import BuildSurroundings, Settings, Surroundings
from musify.model import Edit, Finding, Span
from musify.rules.book import RuleBook
from musify.source import edits as applier
from musify.source.document import Document
from musify.source.json import JsonError

_MAGIC = "MUS631"
_TORCH = re.compile(rb"[ \t]*(?:import|from)[ \t]+torch\b")


@dataclass
class _Found:
    """What the pieces gave, at places in the notebook."""

    edits: list[Edit] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    declared: frozenset[bytes] = frozenset()


def convert_notebook(
    document: Document, book: RuleBook, settings: Settings, surroundings: BuildSurroundings
) -> Conversion:
    """Convert the code cells of a notebook; every other byte stays. Never raises for what the document holds."""
    if not is_of_interest(document.data, book, settings, surroundings):
        return Conversion(document)
    try:
        notebook = read_notebook(document.data)
    except JsonError as error:
        place = error.place(document.data)
        return Conversion(document, [], [Finding("MUS630", place, surroundings.path, {"reason": str(error)})])
    found = _pieces(notebook, book, settings, surroundings)
    found.findings.sort(key=lambda finding: (finding.span, finding.rule_id))
    try:
        conversion = Conversion(document, applier.in_order(found.edits), found.findings, found.declared)
        problem = _failure(conversion)
    except applier.EditConflict as conflict:
        problem = str(conflict)
    if problem is None:
        return conversion
    refused = Finding("MUS902", Span(0, 0), surroundings.path, {"reason": problem})
    return Conversion(document, [], [refused, *found.findings])


def _pieces(notebook: Notebook, book: RuleBook, settings: Settings, surroundings: BuildSurroundings) -> _Found:
    found, everything = _Found(), pieces_of(notebook, reverse=settings.reverse)
    for magic in everything.magics:
        arguments = {**cuda_magic(), "cell": str(magic.cell.number)}
        found.findings.append(Finding(_MAGIC, magic.place, magic.name, arguments))
    if not surroundings.renamed or any(piece.path.endswith(".cu") for piece in everything.pieces):
        surroundings = replace(surroundings, keeps_names=True)  # a source that a cell writes is renamed by nobody
    for piece in everything.pieces:
        conversion = _converted(piece, book, settings, surroundings)
        found.declared |= conversion.declared
        for edit in conversion.edits:
            if edit.span.end > piece.context or not piece.context:
                found.edits += _placed(piece, edit)
            elif edit.rule_id == IMPORT:
                found.edits += _import_of(everything.pieces[0], found.edits)
        found.findings += (_at(piece, item) for item in conversion.findings if item.span.start >= piece.context)
    return found


def _import_of(piece: Piece, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The import of torch_musa that a broken cell needs, among the imports of the others, unless it is there."""
    if not any(edit.rule_id == IMPORT for edit in edits):
        for edit in import_edits(piece.text.text, read(piece.text.text), ()):
            yield from _placed(piece, edit)


def _converted(piece: Piece, book: RuleBook, settings: Settings, surroundings: BuildSurroundings) -> Conversion:
    document = Document(piece.text.text)
    if piece.language is None:
        words = cuda_words_in(document.data, Span(0, len(document.data)))
        return Conversion(document, [], [Finding("MUS504", word, _shown(document, word)) for word in words])
    if piece.language is Language.CUDA:
        return convert_source(document, book, settings, Surroundings(piece.path or surroundings.path))
    return convert_build(document, piece.language, book, settings, surroundings)


def _shown(document: Document, span: Span) -> str:
    return document.data[slice(*span)].decode("utf-8", "replace")


def _cell_of(piece: Piece, offset: int) -> Cell:
    return next((cell for cell in piece.cells if cell.place.start <= offset <= cell.place.end), piece.cells[0])


def _at(piece: Piece, finding: Finding) -> Finding:
    """A finding at its place in the notebook; it names the cell."""
    span = piece.text.around(*finding.span)
    arguments = {**finding.arguments, "cell": str(_cell_of(piece, span.start).number)}
    return finding._replace(span=span, arguments=arguments)


def _placed(piece: Piece, edit: Edit) -> Iterator[Edit]:
    """An edit where it stands in the notebook; in several parts where it goes over several strings."""
    start, end, new = edit.span.start, edit.span.end, edit.new_text
    if start == end and new.endswith(b"\n") and _is_behind_cell(piece, start) and not _is_import_before(piece, edit):
        # A new line behind the last one of a cell belongs to that cell, not to the next.
        start = end = start - 1
        new = b"\n" + new.removesuffix(b"\n")
    place = piece.text.locate(start, end)
    if place is not None:
        yield edit._replace(span=place, new_text=_cell_of(piece, place.start).written(new))
        return
    for run_span, _, _ in _together(piece, start, end):
        yield edit._replace(span=run_span, new_text=_cell_of(piece, run_span.start).written(new))
        new = b""


def _is_import_before(piece: Piece, edit: Edit) -> bool:
    """Whether the import of torch_musa belongs before an import of torch, not behind one that ends another cell."""
    before = piece.text.text[: edit.span.start].rstrip(b"\r\n").rpartition(b"\n")[2]
    return edit.rule_id == IMPORT and _TORCH.match(before) is None


def _is_behind_cell(piece: Piece, position: int) -> bool:
    """Whether a position lies behind the end of a cell's last line, which stands nowhere in the notebook."""
    ends = (run for run in piece.text.stretches if run.start + len(run.text) == position)
    return any(run.text == b"\n" and run.span.start == run.span.end for run in ends)


def _together(piece: Piece, start: int, end: int) -> list[tuple[Span, bytes, bool]]:
    """The runs of a stretch of text, those that stand beside each other in one string as one."""
    joined: list[tuple[Span, bytes, bool]] = []
    for run in piece.text.runs(start, end):
        if joined and joined[-1][0].end == run[0].start:
            joined[-1] = (Span(joined[-1][0].start, run[0].end), joined[-1][1] + run[1], True)
        else:
            joined.append(run)
    return [run for run in joined if run[0].end > run[0].start]


def _failure(conversion: Conversion) -> str | None:
    """Why the output must not be written: it is no notebook, or another one beside the source of its cells."""
    if not conversion.edits:
        return None
    try:
        before, after = skeleton(conversion.document.data), skeleton(conversion.new_data)
    except ValueError as error:
        return f"what the edits leave is not JSON: {error}"
    return None if before == after else "the edits change more than the source of cells"
