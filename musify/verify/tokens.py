"""The recorded edits are all that happened: bytes outside them stay, and backwards they give the original."""

from __future__ import annotations

from collections.abc import Iterator

from musify.engine.results import FindingRecord
from musify.source.document import NotText, read
from musify.source.edits import EditConflict
from musify.verify.lines import Way
from musify.verify.model import Check, Status
from musify.verify.records import Record, RecordMismatch, edits_of
from musify.verify.reporter import Reporter
from musify.verify.workshop import Workshop


def check_tokens(workshop: Workshop, record: Record) -> Check | None:
    """Outside the recorded edits the bytes are the original's, and the edits backwards give the original."""
    if record.file.is_link:
        return None
    report = Reporter(workshop, record)
    if not record.converted.exists():
        missing = report.whole("MUS950", target=record.output_path)
        return Check(Status.FAILED, [missing])
    if record.file.language is None:
        return _copied(report, record)
    try:
        original = read(record.file.path)
        way = Way(original, read(record.converted), edits_of(record, original))
    except NotText:
        return _copied(report, record)
    except (RecordMismatch, EditConflict) as error:
        return Check(Status.FAILED, [report.whole("MUS952", reason=str(error))])
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        return report.skipped(reason, f"无法读取：{error.strerror or error}")
    if way.is_exact:
        return Check(Status.PASSED)
    return Check(Status.FAILED, list(_hand_edits(report, record, way)))


def _copied(report: Reporter, record: Record) -> Check:
    if record.file.path.read_bytes() == record.converted.read_bytes():
        return Check(Status.PASSED)
    return Check(Status.FAILED, [report.whole("MUS957", target=record.output_path)])


def _hand_edits(report: Reporter, record: Record, way: Way) -> Iterator[FindingRecord]:
    for edit in way.hand_edits:
        first, last = edit.converted
        lines = str(first) if last <= first + 1 else f"{first}-{last - 1}"
        line = edit.original[0]
        yield report.at(line, "MUS951", target=record.output_path, lines=lines, line=str(line))
