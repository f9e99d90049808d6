"""What a run says of each file and of all of them: plain records that cross process borders and feed the reports."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from musify.engine.document import UNKNOWN_NAMES, Conversion
from musify.model import Applicability, Edit, Finding, Severity, Span
from musify.rules import findings as catalogue
from musify.source.document import Document


class EditRecord(NamedTuple):
    """An edit as reports show it; lines and columns are 1-based, of the original file."""

    rule_id: str
    applicability: str
    line: int
    column: int
    end_line: int
    end_column: int
    old_text: str
    new_text: str
    name: str
    library: str
    evidence: str
    fingerprint: str


class FindingRecord(NamedTuple):
    """A finding as reports show it; lines and columns are 1-based, of the original file."""

    id: str
    severity: str
    line: int
    column: int
    end_line: int
    end_column: int
    name: str
    message: str
    suggestion: str
    suppressed: bool
    fingerprint: str


@dataclass
class FileResult:
    """What became of one file. `names` counts renamed names by (library, evidence).

    `settled` is the path below the output folder that its content now waits for; None where it could not be written.
    `asked` and `answered` count the questions that libclang was asked. `lines` are the texts of the lines that have
    findings (1-based), where a report asks for them.
    """

    path: str
    output_path: str
    language: str | None
    size: int = 0
    changed: bool = False
    edit_count: int = 0
    names: Counter[tuple[str, str]] = field(default_factory=Counter)
    edits: list[EditRecord] = field(default_factory=list)
    findings: list[FindingRecord] = field(default_factory=list)
    diff: bytes = b""
    declared: frozenset[bytes] = frozenset()
    settled: str | None = None
    asked: int = 0
    answered: int = 0
    lines: dict[int, str] = field(default_factory=dict)

    @property
    def renamed(self) -> bool:
        """Whether the file got another name."""
        return self.path != self.output_path

    def active_findings(self) -> Iterable[FindingRecord]:
        """The findings that nobody suppressed."""
        return (finding for finding in self.findings if not finding.suppressed)


_LONG_LINE = 20_000
_NEAR = 200


@dataclass
class RunResult:
    """A whole run: its files in order, and how long it took in seconds."""

    files: list[FileResult]
    seconds: float = 0.0

    def sources(self) -> list[FileResult]:
        """The files that were looked at."""
        return [file for file in self.files if file.language is not None]

    def drop_declared(self, elsewhere: frozenset[bytes] = frozenset()) -> None:
        """Take back findings of unknown names that some file of the run declares, or one outside it (`elsewhere`)."""
        declared = elsewhere.union(*(file.declared for file in self.files))
        for file in self.files:
            file.findings = [
                item for item in file.findings if item.id not in UNKNOWN_NAMES or item.name.encode() not in declared
            ]

    def choose(self, select: Sequence[str], ignore: Sequence[str]) -> None:
        """Keep findings whose id begins with one of `select` (any, where it is empty) and with none of `ignore`."""
        for file in self.files:
            file.findings = [
                item
                for item in file.findings
                if (not select or item.id.startswith(tuple(select))) and not item.id.startswith(tuple(ignore))
            ]

    def keep_lines(self, is_wanted: Callable[[str, int, int], bool]) -> None:
        """Keep the findings and edits on lines that are wanted, of a path as it is shown and from line to line.

        A file without an edit on such a line counts as unchanged.
        """
        for file in self.files:
            file.findings = [item for item in file.findings if is_wanted(file.path, item.line, item.end_line)]
            file.edits = [item for item in file.edits if is_wanted(file.path, item.line, item.end_line)]
            file.edit_count = len(file.edits)
            file.changed = file.changed and bool(file.edits)

    def reaches(self, level: Severity) -> bool:
        """Whether an unsuppressed finding is at or above `level`."""
        return any(
            Severity(finding.severity).rank >= level.rank for file in self.files for finding in file.active_findings()
        )


def keep_lines(result: FileResult, document: Document) -> None:
    """Put the texts of the lines with findings into the result of their file."""
    for finding in result.findings:
        if finding.line not in result.lines and finding.line <= document.line_count:
            start, end = document.line_span(finding.line - 1)
            result.lines[finding.line] = document.data[start:end].decode("utf-8", "replace").rstrip("\r\n")


def record_conversion(result: FileResult, conversion: Conversion, language: str, *, details: bool) -> None:
    """Put counts, findings and (with `details`) edits of a conversion into the result of its file."""
    document = conversion.document
    result.declared = conversion.declared
    result.changed = bool(conversion.edits)
    result.edit_count = len(conversion.edits)
    for edit in conversion.edits:
        if edit.library and edit.evidence and edit.applicability is not Applicability.MANUAL:
            result.names[edit.library, edit.evidence] += 1
    if details:
        result.edits = [_edit_record(document, edit) for edit in conversion.edits]
    result.findings += [finding_record(document, finding, language) for finding in conversion.findings]


def finding_record(document: Document, finding: Finding, language: str) -> FindingRecord:
    """A finding with its place and its words."""
    start, end = document.position(finding.span.start), document.position(finding.span.end)
    return FindingRecord(
        finding.rule_id,
        catalogue.severity(finding).value,
        *start,
        *end,
        finding.name,
        catalogue.message(finding, language),
        catalogue.suggestion(finding, language),
        finding.suppressed,
        fingerprint(document, finding.span, finding.rule_id, finding.name),
    )


def fingerprint(document: Document, span: Span, identifier: str, name: str) -> str:
    """What a finding or an edit is known by when lines move: its id, its name and the text of its line.

    Of a line that is longer than people write, only what is near: each of its findings would read all of it.
    """
    start, end = document.line_span(document.line_index(span.start))
    if end - start > _LONG_LINE:
        start, end = max(start, span.start - _NEAR), min(end, span.end + _NEAR)
    text = b" ".join(document.data[start:end].split())
    return hashlib.sha256(b"\0".join((identifier.encode(), name.encode(), text))).hexdigest()[:16]


def _edit_record(document: Document, edit: Edit) -> EditRecord:
    start, end = document.position(edit.span.start), document.position(edit.span.end)
    return EditRecord(
        edit.rule_id,
        edit.applicability.value,
        *start,
        *end,
        document.data[edit.span.start : edit.span.end].decode("utf-8", "replace"),
        edit.new_text.decode("utf-8", "replace"),
        edit.name.removesuffix("*"),
        edit.library,
        edit.evidence,
        fingerprint(document, edit.span, edit.rule_id, edit.name),
    )
