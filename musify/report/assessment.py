"""What an unknown repository holds of CUDA, what will go by itself, what will not, and where to start."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from musify.engine.results import RunResult
from musify.report.content import Report
from musify.report.totals import totals
from musify.rules.findings import catalogue

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 10
_WORDS = {
    "en": {
        "size": "{with_cuda} of {files} source and build files hold CUDA ({megabytes:.1f} of {all_megabytes:.1f} MB)",
        "safe": "{count} places ({share:.0%}) change by themselves",
        "review": "{count} places ({share:.0%}) change and want a look",
        "left": "{count} places ({share:.0%}) stay and need a person",
        "nothing": "No CUDA was found.",
        "libraries": "libraries", "library": "library", "places": "places", "unattested": "of these nowhere attested",
        "hard": "what needs a person", "finding": "finding", "count": "count", "files": "files",
        "start": "where to start", "ready": "{count} files convert without anything left to look at",
        "first": "folders, those with least left first", "folder": "folder", "left_short": "left", "changes": "changes",
        "worst": "files with most left", "file": "file",
        "next": "next: `musify convert PATH -o DIR`, and `--report html:FILE` for all of this with the places",
    },
    "zh": {
        "size": "{files} 个源文件与构建文件中有 {with_cuda} 个含 CUDA（{megabytes:.1f}/{all_megabytes:.1f} MB）",
        "safe": "{count} 处（{share:.0%}）可自动转换",
        "review": "{count} 处（{share:.0%}）转换后需要查看",
        "left": "{count} 处（{share:.0%}）保持原样，需要人工处理",
        "nothing": "没有发现 CUDA。",
        "libraries": "所用的库", "library": "库", "places": "处", "unattested": "其中尚无佐证",
        "hard": "需要人工处理的部分", "finding": "发现", "count": "数量", "files": "文件",
        "start": "从哪里开始", "ready": "{count} 个文件转换后无需再查看",
        "first": "目录（遗留最少者在前）", "folder": "目录", "left_short": "遗留", "changes": "修改",
        "worst": "遗留最多的文件", "file": "文件",
        "next": "下一步：`musify convert PATH -o DIR`；`--report html:FILE` 给出全部内容与位置",
    },
}  # fmt: skip


@dataclass
class Assessment:
    """Counts of places: `safe` and `review` edits, `left` findings that stay and are no notes.

    `folders` and `files` count what is left and what changes, by path; `ready` counts files that change and leave
    nothing.
    """

    safe: int = 0
    review: int = 0
    left: int = 0
    with_cuda: int = 0
    bytes_with_cuda: int = 0
    ready: int = 0
    folders: dict[str, tuple[int, int]] = field(default_factory=dict)
    files: Counter[str] = field(default_factory=Counter)

    @property
    def places(self) -> int:
        """All places."""
        return self.safe + self.review + self.left


def assess(result: RunResult) -> Assessment:
    """The counts of a run that kept its edits."""
    made = Assessment()
    for file in result.sources():
        looked_at = {(item.line, item.column) for item in file.active_findings() if item.severity != "note"}
        edited = {(edit.line, edit.column) for edit in file.edits if edit.applicability != "manual"}
        left = len(looked_at - edited)
        review = sum(
            edit.applicability == "review" or (edit.line, edit.column) in looked_at
            for edit in file.edits
            if edit.applicability != "manual"
        )
        made.left, made.review, made.safe = made.left + left, made.review + review, made.safe + len(edited) - review
        if edited or left:
            made.with_cuda += 1
            made.bytes_with_cuda += file.size
            made.ready += not looked_at
            made.files[file.path] += left
            folder = file.path.rpartition("/")[0] or "."
            before = made.folders.get(folder, (0, 0))
            made.folders[folder] = (before[0] + left, before[1] + len(edited))
    return made


def print_assessment(report: Report, console: Console) -> None:
    """The assessment on a terminal."""
    words = _WORDS[report.language]
    made, sums = assess(report.result), totals(report.result)
    if not made.places:
        console.print(words["nothing"])
        return
    console.print(
        words["size"].format(
            with_cuda=made.with_cuda, files=sums.files, megabytes=made.bytes_with_cuda / 1e6,
            all_megabytes=sums.bytes / 1e6,
        ),
        highlight=False,
    )  # fmt: skip
    for key in ("safe", "review", "left"):
        count = getattr(made, key)
        console.print("  " + words[key].format(count=count, share=count / made.places), highlight=False)
    _libraries(report, console, words)
    _findings(report, console, words)
    _where_to_start(made, console, words)
    console.print(words["next"], highlight=False, markup=False)


def _libraries(report: Report, console: Console, words: dict[str, str]) -> None:
    counts: Counter[str] = Counter()
    unattested: Counter[str] = Counter()
    for (library, evidence), count in totals(report.result).names.items():
        counts[library] += count
        unattested[library] += count if evidence == "none" else 0
    rows = [[library, str(count), str(unattested[library] or "")] for library, count in counts.most_common()]
    _table(console, words["libraries"], [words["library"], words["places"], words["unattested"]], rows)


def _findings(report: Report, console: Console, words: dict[str, str]) -> None:
    counts: Counter[str] = Counter()
    files: dict[str, set[str]] = {}
    for file, finding in report.active():
        if finding.severity != "note":
            counts[finding.id] += 1
            files.setdefault(finding.id, set()).add(file.path)
    rows = [
        [
            f"{identifier} {catalogue()[identifier].text('title', report.language)}",
            str(count),
            str(len(files[identifier])),
        ]
        for identifier, count in counts.most_common(_SHOWN)
    ]
    _table(console, words["hard"], [words["finding"], words["count"], words["files"]], rows)


def _where_to_start(made: Assessment, console: Console, words: dict[str, str]) -> None:
    console.print(words["start"], style="bold")
    console.print("  " + words["ready"].format(count=made.ready), highlight=False)
    easiest = sorted(made.folders.items(), key=lambda item: (item[1][0], -item[1][1], item[0]))
    rows = [[folder, str(left), str(changes)] for folder, (left, changes) in easiest[:_SHOWN]]
    _table(console, words["first"], [words["folder"], words["left_short"], words["changes"]], rows)
    worst = [[path, str(count)] for path, count in made.files.most_common(_SHOWN) if count]
    _table(console, words["worst"], [words["file"], words["left_short"]], worst)


def _table(console: Console, title: str, columns: list[str], rows: list[list[str]]) -> None:
    from rich.table import Table

    if not rows:
        return
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)
