"""`musify text`: the command line of musify-text on musify's engine."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from musify.cli import running
from musify.engine.results import RunResult
from musify.model import DEFAULT_TARGET, ExitCode, MusifyError, Severity
from musify.project.config import find_config
from musify.project.files import Selection, SourceFile, find_named_files
from musify.project.output import Beside, Destination, InPlace, Kept
from musify.report.content import one_line
from musify.rules.findings import LANGUAGES

# What is said at each level: findings from this severity on, and how many names changed.
_LEVELS = {
    "critical": None, "error": Severity.ERROR, "warning": Severity.WARNING,
    "info": Severity.NOTE, "debug": Severity.NOTE,
}  # fmt: skip
_COUNTED = ("info", "debug")
_MAPPING = ("-m", "--mapping")
_LEVEL = ("-l", "--log-level")
_NOT_DONE = frozenset({"MUS901", "MUS902", "MUS905"})
_DEFAULTS: dict[str, Any] = {
    "arch": (), "sdk": DEFAULT_TARGET.sdk, "include": (), "exclude": (), "gitignore": False, "unattested": "rename",
    "cmake": "findmusa", "comments": False, "semantic": False, "report": (), "select": (), "ignore": (),
    "root": None, "quiet": True,
}  # fmt: skip


class _Command(click.Command):
    """Takes several files after one -m, and -l with or without a level, as scripts write them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(_spelled_out(args)))


def _spelled_out(arguments: Sequence[str]) -> list[str]:
    found: list[str] = []
    in_mappings = False
    for index, argument in enumerate(arguments):
        if argument == "--":
            return [*found, *arguments[index:]]
        if in_mappings and argument.lower().endswith(".json") and found[-1] not in _MAPPING:
            found.append("-m")
        elif argument in _MAPPING:
            in_mappings = True
        elif found and found[-1] not in _MAPPING:
            in_mappings = False
        found.append(argument)
        following = arguments[index + 1] if index + 1 < len(arguments) else ""
        if argument in _LEVEL and following.lower() not in _LEVELS:
            found.append("info")
    return found


@click.command(cls=_Command)
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option("-t", "--terminal", "mode", flag_value="terminal", default=True, help="Print the result (the default).")
@click.option("-c", "--create", "mode", flag_value="create", help="Write the result to a new file beside the old.")
@click.option("-i", "--inplace", "mode", flag_value="inplace", help="Change the files themselves; names stay.")
@click.option("-d", "--direction", type=click.Choice(["c2m", "m2c"]), default="c2m", show_default=True,
              help="CUDA to MUSA, or the way back.")  # fmt: skip
@click.option("-m", "--mapping", multiple=True, type=click.Path(path_type=Path), metavar="FILE...",
              help='Mappings {"old": "new"} in JSON, CUDA first; they win over ours.')  # fmt: skip
@click.option("--clear-mapping", "names_only", is_flag=True, help="Use only the mappings given with -m.")
@click.option("-l", "--log-level", type=click.Choice(list(_LEVELS), case_sensitive=False), default="warning",
              show_default=True, help="What is said on stderr; -l alone means info.")  # fmt: skip
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of messages.")
@click.pass_context
def text(context: click.Context, /, **_: Any) -> ExitCode:
    """Take musify-text's place in scripts: its options, on musify's engine.

    SRC is a file or a folder, in any language that musify reads. Exits 1 where a file could not be converted.
    """
    paths = [Path(source) for source in context.params["sources"]]
    options = _options(context.params, paths)
    files = find_named_files(paths, Selection(gitignore=options["gitignore"], reverse=True))
    mode = context.params["mode"]
    kept = Kept()
    destinations: dict[str, Destination] = {"terminal": kept, "create": Beside(), "inplace": InPlace()}
    layout = running.make_layout(files, [], options)
    plan = running.make_plan(files, layout, destinations[mode], {**options, "quiet": False}, diff=False)
    result = running.run(plan, options)
    if mode == "terminal":
        _print(files, kept)
    _say(files, result, options["log_level"])
    failed = any(item.id in _NOT_DONE for file in result.files for item in file.findings)
    return ExitCode.FINDINGS if failed else ExitCode.DONE


def _options(given: dict[str, Any], paths: Sequence[Path]) -> dict[str, Any]:
    """The options as the other commands know them; what this one does not have comes from the configuration."""
    config = find_config(paths[0])
    reverse = given["direction"] == "m2c"
    if given["names_only"] and not given["mapping"]:
        raise click.UsageError("--clear-mapping leaves nothing to change: give a mapping with -m")
    rules = () if given["names_only"] else tuple(config.get("rules", ()))
    return {
        **_DEFAULTS, **config, **given,
        "rules": (*rules, *given["mapping"]),
        "reverse": reverse,
        "keep_names": given["mode"] != "create",
        "aside": "_cuda" if reverse else "_musa",
        "include": (), "exclude": (), "gitignore": False, "semantic": False,
        # What is printed is kept in this process.
        "jobs": 1 if given["mode"] == "terminal" else os.cpu_count() or 1,
    }  # fmt: skip


def _print(files: Sequence[SourceFile], kept: Kept) -> None:
    if sys.stdout is None:
        raise MusifyError("-t needs an open stdout")
    for file in files:
        sys.stdout.buffer.write(kept.data.get(file.relative, b""))
    sys.stdout.buffer.flush()


def _say(files: Sequence[SourceFile], result: RunResult, level: str) -> None:
    least = _LEVELS[level.lower()]
    unknown = {file.shown for file in files if file.language is None}
    for file in result.files:
        if file.path in unknown and level.lower() != "critical":
            click.echo(f"{file.path}: no language that musify reads; left as it is", err=True)
        for finding in file.active_findings():
            if least is not None and Severity(finding.severity).rank >= least.rank:
                click.echo(one_line(file, finding), err=True)
        if level.lower() in _COUNTED:
            click.echo(f"{file.path}: {file.edit_count} changes", err=True)
