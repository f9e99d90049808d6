"""`musify header`."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from musify.cli import running
from musify.cli.options import apply_config, shared_options, without
from musify.engine import tree
from musify.engine.results import FileResult, RunResult
from musify.headers import made
from musify.headers.compatibility import Content, findings_of, gather, render
from musify.headers.forwarding import forwarding_headers
from musify.headers.lookups import lookup_macros
from musify.headers.usage import FileUsage, usage_of
from musify.languages.registry import Language
from musify.model import ExitCode, Severity
from musify.project.output import DryRun

_DEFAULT_NAME = "cuda_to_musa.h"


@without("keep_names", "comments", "python_mode")
@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the header to FILE.")
@click.option("--forwarding", type=click.Path(path_type=Path), metavar="DIR",
              help="Also write headers of CUDA's names to DIR, which lead to MUSA's; needs -o.")  # fmt: skip
@click.option("--macro", default="USE_MUSA", show_default=True, metavar="NAME",
              help="What the MUSA build defines for files that a host compiler builds.")  # fmt: skip
@click.option("--force", is_flag=True, help="Write over files that musify did not make.")
@click.option("--fail-on", type=click.Choice([item.value for item in Severity]), help="Exit 1 at such a finding.")
@shared_options
@click.pass_context
def header(context: click.Context, /, **_: Any) -> ExitCode:
    """Write a header that gives CUDA's names to a MUSA build, so that one source builds for both.

    It holds exactly the names that the tree uses. Without -o it goes to stdout. What no header can carry is listed.
    """
    paths = context.params["paths"]
    apply_config(context, paths)
    options = {**context.params, "keep_names": True, "comments": False}
    _check(options)
    usages, plan = _read(paths, options)
    content = gather(usages, plan.book)
    result = RunResult([_result(usage, found) for usage, found in findings_of(usages, content)])
    running.check_ids(options)
    result.choose(options["select"], options["ignore"])
    name = options["output"].name if options["output"] else _DEFAULT_NAME
    text = render(
        content, plan.settings.target, name=name, macro=options["macro"], with_headers=not options["forwarding"]
    )
    changed = _write(content, text, options) if options["output"] else None
    printed = running.write_reports(result, plan, options)
    if not options["output"] and not printed:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
    if not options["quiet"]:
        running.print_findings(result)
        click.echo(_summary(content, name, changed), err=True)
    return running.exit_code(result, options["fail_on"])


def _check(options: dict[str, Any]) -> None:
    if not re.fullmatch(r"[A-Za-z_]\w*", options["macro"]):
        raise click.UsageError(f"--macro {options['macro']}: not the name of a macro")
    if options["forwarding"] and not options["output"]:
        raise click.UsageError("--forwarding needs -o FILE: the headers include the compatibility header")


def _read(paths: list[Path], options: dict[str, Any]) -> tuple[list[FileUsage], tree.Plan]:
    """What every source of the tree uses; headers that musify made are no sources."""
    files = [
        file
        for file in running.select_files(paths, options)
        if file.language is Language.CUDA and not made.is_ours(file.path)
    ]
    plan = running.make_plan(files, running.make_layout(files, paths, options), DryRun(), options, diff=False)
    look = partial(
        usage_of,
        macro=options["macro"],
        forwarding=bool(options["forwarding"]),
        lookups=lookup_macros(file.path for file in files),
    )
    with running.progress(options) as report:
        return tree.inspect(plan, options["jobs"], look, report), plan


def _result(usage: FileUsage, found: list[Any]) -> FileResult:
    return FileResult(usage.path, usage.path, Language.CUDA.value, findings=found)


def _write(content: Content, text: bytes, options: dict[str, Any]) -> int:
    """Write the header and the forwarding headers; how many files changed."""
    output: Path = options["output"]
    files = {output: text}
    folder: Path | None = options["forwarding"]
    if folder is not None:
        headers = forwarding_headers(content, macro=options["macro"], header=output, folder=folder)
        files.update({folder / path: data for path, data in headers.items()})
    changed = made.write(files, force=options["force"])
    return changed + (made.remove_stale(folder, files) if folder is not None else 0)


def _summary(content: Content, name: str, changed: int | None) -> str:
    names = len(content.names) + len(content.qualified)
    text = (
        f"{name}: {names} names, {len(content.headers)} headers; {len(content.absent)} without counterpart, "
        f"{len(content.unknown)} unknown"
    )
    return text if changed is None else f"{text}; {changed} files changed"
