"""Proof that build files keep nothing in silence: each CUDA word still in a converted one has a finding at its line.

    python tools/build_leftovers.py PROJECT... [--keep FOLDER] [--show 20] [--unread]

Each project is converted as a skeleton: its build files and scripts as they are, its sources as empty files, for only
their names matter here. Then every converted build file is read anew, with lexers that share nothing with musify's
readers: outside comments, each match of `cuda_words` (rules/build/words.toml) must stand on a line with a finding. A
second conversion must change nothing. Prints one row of a table a project, and the words without a finding. Exits 1
where there is one, where the second run changed something, or where a file could not be converted.

`--unread` lists files that mention CUDA and that no language reads.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, os.fspath(Path(__file__).resolve().parent))

from comments import without_comments  # beside this file

from musify.languages.build.facts import cuda_words
from musify.languages.registry import Language
from musify.model import Edit, Span
from musify.project.files import Selection, find_files
from musify.source.document import Document, NotText
from musify.source.positions import PositionMap

# What CUDA and MUSA call the same: a namespace and a folder of headers.
_SAME = re.compile(rb"thrust(?:::|/)")
_FAILED = ("MUS901", "MUS902")
_HEADING = "| project | build files | changed | edits | errors | warnings | notes | words left | covered | second run |"


@dataclass
class Verdict:
    """What one project showed. `left` are CUDA words in converted build files, `exact` those that a finding names."""

    files: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    changed: int = 0
    edits: int = 0
    left: int = 0
    covered: int = 0
    exact: int = 0
    written: int = 0
    seconds: float = 0.0
    silent: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is silent, nothing failed and nothing changed again."""
        return not self.silent and not self.failed and not self.again

    def row(self, name: str) -> str:
        """One row of the table."""
        files = ", ".join(f"{count} {language}" for language, count in sorted(self.files.items()))
        share = f"{100 * self.covered / self.left:.1f} %" if self.left else "-"
        said = " | ".join(str(self.findings[severity]) for severity in ("error", "warning", "note"))
        again = "no change" if not self.again else f"{len(self.again)} files changed"
        return (
            f"| {name} | {files} | {self.changed} | {self.edits} | {said} | {self.left} | "
            f"{self.covered} ({share}) | {again} |"
        )


def skeleton(project: Path, folder: Path) -> None:
    """Write the build files of a project to `folder`, and empty files for its CUDA sources."""
    for file in find_files([project], Selection()):
        if file.language is None or file.is_link:
            continue
        target = folder / file.relative
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.language is Language.CUDA:
            target.touch()
        else:
            target.write_bytes(file.path.read_bytes())


def unread_files(project: Path) -> Iterator[str]:
    """Files that mention CUDA and that no language reads."""
    for file in find_files([project], Selection()):
        if file.language is None and not file.is_link and file.path.stat().st_size < 1_000_000:
            data = file.path.read_bytes()
            if b"\0" not in data and cuda_words().search(data):
                yield file.relative


def convert(folder: Path, output: Path) -> dict[str, Any]:
    """Convert a folder through the command line; its JSON report."""
    report = output.parent / f"{output.name}.json"
    command = [sys.executable, "-m", "musify", "convert", folder, "-q", "-o", output, "--report", f"json:{report}"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"{folder}: exit code {done.returncode}: {done.stderr.strip()}")
    content: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return content


def offset(document: Document, line: int, column: int) -> int:
    """The byte offset of a place of a report."""
    start, end = document.line_span(line - 1)
    text = document.data[start:end]
    mark = len(b"\xef\xbb\xbf") if line == 1 and text.startswith(b"\xef\xbb\xbf") else 0
    try:
        return start + mark + len(text[mark:].decode()[: column - 1].encode())
    except UnicodeDecodeError:
        return start + mark + column - 1


def span_of(document: Document, record: dict[str, Any]) -> Span:
    """The bytes that an edit or a finding of a report stands for."""
    return Span(
        offset(document, record["line"], record["column"]), offset(document, record["end_line"], record["end_column"])
    )


def check_file(verdict: Verdict, file: dict[str, Any], old: Document, new: Document, shown: str) -> None:
    """Look at every CUDA word of one converted file."""
    edits = [
        Edit(span_of(old, edit), edit["new_text"].encode(), edit["rule_id"])
        for edit in file["edits"]
        if edit["applicability"] != "manual"
    ]
    places = PositionMap(edits)
    replaced = {edit.span.start: old.data[edit.span.start : edit.span.end] for edit in edits}
    covered = {line for finding in file["findings"] for line in range(finding["line"], finding["end_line"] + 1)}
    named = [span_of(old, finding) for finding in file["findings"]]
    code = without_comments(file["language"], new.data)
    for match in cuda_words().finditer(code):
        if _SAME.match(code, match.start()):
            continue
        start = places.original(match.start())
        text = old.data[start : start + len(match.group())]
        if text != match.group() and match.group() not in replaced.get(start, match.group()):
            verdict.written += 1  # a word that musify wrote itself
            continue
        verdict.left += 1
        line = old.line_index(start) + 1
        verdict.exact += any(span.start <= start < span.end for span in named)
        if line in covered:
            verdict.covered += 1
        else:
            verdict.silent.append(f"{shown}:{line}: {match.group().decode('utf-8', 'replace')}")


def judge(project: Path, work: Path) -> Verdict:
    """Convert one project twice and look at the result."""
    verdict = Verdict()
    skeleton(project, work / "before")
    started = time.perf_counter()
    report = convert(work / "before", work / "after")
    verdict.seconds = time.perf_counter() - started
    for file in report["files"]:
        shown = Path(file["path"]).relative_to(work / "before").as_posix()
        verdict.failed += [f"{shown}: {item['message']}" for item in file["findings"] if item["id"] in _FAILED]
        if file["language"] is None or file["language"] == Language.CUDA.value:
            continue
        verdict.files[file["language"]] += 1
        verdict.changed += bool(file["edits"])
        verdict.edits += len(file["edits"])
        verdict.findings.update(item["severity"] for item in file["findings"])
        try:
            old = Document.from_bytes(Path(file["path"]).read_bytes())
            output = work / "after" / Path(file["output_path"]).relative_to(work / "before")
            check_file(verdict, file, old, Document.from_bytes(output.read_bytes()), shown)
        except NotText:
            continue
    for file in convert(work / "after", work / "again")["files"]:
        if file["edits"] and file["language"] != Language.CUDA.value:
            edit = file["edits"][0]
            shown = Path(file["path"]).relative_to(work / "after").as_posix()
            verdict.again.append(f"{shown}:{edit['line']}: {edit['old_text']!r} -> {edit['new_text']!r}")
    return verdict


@click.command()
@click.argument("projects", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--keep", type=click.Path(path_type=Path), help="Leave the trees and reports in this folder.")
@click.option("--show", default=20, help="How many words without a finding to print for each project.")
@click.option("--unread", is_flag=True, help="List files that mention CUDA and that no language reads.")
def main(projects: tuple[Path, ...], keep: Path | None, show: int, unread: bool) -> None:
    """Check the build files of projects."""
    if unread:
        for project in projects:
            for name in unread_files(project):
                click.echo(f"{project.name}/{name}")
        return
    verdicts = {}
    click.echo(_HEADING + "\n|---" + "|---:" * (_HEADING.count("|") - 2) + "|")
    for project in projects:
        work = Path(tempfile.mkdtemp(prefix="musify-build-"))
        try:
            verdict = verdicts[project] = judge(project, work)
            click.echo(verdict.row(project.resolve().name))
            if keep is not None:
                shutil.copytree(work, keep / project.resolve().name, dirs_exist_ok=True)
        finally:
            shutil.rmtree(work)
    for project, verdict in verdicts.items():
        for kind, lines in (("silent", verdict.silent), ("failed", verdict.failed), ("changed again", verdict.again)):
            for text in lines[:show]:
                click.echo(f"{kind}: {project.resolve().name}/{text}")
    left, exact = sum(v.left for v in verdicts.values()), sum(v.exact for v in verdicts.values())
    click.echo(
        f"{left} words left, {sum(v.covered for v in verdicts.values())} on a line with a finding, {exact} of these "
        f"inside one; {sum(v.written for v in verdicts.values())} more were written by musify; "
        f"{sum(v.seconds for v in verdicts.values()):.1f} s"
    )
    sys.exit(0 if all(verdict.is_sound for verdict in verdicts.values()) else 1)


if __name__ == "__main__":
    main()
