"""`musify triage`."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from musify.cli import running
from musify.cli.options import apply_config, rules_of, settings_of, shared_options, without
from musify.engine import tree
from musify.model import ExitCode
from musify.project.output import DryRun
from musify.triage import overlay
from musify.triage.causes import Causes, causes_of
from musify.triage.definitions import look
from musify.triage.knowledge import Knowledge
from musify.triage.log import Log, candidates, parse_log, read_log
from musify.triage.origins import Origins, from_report
from musify.triage.output import Explained, data, print_text
from musify.triage.proposals import plain_name, steps_for

_SOUGHT_KINDS = frozenset({"missing-name", "missing-symbol", "signature"})
_MOST_SOUGHT = 500


@without("report", "select", "ignore", "comments")
@click.command()
@click.argument("log", type=click.Path(path_type=Path, allow_dash=True), metavar="LOG")
@click.option("--report", "conversion", type=click.Path(path_type=Path), metavar="FILE",
              help="JSON report of the conversion (convert --report json:FILE).")  # fmt: skip
@click.option("--original", type=click.Path(path_type=Path), metavar="DIR",
              help="The CUDA tree; it is converted again in memory.")  # fmt: skip
@click.option("--write-rules", "goal", type=click.Path(path_type=Path), metavar="FILE",
              help="Add the rules that are proposed to FILE, for --rules of the next conversion.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--top", type=click.IntRange(min=0), default=20, show_default=True, help="Causes to show; 0 shows all.")
@shared_options
@click.pass_context
def triage(context: click.Context, /, **_: Any) -> ExitCode:
    """Read the log of a build, group its errors by cause, and say what to do about each.

    LOG is what mcc, nvcc, make, ninja or CMake printed (`-`: stdin). With --report or --original each error is led
    back to its CUDA line and to the edit behind it. Exits 1 where the log holds errors.
    """
    options = context.params
    if options["conversion"] and options["original"]:
        raise click.UsageError("--report and --original exclude each other")
    apply_config(context, [options["original"] or Path()])
    log = _read(options["log"])
    causes = causes_of(log)
    rules = rules_of(options)
    origins = _origins(log, causes, options)
    knowledge = Knowledge(rules, settings_of({"comments": False, **options}).target)
    explained = [_explained(cause, origins, knowledge) for cause in causes.found]
    if options["goal"] is not None:
        _write_rules(options["goal"], log, explained, options["quiet"])
    if options["as_json"]:
        click.echo(json.dumps(data(log, causes, explained, options["lang"]), ensure_ascii=False, indent=1))
    else:
        from rich.console import Console

        print_text(Console(soft_wrap=True, emoji=False), log, causes, explained, options["lang"], options["top"])
    return ExitCode.FINDINGS if explained else ExitCode.DONE


def _read(path: Path) -> Log:
    if str(path) != "-":
        return read_log(path)
    return parse_log(sys.stdin.buffer.read() if sys.stdin is not None else b"", "stdin")


def _origins(log: Log, causes: Causes, options: dict[str, Any]) -> Origins:
    """The conversion that the log is about, as far as it is known."""
    if options["conversion"] is not None:
        return from_report(options["conversion"])
    if options["original"] is None:
        return Origins()
    options = {**options, "report": (), "comments": False}
    paths = [options["original"]]
    files = running.select_files(paths, options)
    plan = running.make_plan(files, running.make_layout(files, paths, options), DryRun(), options, diff=False)
    named = frozenset(path.rpartition("/")[2] for item in log.errors if item.path for path in candidates(item.path, ()))
    sought = [plain_name(cause.subject) for cause in causes.found if cause.kind in _SOUGHT_KINDS]
    words = tuple(sorted({name.encode() for name in sought[:_MOST_SOUGHT] if name}))
    with running.progress(options) as report:
        return Origins(tree.inspect(plan, options["jobs"], partial(look, names=named, sought=words), report))


def _explained(cause: Any, origins: Origins, knowledge: Knowledge) -> Explained:
    places = [(item, origins.origin(item, cause.subject)) for item in cause.places]
    first = next((origin for _, origin in places if origin is not None), None)
    return Explained(cause, places, steps_for(cause, first, origins, knowledge))


def _write_rules(path: Path, log: Log, explained: list[Explained], quiet: bool) -> None:
    entries = [
        overlay.Entry(step.overlay, len(item.cause.errors), log.name)
        for item in explained
        for step in item.steps
        if step.overlay is not None
    ]
    written = overlay.write(path, entries)
    if not quiet:
        click.echo(
            f"{path}: {written.active} rules added, {written.proposed} proposals as comments; "
            f"use them with `musify convert --rules {path}`",
            err=True,
        )
