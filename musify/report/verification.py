"""What a verification came to: a table for people, JSON for programs, and one line a finding."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify import __version__
from musify.engine.results import FindingRecord
from musify.model import Severity
from musify.verify.model import Depth, FileVerification, Status, Verification

if TYPE_CHECKING:
    from rich.console import Console

SCHEMA_VERSION = "1"
_REASONS_SHOWN = 12
_STYLES = {Status.PASSED: "green", Status.EXPLAINED: "green", Status.FAILED: "red", Status.SKIPPED: "yellow"}
_WORDS = {
    "en": {
        "depth": "depth", "passed": "passed", "explained": "explained", "failed": "failed", "skipped": "skipped",
        "with": "with", "tokens": "recorded edits", "preprocess": "preprocessed tokens", "compile": "compiles",
        "title": "files, by what each depth came to", "skips": "skipped", "compared": "{count:,} tokens compared",
    },
    "zh": {
        "depth": "深度", "passed": "通过", "explained": "可解释", "failed": "失败", "skipped": "跳过",
        "with": "工具", "tokens": "记录的编辑", "preprocess": "预处理后的记号", "compile": "编译",
        "title": "各深度的文件数", "skips": "跳过", "compared": "共比较 {count:,} 个记号",
    },
}  # fmt: skip


def lines(result: Verification, *, everything: bool) -> Iterator[str]:
    """`path:line: severity: message [ID]` for each finding; notes only with `everything`."""
    for file in result.files:
        for finding in file.findings:
            if everything or finding.severity != Severity.NOTE.value:
                yield _line(file, finding)


def _line(file: FileVerification, finding: FindingRecord) -> str:
    return f"{file.path}:{finding.line}: {finding.severity}: {finding.message} [{finding.id}]"


def print_table(result: Verification, console: Console, language: str = "en") -> None:
    """How many files passed, were explained, failed and were skipped at each depth, and why they were skipped."""
    from rich.table import Table

    words = _WORDS[language]
    table = Table(title=words["title"], title_justify="left", box=None, pad_edge=False)
    table.add_column(words["depth"])
    for status in Status:
        table.add_column(words[status.value], justify="right", style=_STYLES[status])
    table.add_column(words["with"])
    for depth in result.depth.steps:
        counts = [str(len(result.of(depth, status))) for status in Status]
        table.add_row(words[depth.value], *counts, result.tools.get(depth, ""))
    console.print(table)
    compared = sum(check.compared for file in result.files for check in file.checks.values())
    if compared:
        console.print(words["compared"].format(count=compared), highlight=False)
    _print_reasons(result, console, words)


def _print_reasons(result: Verification, console: Console, words: dict[str, str]) -> None:
    reasons = Counter(
        (depth, _general(check.reason))
        for file in result.files
        for depth, check in file.checks.items()
        if check.status is Status.SKIPPED
    )
    for (depth, reason), count in reasons.most_common(_REASONS_SHOWN):
        console.print(f"  {words['skips']} ({words[depth.value]}): {count} x {reason}", highlight=False, markup=False)


def _general(reason: str) -> str:
    """A reason without the place that it names, so that equal ones can be counted."""
    head, separator, tail = reason.partition(": ")
    place, colon, rest = tail.partition(": ")
    is_place = bool(colon) and ":" in place and place.rpartition(":")[2].isdigit()
    return f"{head}{separator}{rest}" if is_place else reason


def render_json(result: Verification) -> str:
    """The whole verification as JSON text."""
    content = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "musify", "version": __version__},
        "depth": result.depth.value,
        "tools": {depth.value: path for depth, path in result.tools.items()},
        "seconds": round(result.seconds, 3),
        "summary": {
            depth.value: {status.value: len(result.of(depth, status)) for status in Status}
            for depth in result.depth.steps
        },
        "files": [_file(file, result.depth) for file in result.files],
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _file(file: FileVerification, depth: Depth) -> dict[str, object]:
    statuses = {step.value: file.status(step) for step in depth.steps}
    return {
        "path": file.path,
        "output_path": file.output_path,
        "checks": {name: status.value for name, status in statuses.items() if status is not None},
        "findings": [finding._asdict() for finding in file.findings],
    }
