"""Findings for reading: grouped by file, each with its line, a mark under the place, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from musify.engine.results import FileResult, FindingRecord
from musify.report.content import Need, Report, one_line

NEEDS = (Need.LINES,)
_LONGEST_LINE = 160


def render(report: Report) -> str:
    """All unsuppressed findings, file by file."""
    return "".join(f"{line}\n" for file in report.result.files for line in _file(file))


def _file(file: FileResult) -> Iterator[str]:
    findings = list(file.active_findings())
    if not findings:
        return
    counts = {level: sum(item.severity == level for item in findings) for level in ("error", "warning", "note")}
    yield f"{file.path}: " + ", ".join(f"{count} {level}" for level, count in counts.items() if count)
    last = ""
    for finding in findings:
        yield f"  {one_line(file, finding)}"
        yield from _excerpt(file, finding)
        if finding.suggestion and finding.suggestion != last:
            yield f"      = {finding.suggestion}"
        last = finding.suggestion
    yield ""


def _excerpt(file: FileResult, finding: FindingRecord) -> Iterator[str]:
    text = file.lines.get(finding.line)
    if not text or not text.strip():
        return
    start = finding.column - 1
    end = finding.end_column - 1 if finding.end_line == finding.line else len(text)
    shift = max(0, min(start - _LONGEST_LINE // 2, len(text) - _LONGEST_LINE))
    shown = text[shift : shift + _LONGEST_LINE]
    mark = "".join("\t" if sign == "\t" else " " for sign in shown[: max(0, start - shift)])
    number = f"{finding.line:>5}"
    yield f"{number} | {shown}"
    yield f"{' ' * len(number)} | {mark}^{'~' * (min(end, shift + _LONGEST_LINE) - start - 1)}"
