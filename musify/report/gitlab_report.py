"""Findings as a GitLab code quality artifact: a JSON array in the form that GitLab reads (a part of Code Climate's)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from musify.report.content import Report, repository_path

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def render(report: Report) -> str:
    """All unsuppressed findings; each has a fingerprint of its own that moved lines do not change."""
    seen: Counter[str] = Counter()
    entries = []
    for file, finding in report.active():
        path = repository_path(file)
        key = f"{path} {finding.id} {finding.fingerprint}"
        seen[key] += 1
        entries.append(
            {
                "description": finding.message,
                "check_name": finding.id,
                "fingerprint": hashlib.sha256(f"{key} {seen[key]}".encode("utf-8", "replace")).hexdigest(),
                "severity": _SEVERITIES[finding.severity],
                "location": {"path": path, "lines": {"begin": finding.line, "end": finding.end_line}},
            }
        )
    return json.dumps(entries, ensure_ascii=False, indent=1) + "\n"
