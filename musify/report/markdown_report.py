"""A summary in Markdown, short enough for the comment of a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from musify.report.content import Report
from musify.report.totals import Totals, totals
from musify.rules.findings import catalogue

# GitHub refuses comments above 65,536 characters.
_LONGEST = 60_000
_FILES_SHOWN = 50
_FINDINGS_SHOWN = 200
_WORDS = {
    "en": {
        "title": "musify: CUDA to MUSA",
        "files": "{files} files seen, {changed} changed, {renamed} renamed, {edits} edits",
        "target": "target: {architectures}, SDK {sdk}",
        "finding": "finding", "meaning": "meaning", "severity": "severity",
        "count": "count", "clean": "No findings.", "by_file": "Files with most findings", "file": "file",
        "library": "library", "names": "Names renamed", "all": "Findings", "cut": "... and {count} more",
    },
    "zh": {
        "title": "musify：CUDA 迁移到 MUSA",
        "files": "共 {files} 个文件，{changed} 个已更改，{renamed} 个已改名，{edits} 处编辑",
        "target": "目标：{architectures}，SDK {sdk}",
        "finding": "发现", "meaning": "含义", "severity": "级别", "count": "数量",
        "clean": "没有发现。", "by_file": "发现最多的文件", "file": "文件", "library": "库", "names": "已改名的名称",
        "all": "全部发现", "cut": "……另有 {count} 项",
    },
}  # fmt: skip


def render(report: Report) -> str:
    """Sums, findings by id, the files with most of them, and the findings themselves as far as there is room."""
    words = _WORDS[report.language]
    sums = totals(report.result)
    head = [f"### {words['title']}", "", words["files"].format_map(vars(sums)) + "  "]
    head.append(words["target"].format(architectures=", ".join(report.target.architectures), sdk=report.target.sdk))
    parts = [*head, "", *_by_id(sums, words, report.language), *_names(sums, words), *_by_file(report, words)]
    text = "\n".join(parts) + "\n"
    return text + _all(report, words, _LONGEST - len(text))


def _by_id(sums: Totals, words: dict[str, str], language: str) -> Iterator[str]:
    if not sums.findings:
        yield words["clean"]
        return
    yield from _table([words["finding"], words["meaning"], words["severity"], words["count"]], "lllr")
    for (identifier, severity), count in sorted(sums.findings.items(), key=lambda item: (-item[1], item[0])):
        yield f"| {identifier} | {_cell(catalogue()[identifier].text('title', language))} | {severity} | {count} |"
    yield ""


def _names(sums: Totals, words: dict[str, str]) -> Iterator[str]:
    if not sums.names:
        return
    counts: Counter[str] = Counter()
    for (library, _), count in sums.names.items():
        counts[library] += count
    shown = ", ".join(f"{library} {count}" for library, count in counts.most_common())
    yield f"{words['names']}: {shown}"
    yield ""


def _by_file(report: Report, words: dict[str, str]) -> Iterator[str]:
    counts = Counter(file.path for file, finding in report.active() if finding.severity != "note")
    if not counts:
        return
    yield f"<details><summary>{words['by_file']}</summary>"
    yield ""
    yield from _table([words["file"], words["count"]], "lr")
    for path, count in counts.most_common(_FILES_SHOWN):
        yield f"| {_code(path)} | {count} |"
    yield ""
    yield "</details>"
    yield ""


def _all(report: Report, words: dict[str, str], room: int) -> str:
    lines = [
        f"- {_code(f'{file.path}:{finding.line}')} {finding.severity} {finding.id}: {_cell(finding.message)}\n"
        for file, finding in report.active()
        if finding.severity != "note"
    ]
    if not lines:
        return ""
    shown: list[str] = []
    room -= 200
    for line in lines[:_FINDINGS_SHOWN]:
        room -= len(line)
        if room < 0:
            break
        shown.append(line)
    rest = len(lines) - len(shown)
    cut = words["cut"].format(count=rest) + "\n" if rest else ""
    return f"<details><summary>{words['all']}</summary>\n\n{''.join(shown)}{cut}\n</details>\n"


def _table(titles: list[str], alignment: str) -> Iterator[str]:
    yield "| " + " | ".join(titles) + " |"
    yield "|" + "|".join("---:" if side == "r" else "---" for side in alignment) + "|"


def _cell(text: str) -> str:
    """Text that Markdown and its tables take as it is."""
    for sign in "\\`*_<>|[]#":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39)).replace('|', chr(92) + '|')}`"
