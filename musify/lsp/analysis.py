"""What is found in one text of an editor's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from musify.engine.document import UNKNOWN_NAMES, Conversion, convert_build, convert_source
from musify.languages.registry import Language
from musify.lsp.positions import Positions
from musify.lsp.project import Buffers, Project
from musify.model import Applicability, Edit, Finding
from musify.project.survey import ProjectIndex
from musify.source.document import Document, NotText


@dataclass(frozen=True)
class Analysis:
    """A text, and the edits and findings in it; `language` is None where musify does not read it."""

    positions: Positions
    language: Language | None = None
    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()


def analyse(project: Project, path: Path, text: str, encoding: str, buffers: Buffers) -> Analysis:
    """Look at a text as the file at `path`. Never raises for what it holds."""
    positions = Positions(text, encoding)
    file = project.file(path)
    if file is None or file.language is None or file.is_link:
        return Analysis(positions)
    try:
        document = Document.from_bytes(positions.data)
    except NotText:
        return Analysis(positions)
    if file.language is Language.CUDA:
        conversion = _source(project, file.relative, document, buffers)
    else:
        around = project.build_surroundings(file, buffers)
        conversion = convert_build(document, file.language, project.choices.book, project.choices.settings, around)
    edits = [edit for edit in conversion.edits if edit.applicability is not Applicability.MANUAL]
    return Analysis(positions, file.language, tuple(edits), tuple(_chosen(project, conversion.findings)))


def _source(project: Project, relative: str, document: Document, buffers: Buffers) -> Conversion:
    index, reached = project.index(relative, buffers)
    choices = project.choices
    conversion = convert_source(document, choices.book, choices.settings, index.surroundings(relative))
    unknown = {item.name.encode() for item in conversion.findings if item.rule_id in UNKNOWN_NAMES}
    if unknown:
        others = (path for path in reached if path != relative)
        declared = conversion.declared | _declared(project, index, others, buffers, unknown)
        conversion.findings = [
            item
            for item in conversion.findings
            if item.rule_id not in UNKNOWN_NAMES or item.name.encode() not in declared
        ]
    return conversion


def _declared(
    project: Project, index: ProjectIndex, paths: Iterable[str], buffers: Buffers, names: set[bytes]
) -> frozenset[bytes]:
    """The names among `names` that files declare which this one includes."""
    found: frozenset[bytes] = frozenset()
    for path in paths:
        data = project.read(buffers, path)
        if any(name in data for name in names - found):
            choices = project.choices
            found |= convert_source(Document(data), choices.book, choices.settings, index.surroundings(path)).declared
    return found


def _chosen(project: Project, findings: Iterable[Finding]) -> Iterable[Finding]:
    select, ignore = project.choices.select, project.choices.ignore
    for item in findings:
        wanted = not select or item.rule_id.startswith(select)
        if wanted and not item.rule_id.startswith(ignore or ("-",)) and not item.suppressed:
            yield item
