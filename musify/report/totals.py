"""Sums over a run that several reports show."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from musify.engine.results import FindingRecord, RunResult

# Findings whose name still stands in the output and needs a person.
_LEFT_STANDING = ("MUS101", "MUS104", "MUS110", "MUS114", "MUS132", "MUS133", "MUS201", "MUS302", "MUS303", "MUS4")


@dataclass
class Totals:
    """Counts over all files. `names` by (library, evidence); `findings` by (id, severity), suppressed ones apart.

    `asked` and `answered`: questions to libclang.
    """

    files: int = 0
    changed: int = 0
    renamed: int = 0
    bytes: int = 0
    edits: int = 0
    names: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: Counter[tuple[str, str]] = field(default_factory=Counter)
    suppressed: int = 0
    leftovers: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    answered: int = 0

    @property
    def by_evidence(self) -> Counter[str]:
        """Renamed names by evidence."""
        sums: Counter[str] = Counter()
        for (_, evidence), count in self.names.items():
            sums[evidence] += count
        return sums


def left_standing(finding: FindingRecord) -> bool:
    """Whether the name of a finding still stands in the output and needs a person."""
    return finding.id.startswith(_LEFT_STANDING) and bool(finding.name)


def totals(result: RunResult) -> Totals:
    """The sums of a run."""
    sums = Totals()
    for file in result.sources():
        sums.files += 1
        sums.changed += file.changed
        sums.renamed += file.renamed
        sums.bytes += file.size
        sums.edits += file.edit_count
        sums.names.update(file.names)
        sums.asked += file.asked
        sums.answered += file.answered
    for file in result.files:
        for finding in file.findings:
            if finding.suppressed:
                sums.suppressed += 1
                continue
            sums.findings[finding.id, finding.severity] += 1
            if left_standing(finding):
                sums.leftovers[finding.name] += 1
    return sums
