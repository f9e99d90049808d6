"""Findings of one file, and the places and causes that they speak of."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from musify.engine.results import FindingRecord, finding_record
from musify.languages.cuda.names import RENAME
from musify.languages.registry import Language
from musify.model import Edit, Finding, Span
from musify.source.document import Document, NotText, read
from musify.verify.compilers import Done
from musify.verify.diagnostics import errors
from musify.verify.lines import Way
from musify.verify.model import Check, Status
from musify.verify.preprocessed import Line
from musify.verify.records import Record
from musify.verify.reverted import structural
from musify.verify.workshop import Workshop

_MOST_CAUSES = 3


class Reporter:
    """Makes the findings of one file."""

    def __init__(self, workshop: Workshop, record: Record) -> None:
        self._workshop = workshop
        self._record = record

    def at(self, place: int, identifier: str, /, **arguments: str) -> FindingRecord:
        """A finding at a 1-based line of the original; 0 for the file as a whole."""
        document = self._document() if place else Document(b"")
        start = document.text_span(min(place, document.line_count) - 1)[0] if place and document.data else 0
        finding = Finding(identifier, Span(start, start), self._record.file.shown, arguments)
        return finding_record(document, finding, self._workshop.plan.language)

    def in_file(self, place: Line, identifier: str, /, **arguments: str) -> FindingRecord:
        """A finding at a line of the original, or about the whole file where that is a line of another one."""
        return self.at(place.number if place.path == self._record.file.relative else 0, identifier, **arguments)

    def whole(self, identifier: str, /, **arguments: str) -> FindingRecord:
        """A finding about the file as a whole."""
        return self.at(0, identifier, **arguments)

    def skipped(self, reason: str, reason_zh: str) -> Check:
        """The check proves nothing."""
        finding = self.whole("MUS958", reason=reason, reason_zh=reason_zh)
        shown = reason_zh if self._workshop.plan.language == "zh" else reason
        return Check(Status.SKIPPED, [finding], shown)

    def _document(self) -> Document:
        try:
            return read(self._record.file.path)
        except (OSError, NotText):
            return Document(b"")


def is_tried(workshop: Workshop, record: Record) -> bool:
    """Whether a file is given to compilers: source that exists on both sides and was not left out."""
    chosen = workshop.plan.chosen
    wanted = chosen is None or record.file.relative in chosen
    return wanted and record.file.language is Language.CUDA and not record.file.is_link and record.converted.exists()


def in_original(workshop: Workshop, line: Line) -> Line:
    """The place of the original that a line of the converted tree comes from."""
    record = workshop.converted_record(line.path)
    way = None if record is None else workshop.way(record)
    if record is None or way is None:
        return line
    return Line(record.file.relative, way.original_line(line.number), ())


def causes(workshop: Workshop, place: Line, others: Collection[str] = ()) -> tuple[str, str]:
    """The edits that change more than names, in English and Chinese: those nearest to a place, else files with such.

    `others` are the files that take part in what is compiled.
    """
    way = _way(workshop, place.path)
    nearest = _nearest(way, structural(way, workshop.plan.book), place.number) if way is not None else []
    if nearest:
        places = [(f"{place.path}:{line}", rule) for line, rule in nearest]
        return (
            ", ".join(f"{rule} at {where}" for where, rule in places),
            "、".join(f"{where} 处的 {rule}" for where, rule in places),
        )
    if way is not None and not way.is_exact:
        return f"edits by hand in {place.path}", f"{place.path} 中的手工修改"
    paths = [path for path in sorted(others) if _is_changed(workshop, path)][:_MOST_CAUSES]
    if paths:
        return f"edits in {', '.join(paths)}", f"{'、'.join(paths)} 中的编辑"
    return "edits in files that it includes", "其所包含文件中的编辑"


def _way(workshop: Workshop, path: str) -> Way | None:
    record = workshop.original_record(path)
    return None if record is None else workshop.way(record)


def _is_changed(workshop: Workshop, path: str) -> bool:
    """Whether a file was changed by more than renames."""
    way = _way(workshop, path)
    return way is not None and (not way.is_exact or bool(structural(way, workshop.plan.book)))


def _nearest(way: Way, edits: Sequence[Edit], line: int) -> list[tuple[int, str]]:
    """Lines and rules of edits, the nearest first; a rename only where its line has no edit of another sort."""
    rules: dict[int, str] = {}
    for edit in edits:
        number = way.original.position(edit.span.start).line
        if edit.rule_id != RENAME or number not in rules:
            rules[number] = edit.rule_id
    return sorted(rules.items(), key=lambda item: abs(item[0] - line))[:_MOST_CAUSES]


def first_error(done: Done) -> str:
    """The first error of a command, or that it took too long."""
    if done.code is None:
        return "it took too long"
    error = errors(done.err + done.out if not done.err else done.err)[0]
    return f"{error.path}:{error.line}: {error.text}" if error.path else error.text
