"""Findings one a line, in the form that compilers print and editors jump from."""

from __future__ import annotations

from musify.engine.results import FileResult, FindingRecord, RunResult
from musify.model import Target


def render(result: RunResult, target: Target) -> str:
    """All unsuppressed findings, file by file."""
    return "".join(f"{line(file, finding)}\n" for file in result.files for finding in file.active_findings())


def line(file: FileResult, finding: FindingRecord) -> str:
    """`path:line:column: severity: message [ID]`."""
    return f"{file.path}:{finding.line}:{finding.column}: {finding.severity}: {finding.message} [{finding.id}]"
