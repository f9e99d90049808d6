"""One HTML file to send around: works offline, with filters, side-by-side diffs and explanations, in two languages.

The page, its style and its script lie in `page/`; the data of the run is put in as JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib import resources
from typing import Any

from musify import __version__
from musify.engine.results import FileResult
from musify.report.content import Need, Report
from musify.report.json_report import summary_of
from musify.rules.findings import LANGUAGES, catalogue

NEEDS = (Need.DIFF,)
# What a finding costs a person, in minutes: assumed, not measured; the page says so.
_MINUTES: Mapping[str, int] = {"error": 30, "warning": 5, "note": 0}


def render(report: Report) -> str:
    """The whole page."""
    page = _part("page.html").replace("__LANGUAGE__", report.language)
    page = page.replace("__STYLE__", _part("style.css")).replace("__SCRIPT__", _part("script.js"))
    return page.replace("__DATA__", _as_data(_content(report)))


def _part(name: str) -> str:
    return resources.files(__package__).joinpath("page", name).read_text(encoding="utf-8")


def _as_data(content: Mapping[str, Any]) -> str:
    """JSON that no browser takes for a tag."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").encode("utf-8", "replace").decode()


def _content(report: Report) -> dict[str, Any]:
    files = [file for file in report.result.files if file.language is not None or file.findings]
    found = sorted({finding.id for file in files for finding in file.active_findings()})
    return {
        "language": report.language,
        "tool": {"name": "musify", "version": __version__},
        "target": {"architectures": list(report.target.architectures), "sdk": report.target.sdk},
        "summary": summary_of(report.result),
        "minutes": _MINUTES,
        "depth": _common_depth([file.path for file in files]),
        "kinds": {
            identifier: {part: {language: catalogue()[identifier].text(part, language) for language in LANGUAGES}
                         for part in ("title", "why")}
            for identifier in found
        },
        "files": [_file(file) for file in files],
    }  # fmt: skip


def _common_depth(paths: list[str]) -> int:
    """How many folders all paths share."""
    folders = [os.path.dirname(path) for path in paths]
    common = os.path.commonpath(folders) if folders and all(folders) else ""
    return len([part for part in common.split("/") if part]) + common.startswith("/")


def _file(file: FileResult) -> dict[str, Any]:
    return {
        "path": file.path,
        "output": file.output_path,
        "edits": file.edit_count,
        "findings": [
            {"id": item.id, "severity": item.severity, "line": item.line, "name": item.name, "message": item.message,
             "suggestion": item.suggestion}
            for item in file.active_findings()
        ],
        "diff": _hunks(file.diff.decode("utf-8", "replace")),
    }  # fmt: skip


def _hunks(diff: str) -> str:
    """A diff without its head, which names the files."""
    start = diff.find("@@ -")
    return diff[start:] if start >= 0 else ""
