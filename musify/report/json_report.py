"""The JSON report; docs/report.schema.json describes it."""

from __future__ import annotations

import json

from musify import __version__
from musify.engine.results import FileResult, RunResult
from musify.report.content import Need, Report
from musify.report.totals import totals

NEEDS = (Need.EDITS,)
SCHEMA_VERSION = "1"


def render(report: Report) -> str:
    """The whole run as JSON text."""
    result, target = report.result, report.target
    content = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "musify", "version": __version__},
        "target": {"architectures": list(target.architectures), "sdk": target.sdk},
        "summary": summary_of(result),
        "files": [_file(file) for file in result.files if file.language is not None or file.findings],
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def summary_of(result: RunResult) -> dict[str, object]:
    """The sums of a run, as the report holds them."""
    sums = totals(result)
    return {
        "files": sums.files,
        "changed": sums.changed,
        "renamed": sums.renamed,
        "bytes": sums.bytes,
        "edits": sums.edits,
        "seconds": round(result.seconds, 3),
        "names": [
            {"library": library, "evidence": evidence, "count": count}
            for (library, evidence), count in sorted(sums.names.items())
        ],
        "findings": [
            {"id": identifier, "severity": severity, "count": count}
            for (identifier, severity), count in sorted(sums.findings.items())
        ],
        "suppressed": sums.suppressed,
        **({"semantic": {"asked": sums.asked, "answered": sums.answered}} if sums.asked else {}),
        "leftovers": [{"name": name, "count": count} for name, count in sums.leftovers.most_common(50)],
    }


def _file(file: FileResult) -> dict[str, object]:
    return {
        "path": file.path,
        "output_path": file.output_path,
        "language": file.language,
        "edits": [edit._asdict() for edit in file.edits],
        "findings": [finding._asdict() for finding in file.findings],
    }
