"""What a verification says of each file: plain records that feed the table and the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from musify.engine.results import FindingRecord
from musify.model import Severity


class Depth(str, Enum):
    """How deep the proof goes; each depth holds those before it."""

    TOKENS = "tokens"
    PREPROCESS = "preprocess"
    COMPILE = "compile"

    @property
    def steps(self) -> tuple[Depth, ...]:
        """This depth and those before it."""
        every = tuple(Depth)
        return every[: every.index(self) + 1]


class Status(str, Enum):
    """What came of one check of one file.

    EXPLAINED: there are differences, and recorded edits account for every one. SKIPPED: nothing could be proved.
    """

    PASSED = "passed"
    EXPLAINED = "explained"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass
class Check:
    """The outcome of one depth for one file.

    `reason` says why it was skipped; `compared` is the number of the original's tokens that were compared.
    """

    status: Status
    findings: list[FindingRecord] = field(default_factory=list)
    reason: str = ""
    compared: int = 0


@dataclass
class FileVerification:
    """One file: the paths as they are shown, and what each depth came to."""

    path: str
    output_path: str
    checks: dict[Depth, Check] = field(default_factory=dict)

    @property
    def findings(self) -> list[FindingRecord]:
        """The findings of all depths."""
        return [finding for check in self.checks.values() for finding in check.findings]

    def status(self, depth: Depth) -> Status | None:
        """What a depth came to; None where it does not concern the file."""
        check = self.checks.get(depth)
        return None if check is None else check.status


@dataclass
class Verification:
    """A whole run. `tools` says what preprocessed and compiled, in words."""

    depth: Depth
    files: list[FileVerification]
    tools: dict[Depth, str] = field(default_factory=dict)
    seconds: float = 0.0

    def of(self, depth: Depth, status: Status) -> list[FileVerification]:
        """The files that came to `status` at `depth`."""
        return [file for file in self.files if file.status(depth) is status]

    @property
    def unproved(self) -> list[Depth]:
        """The depths at which files were tried and every one was skipped."""
        return [
            depth
            for depth in self.depth.steps
            if {status for file in self.files if (status := file.status(depth))} == {Status.SKIPPED}
        ]

    @property
    def failed(self) -> bool:
        """Whether any check of any file failed."""
        return any(check.status is Status.FAILED for file in self.files for check in file.checks.values())


def failed(findings: Iterable[FindingRecord]) -> bool:
    """Whether a finding is more than a note."""
    return any(Severity(finding.severity).rank > Severity.NOTE.rank for finding in findings)
