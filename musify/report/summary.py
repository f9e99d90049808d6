"""The summary of a run on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musify.engine.results import RunResult
from musify.model import Evidence
from musify.report.totals import Totals, totals
from musify.rules.findings import catalogue

if TYPE_CHECKING:
    from rich.console import Console

_LEFTOVERS_SHOWN = 10
_EVIDENCE = (
    Evidence.SDK,
    Evidence.PROJECT,
    Evidence.CODE,
    Evidence.DOCUMENTED,
    Evidence.TABLE,
    Evidence.NONE,
)
_WORDS = {
    "en": {
        "files": "{files} files seen ({megabytes:.1f} MB), {changed} changed, {renamed} renamed, {edits} edits, "
                 "{seconds:.2f} s",
        "library": "library", "total": "total", "finding": "finding", "severity": "severity", "count": "count",
        "names": "names renamed, by evidence", "findings": "findings", "left": "most frequent names left standing: ",
        "suppressed": "{count} findings suppressed by marks", "clean": "no findings",
        "semantic": "libclang answered {answered} of {asked} questions about names and constants",
    },
    "zh": {
        "files": "共 {files} 个文件（{megabytes:.1f} MB），{changed} 个已更改，{renamed} 个已改名，{edits} 处编辑，"
                 "用时 {seconds:.2f} 秒",
        "library": "库", "total": "合计", "finding": "发现", "severity": "级别", "count": "数量",
        "names": "改名的名称（按佐证）", "findings": "发现", "left": "保留最多的名称：",
        "suppressed": "{count} 项发现被标记抑制", "clean": "没有发现",
        "semantic": "libclang 回答了 {asked} 个关于名称与常量的问题中的 {answered} 个",
    },
}  # fmt: skip


def print_summary(result: RunResult, console: Console, language: str = "en") -> None:
    """Files, names by library and evidence, findings by id, leftovers and the time."""
    sums = totals(result)
    words = _WORDS[language]
    head = words["files"].format(
        files=sums.files, megabytes=sums.bytes / 1e6, changed=sums.changed, renamed=sums.renamed, edits=sums.edits,
        seconds=result.seconds,
    )  # fmt: skip
    console.print(head, highlight=False)
    if sums.asked:
        console.print(words["semantic"].format(asked=sums.asked, answered=sums.answered), highlight=False)
    if sums.names:
        _names(sums, console, words)
    if sums.findings:
        _findings(sums, console, words, language)
    elif sums.files:
        console.print(words["clean"])
    if sums.suppressed:
        console.print(words["suppressed"].format(count=sums.suppressed))
    if sums.leftovers:
        shown = ", ".join(f"{name} ({count})" for name, count in sums.leftovers.most_common(_LEFTOVERS_SHOWN))
        console.print(words["left"] + shown, highlight=False, markup=False)


def _names(sums: Totals, console: Console, words: dict[str, str]) -> None:
    from rich.table import Table

    used = [evidence.value for evidence in _EVIDENCE if sums.by_evidence[evidence.value]]
    table = Table(title=words["names"], title_justify="left", box=None, pad_edge=False)
    table.add_column(words["library"])
    for evidence in used:
        table.add_column(evidence, justify="right")
    table.add_column(words["total"], justify="right")
    rows = {library: sum(sums.names[library, evidence] for evidence in used) for library, _ in sums.names}
    for library in sorted(rows, key=lambda item: (-rows[item], item)):
        counts = [str(sums.names[library, evidence] or "") for evidence in used]
        table.add_row(library, *counts, str(rows[library]))
    table.add_row(
        words["total"], *(str(sums.by_evidence[item]) for item in used), str(sum(rows.values())), style="bold"
    )
    console.print(table)


def _findings(sums: Totals, console: Console, words: dict[str, str], language: str) -> None:
    from rich.table import Table

    table = Table(title=words["findings"], title_justify="left", box=None, pad_edge=False)
    table.add_column(words["finding"])
    table.add_column("")
    table.add_column(words["severity"])
    table.add_column(words["count"], justify="right")
    styles = {"error": "red", "warning": "yellow", "note": ""}
    for (identifier, severity), count in sorted(sums.findings.items()):
        title = catalogue()[identifier].text("title", language)
        table.add_row(identifier, title, severity, str(count), style=styles[severity])
    console.print(table)
