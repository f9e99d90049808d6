"""CUDA names that the run met, one a row: what became of each, its library, its evidence, how often, in how many files.

`musa_name` is empty for names that were left standing; these have a finding each, whose ids are listed.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from typing import NamedTuple

from musify.report.content import Need, Report
from musify.report.totals import left_standing

NEEDS = (Need.EDITS,)
_COLUMNS = ("cuda_name", "musa_name", "library", "evidence", "count", "files", "findings")


class _Use(NamedTuple):
    cuda_name: str
    musa_name: str
    library: str
    evidence: str


def render(report: Report) -> str:
    """All names, by library, then by how often they occur."""
    counts: Counter[_Use] = Counter()
    files: dict[_Use, set[str]] = defaultdict(set)
    findings: dict[str, set[str]] = defaultdict(set)
    for file in report.result.files:
        for edit in file.edits:
            if edit.name and edit.applicability != "manual":
                use = _Use(edit.name, edit.new_text, edit.library, edit.evidence)
                counts[use] += 1
                files[use].add(file.path)
        for finding in file.active_findings():
            if finding.name:
                findings[finding.name].add(finding.id)
            if left_standing(finding):
                use = _Use(finding.name, "", "", "none")
                counts[use] += 1
                files[use].add(file.path)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for use, count in sorted(counts.items(), key=lambda item: (item[0].library or "~", -item[1], item[0])):
        writer.writerow([*use, count, len(files[use]), " ".join(sorted(findings[use.cuda_name]))])
    return text.getvalue()
