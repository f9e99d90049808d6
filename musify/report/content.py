"""What a report is made of, and what all formats say alike."""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from musify.engine.results import FileResult, FindingRecord, RunResult
from musify.model import Target


class Need(Enum):
    """What a run keeps only where a report asks for it: every edit, the diff of each file, the lines with findings."""

    EDITS = "edits"
    DIFF = "diff"
    LINES = "lines"


class Report(NamedTuple):
    """A run to report: its result, its target, and the language of the report (`en`, `zh`)."""

    result: RunResult
    target: Target
    language: str = "en"

    def active(self) -> Iterator[tuple[FileResult, FindingRecord]]:
        """All findings that nobody suppressed, with their files, in order."""
        return ((file, finding) for file in self.result.files for finding in file.active_findings())


def one_line(file: FileResult, finding: FindingRecord) -> str:
    """`path:line:column: severity: message [ID]`, the form that compilers print and editors jump from."""
    return f"{file.path}:{finding.line}:{finding.column}: {finding.severity}: {finding.message} [{finding.id}]"


def repository_path(file: FileResult) -> str:
    """The path of a file as services want it: relative to where the command ran, with forward slashes."""
    path = os.path.relpath(file.path)
    return (file.path if path.startswith("..") else path).replace(os.sep, "/")
