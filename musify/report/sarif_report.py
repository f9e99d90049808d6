"""SARIF 2.1.0 (OASIS), which GitHub code scanning and many editors read.

Rules carry their help, results a fingerprint that moved lines do not change, and the edits of their lines as fixes.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any
from urllib.parse import quote

from musify import __version__
from musify.engine.results import EditRecord, FileResult, FindingRecord
from musify.report.content import Need, Report, repository_path
from musify.rules.findings import FindingKind, catalogue

NEEDS = (Need.EDITS, Need.LINES)
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_HOME = "https://pypi.org/project/cuda-musify/"
_FINGERPRINT = "musify/v1"


def render(report: Report) -> str:
    """All findings; suppressed ones say so."""
    kinds = sorted({finding.id for file in report.result.files for finding in file.findings})
    places = {identifier: number for number, identifier in enumerate(kinds)}
    driver = {
        "name": "musify",
        "version": __version__,
        "informationUri": _HOME,
        "rules": [_rule(catalogue()[identifier], report.language) for identifier in kinds],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "the folder in which the command ran"}}},
        "results": [result for file in report.result.files for result in _results(file, places)],
    }
    content = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _rule(kind: FindingKind, language: str) -> dict[str, Any]:
    why, suggestion = kind.text("why", language), kind.text("suggestion", language)
    return {
        "id": kind.id,
        "name": "".join(word.capitalize() for word in re.findall(r"\w+", kind.text("title"))),
        "shortDescription": {"text": kind.text("title", language)},
        "fullDescription": {"text": why},
        "help": {"text": f"{why}\n\n{suggestion}", "markdown": f"{why}\n\n**{suggestion}**"},
        "defaultConfiguration": {"level": kind.severity.value},
    }


def _results(file: FileResult, places: dict[str, int]) -> list[dict[str, Any]]:
    seen: Counter[str] = Counter()
    results = []
    for finding in file.findings:
        key = f"{finding.id}:{finding.fingerprint}"
        seen[key] += 1
        location = {"artifactLocation": _artifact(file), "region": _region(file, finding)}
        result: dict[str, Any] = {
            "ruleId": finding.id,
            "ruleIndex": places[finding.id],
            "level": finding.severity,
            "message": {"text": f"{finding.message}. {finding.suggestion}" if finding.suggestion else finding.message},
            "locations": [{"physicalLocation": location}],
            "partialFingerprints": {_FINGERPRINT: f"{key}:{seen[key]}"},
        }
        if finding.suppressed:
            result["suppressions"] = [{"kind": "inSource"}]
        edits = [edit for edit in file.edits if _covers(edit, finding)]
        if edits:
            result["fixes"] = [_fix(file, edits)]
        results.append(result)
    return results


def _artifact(file: FileResult) -> dict[str, Any]:
    path = repository_path(file)
    uri = quote(path, safe="/", errors="surrogateescape")
    return {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": "SRCROOT"}


def _region(file: FileResult, finding: FindingRecord) -> dict[str, Any]:
    region: dict[str, Any] = _place(finding)
    if finding.line in file.lines:
        region["snippet"] = {"text": file.lines[finding.line]}
    return region


def _place(item: EditRecord | FindingRecord) -> dict[str, int]:
    return {
        "startLine": item.line, "startColumn": item.column, "endLine": item.end_line, "endColumn": item.end_column,
    }  # fmt: skip


def _covers(edit: EditRecord, finding: FindingRecord) -> bool:
    """Whether an edit changes the place that a finding is about."""
    start, end = (edit.line, edit.column), (edit.end_line, edit.end_column)
    return start < (finding.end_line, finding.end_column) and (finding.line, finding.column) < end


def _fix(file: FileResult, edits: list[EditRecord]) -> dict[str, Any]:
    replacements = [{"deletedRegion": _place(edit), "insertedContent": {"text": edit.new_text}} for edit in edits]
    return {
        "description": {"text": "; ".join(f"{edit.old_text} becomes {edit.new_text}" for edit in edits)},
        "artifactChanges": [{"artifactLocation": _artifact(file), "replacements": replacements}],
    }
