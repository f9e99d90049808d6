"""One document: markers, language, edits, self-check. Pure: bytes in, a conversion out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from musify.engine.annotations import annotation_edits
from musify.languages.cuda import source
from musify.languages.cuda.unit import Unit
from musify.languages.registry import Language, reader_of
from musify.languages.semantics import Semantics
from musify.languages.surroundings import BuildSurroundings, Settings, Surroundings
from musify.model import Edit, Finding, Span
from musify.rules.book import RuleBook
from musify.source import edits as applier
from musify.source import selfcheck
from musify.source.document import Document
from musify.source.markers import read_markers

# Findings that hold only where no file of the run declares the name: CUDA's on the way there, MUSA's on the way back.
UNKNOWN_NAMES = frozenset({"MUS101", "MUS132"})


@dataclass
class Conversion:
    """What became of one document. `new_data` is `document.data` itself where nothing changed.

    `declared` are the CUDA-looking names that it declares: a finding of an unknown name (MUS101) holds only where
    no file of the run declares the name. `pasted` are the API names that macros make in it.
    """

    document: Document
    edits: list[Edit] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    declared: frozenset[bytes] = frozenset()
    pasted: frozenset[bytes] = frozenset()

    @cached_property
    def new_data(self) -> bytes:
        """The converted text, in the form of `document.data`."""
        return applier.apply(self.document.data, self.edits) if self.edits else self.document.data


def convert_build(
    document: Document, language: Language, book: RuleBook, settings: Settings, surroundings: BuildSurroundings
) -> Conversion:
    """Convert a build file, script or notebook. Never raises for what the document holds.

    One that does not mention CUDA is not looked at. Where the self-check refuses the result, the edits are dropped
    and a finding says so; so does one where the document is nested too deeply to be read.
    """
    try:
        return _convert_build(document, language, book, settings, surroundings)
    except RecursionError:
        return too_deep(document, surroundings.path)


def too_deep(document: Document, path: str) -> Conversion:
    """What becomes of a document whose nesting no reader follows: nothing, and a finding."""
    reason = "brackets, blocks or lists are nested too deeply to be read"
    return Conversion(document, [], [Finding("MUS901", Span(0, 0), path, {"reason": reason})])


def _convert_build(
    document: Document, language: Language, book: RuleBook, settings: Settings, surroundings: BuildSurroundings
) -> Conversion:
    if language is Language.NOTEBOOK:
        from musify.engine.notebook import convert_notebook  # which comes back here with its cells

        return convert_notebook(document, book, settings, surroundings)
    from musify.languages.build import conversion as build
    from musify.languages.build.unit import BuildUnit

    if not build.is_of_interest(document.data, book, settings, surroundings):
        return Conversion(document)
    reader = reader_of(language)
    unit = BuildUnit(document.data, reader, book, settings, surroundings)
    result = build.convert(unit)
    if settings.python_mode == "torchada":
        from musify.languages.python import torchada

        is_python = language is Language.PYTHON
        result = torchada.as_it_is(unit, result) if is_python else torchada.without_devices(result)
    edits, findings = read_markers(document, unit.comments).filter(document, result.edits, result.findings)
    findings.sort(key=lambda finding: (finding.span, finding.rule_id))
    try:
        conversion = Conversion(document, applier.in_order(edits), findings)
        if not edits:
            return conversion
        spans = [(token.start, token.end) for token in unit.tokens]
        after = [(token.start, token.end) for token in reader.tokens(conversion.new_data)]
        problem = selfcheck.moved_failure(spans, conversion.edits, after)
    except applier.EditConflict as conflict:
        problem = str(conflict)
    if problem is None:
        return conversion
    return Conversion(document, [], [Finding("MUS902", Span(0, 0), surroundings.path, {"reason": problem}), *findings])


def convert_source(
    document: Document,
    book: RuleBook,
    settings: Settings,
    surroundings: Surroundings,
    semantics: Semantics | None = None,
) -> Conversion:
    """Convert a C, C++ or CUDA document. Never raises for what the document holds.

    `semantics` answers what tokens leave open, where a compiler is to be asked. Where the self-check refuses the
    result, the edits are dropped and a finding says so.
    """
    hits = source.look(document.data, book)
    if not hits.words and not hits.marks:
        return Conversion(document)
    unit = Unit(document.data, book, settings, surroundings, hits=hits, semantics=semantics)
    result = source.convert(unit)
    declared = frozenset(result.declared)
    outline = unit.outline
    markers = read_markers(document, (Span(item.start, item.end) for item in outline.comments()))
    edits, findings = markers.filter(document, result.edits, result.findings)
    if settings.annotate:
        held = [item for item in findings if item.rule_id not in UNKNOWN_NAMES or item.name.encode() not in declared]
        edits += annotation_edits(document, outline, held)
    findings.sort(key=lambda finding: (finding.span, finding.rule_id))
    try:
        conversion = Conversion(document, applier.in_order(edits), findings, declared, frozenset(result.pasted))
        problem = selfcheck.failure(outline, conversion.edits, conversion.new_data)
    except applier.EditConflict as conflict:
        problem = str(conflict)
    if problem is None:
        return conversion
    refused = Finding("MUS902", Span(0, 0), surroundings.path, {"reason": problem})
    return Conversion(document, [], [refused, *findings], declared)
