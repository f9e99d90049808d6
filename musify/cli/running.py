"""What convert and check do alike: find the files, run, print progress, findings and the summary."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from musify.cli.options import rules_of, semantics_of, settings_of
from musify.engine import tree
from musify.engine.processes import Progress
from musify.engine.results import RunResult
from musify.model import ExitCode, MusifyError, Severity
from musify.project.files import Selection, SourceFile, find_files, find_files_within
from musify.project.layout import Layout
from musify.project.output import Destination
from musify.report import needs_of, parse_request, render, write_report
from musify.report.content import Need, Report, one_line
from musify.rules.findings import catalogue

_PROGRESS_AFTER_SECONDS = 0.7
_FINDINGS_SHOWN = 20


def select_files(paths: Sequence[Path], options: dict[str, Any], excluded: Sequence[Path] = ()) -> list[SourceFile]:
    """The files of the run. Raises MusifyError."""
    selection = selection_of(options, excluded)
    if options.get("root") is not None:
        return find_files_within(options["root"], paths, selection)
    return find_files(paths, selection)


def selection_of(options: dict[str, Any], excluded: Sequence[Path] = ()) -> Selection:
    """Which files the options choose."""
    include, exclude = tuple(options["include"]), tuple(options["exclude"])
    return Selection(include, exclude, options["gitignore"], tuple(excluded), bool(options.get("reverse")))


def make_layout(files: Sequence[SourceFile], paths: Sequence[Path], options: dict[str, Any]) -> Layout:
    """The names that the files get."""
    root = paths[0].resolve().name if len(paths) == 1 and paths[0].is_dir() else ""
    reverse = bool(options.get("reverse"))
    return Layout(files, rename=not options["keep_names"], root=root, reverse=reverse, aside=options.get("aside", ""))


def make_plan(
    files: Sequence[SourceFile],
    layout: Layout,
    destination: Destination,
    options: dict[str, Any],
    *,
    diff: bool,
) -> tree.Plan:
    """The plan of the run. Raises MusifyError for a bad rule file or report, and without libclang."""
    needs = needs_of(options["report"])
    details = Need.EDITS in needs or bool(options.get("baseline")) or bool(options.get("diff_base"))
    rules = rules_of(options)
    return tree.Plan(
        files, layout, rules, settings_of(options), destination, options["lang"], details,
        diff=diff or Need.DIFF in needs, lines=Need.LINES in needs,
        semantics=semantics_of(options, rules),
    )  # fmt: skip


def run(plan: tree.Plan, options: dict[str, Any]) -> RunResult:
    """Run the plan, with a progress bar where a person is watching."""
    check_ids(options)
    with progress(options) as report:
        result = tree.run(plan, options["jobs"], report)
    result.choose(options["select"], options["ignore"])
    return result


def check_ids(options: dict[str, Any]) -> None:
    """Whether there are findings of the ids that are chosen. Raises MusifyError."""
    known = tuple(catalogue())
    for identifier in (*options["select"], *options["ignore"]):
        if not any(item.startswith(identifier) for item in known):
            raise MusifyError(f"{identifier}: no finding has an id that begins so; see docs/findings.md")


@contextlib.contextmanager
def progress(options: dict[str, Any]) -> Iterator[Progress | None]:
    """A progress bar where a person is watching, once the run has taken a while."""
    if options["quiet"] or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    started = time.monotonic()
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeRemainingColumn(),
        console=Console(stderr=True), transient=True, auto_refresh=False,
    )  # fmt: skip
    tasks: dict[str, Any] = {}

    def advance(title: str, done: int, total: int) -> None:
        if time.monotonic() - started < _PROGRESS_AFTER_SECONDS:
            return
        if not bar.live.is_started:
            bar.start()
        if title not in tasks:
            tasks[title] = bar.add_task(title, total=total)
        bar.update(tasks[title], completed=done)
        bar.refresh()

    try:
        yield advance
    finally:
        bar.stop()


def write_reports(result: RunResult, plan: tree.Plan, options: dict[str, Any]) -> bool:
    """Write or print the reports that were asked for; whether one went to stdout. Raises MusifyError."""
    printed = False
    report = Report(result, plan.settings.target, options["lang"])
    for name, path in map(parse_request, options["report"]):
        if path is None:
            click.echo(render(report, name), nl=False)
            printed = True
        else:
            write_report(report, name, path)
    return printed


def print_outcome(result: RunResult, options: dict[str, Any], *, findings: bool) -> None:
    """The first findings (where asked for) and the summary, on stderr."""
    if options["quiet"]:
        return
    if findings:
        print_findings(result)
    from rich.console import Console

    from musify.report.summary import print_summary

    print_summary(result, Console(stderr=True, soft_wrap=not sys.stderr.isatty()), options["lang"])


def print_findings(result: RunResult) -> None:
    """The first findings, on stderr, and how many more there are."""
    lines = [one_line(file, finding) for file in result.files for finding in file.active_findings()]
    for text in lines[:_FINDINGS_SHOWN]:
        click.echo(text, err=True)
    if len(lines) > _FINDINGS_SHOWN:
        rest = len(lines) - _FINDINGS_SHOWN
        click.echo(
            f"... and {rest} more findings: --report text prints all, --report json:FILE writes them",
            err=True,
        )


def exit_code(result: RunResult, fail_on: str | None) -> ExitCode:
    """1 where a finding is at or above the level asked for."""
    if fail_on is not None and result.reaches(Severity(fail_on)):
        return ExitCode.FINDINGS
    return ExitCode.DONE
