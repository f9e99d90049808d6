"""Write the generated pages of docs/ from the rules: findings in two languages, and which names are supported.

    python tools/make_docs.py [--check]

With --check nothing is written; exits 1 where a page is not what the rules say.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

sys.path.insert(0, os.fspath(Path(__file__).resolve().parent))

from build_page import build_files_page  # beside this file
from torch_page import torch_page

from musify.model import Evidence
from musify.rules import book
from musify.rules.book import RuleBook
from musify.rules.findings import FindingKind, catalogue
from musify.rules.model import Action, NameRule, Policy

DOCS = Path(__file__).resolve().parent.parent / "docs"
_WORDS = {
    "en": {"title": "Findings",
           "intro": "Generated from rules/findings by tools/make_docs.py. Ids never change their meaning.",
           "severity": "Severity", "message": "Message", "suggestion": "What to do", "example": "Example",
           "becomes": "becomes",
           "same": "stays as it is", "clean": "is no finding", "rules": "With the rule file", "back": "with --reverse"},
    "zh": {"title": "发现一览", "intro": "由 tools/make_docs.py 根据 rules/findings 生成。编号的含义永不改变。",
           "severity": "级别", "message": "消息", "suggestion": "处理办法", "example": "示例", "becomes": "变为",
           "same": "保持原样", "clean": "不是发现", "rules": "规则文件", "back": "使用 --reverse"},
}  # fmt: skip


def findings_page(language: str) -> str:
    """All findings, one section an id."""
    words = _WORDS[language]
    parts = [f"# {words['title']}\n\n{words['intro']}\n"]
    parts += [_section(kind, language) for kind in sorted(catalogue().values(), key=lambda kind: kind.id)]
    return "\n".join(parts)


def _section(kind: FindingKind, language: str) -> str:
    words = _WORDS[language]
    lines = [f"## {kind.id}: {kind.text('title', language)}\n", f"{kind.text('why', language)}\n"]
    lines.append(f"* {words['severity']}: {kind.severity.value}")
    lines.append(f"* {words['message']}: `{kind.text('message', language)}`")
    lines.append(f"* {words['suggestion']}: `{kind.text('suggestion', language)}`")
    for example in kind.examples:
        outcome = words["same"] if example.after == example.before else words["becomes"]
        verdict = "" if kind.id in example.findings else f" ({words['clean']})"
        verdict += f" ({words['back']})" if example.reverse else ""
        if example.rules:
            lines.append(f"\n{words['rules']}:\n\n```toml\n{example.rules.rstrip()}\n```")
        code = "python" if example.file.endswith(".py") else "cuda"
        lines.append(f"\n{words['example']}{verdict}:\n\n```{code}\n{example.before.rstrip()}\n```\n\n{outcome}")
        if example.after != example.before:
            lines[-1] += f"\n\n```{code}\n{example.after.rstrip()}\n```"
    return "\n".join(lines) + "\n"


def support_page(rules: RuleBook) -> str:
    """A table of libraries: how many names, on what evidence, and what MUSA has."""
    counts: Counter[tuple[str, str]] = Counter()
    for rule in _rules(rules):
        counts[rule.library.id, _column(rule)] += 1
    columns = ["code", "documented", "table", "none", "same name", "kept", "unsupported"]
    lines = [
        "# API support\n",
        "Generated from rules/api by tools/make_docs.py. Counts of CUDA names (headers included): renamed,",
        "by the evidence of their MUSA name (`none`: by convention, reported); same name on MUSA; kept with a finding",
        "(another shape); unsupported.",
        "`musify explain NAME` tells the rest of any one.\n",
        "| library | MUSA | " + " | ".join(columns) + " |",
        "|---|---|" + "---:|" * len(columns),
    ]
    for library in sorted(rules.libraries, key=lambda item: (item.policy is Policy.KEEP, item.id)):
        cells = [str(counts[library.id, column] or "") for column in columns]
        lines.append(f"| {library.name} | {library.target} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _rules(rules: RuleBook) -> Iterator[NameRule]:
    for name in rules.all_names():
        rule = rules.name(name)
        if rule is not None:
            yield rule
    for path in rules.all_headers():
        header = rules.header(path)
        if header is not None:
            yield header


def _column(rule: NameRule) -> str:
    if rule.action is Action.RENAME:
        return rule.evidence.value if rule.evidence is not Evidence.PROJECT else "code"
    return {Action.IDENTITY: "same name", Action.KEEP: "kept", Action.UNSUPPORTED: "unsupported"}[rule.action]


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 where a page is stale.")
def main(check: bool) -> None:
    """Write docs/findings.md, docs/findings.zh-CN.md, docs/api-support.md, docs/build-files.md and docs/pytorch.md."""
    rules = book.load()
    pages = {
        "findings.md": findings_page("en"),
        "findings.zh-CN.md": findings_page("zh"),
        "api-support.md": support_page(rules),
        "build-files.md": build_files_page(rules),
        "pytorch.md": torch_page(rules),
    }
    stale = [
        name for name, text in pages.items() if not (DOCS / name).is_file() or (DOCS / name).read_text("utf-8") != text
    ]
    if not check:
        for name in stale:
            (DOCS / name).write_text(pages[name], encoding="utf-8")
    for name in stale:
        click.echo(f"docs/{name}: {'not what the rules say' if check else 'written'}")
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
