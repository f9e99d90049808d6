"""Findings as workflow commands, which GitHub shows as annotations at their lines.

The form is that of GitHub's "Workflow commands for GitHub Actions": `::error file=...,line=...::message`.
"""

from __future__ import annotations

from musify.engine.results import FileResult, FindingRecord
from musify.report.content import Report, repository_path
from musify.rules.findings import catalogue

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report) -> str:
    """One command a finding."""
    return "".join(f"{_command(file, finding, report.language)}\n" for file, finding in report.active())


def _command(file: FileResult, finding: FindingRecord, language: str) -> str:
    title = f"{finding.id} {catalogue()[finding.id].text('title', language)}"
    properties = {
        "file": repository_path(file),
        "line": str(finding.line),
        "endLine": str(finding.end_line),
        "title": title,
    }
    if finding.end_line == finding.line:  # GitHub takes columns only within one line
        properties |= {"col": str(finding.column), "endColumn": str(finding.end_column)}
    written = ",".join(f"{key}={_escaped(value, property_value=True)}" for key, value in properties.items())
    message = _escaped(f"{finding.message}\n{finding.suggestion}".strip(), property_value=False)
    return f"::{_COMMANDS[finding.severity]} {written}::{message}"


def _escaped(text: str, *, property_value: bool) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if property_value else text
