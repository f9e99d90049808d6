"""`musify check`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from musify.cli import running
from musify.cli.options import apply_config, reverse_option, shared_options
from musify.engine.results import RunResult
from musify.model import ExitCode, Severity
from musify.project.changes import ChangedLines
from musify.project.output import DryRun
from musify.report import baseline
from musify.report.content import one_line


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option(
    "--fail-on", type=click.Choice([item.value for item in Severity]), default="warning", show_default=True,
    help="Exit 1 at such a finding.",
)  # fmt: skip
@click.option(
    "--baseline", type=click.Path(path_type=Path), metavar="FILE", help="Report only what FILE does not hold."
)
@click.option("--update-baseline", is_flag=True, help="Make what is found now the content of --baseline FILE.")
@click.option("--diff-base", metavar="REV", help="Report only what stands on lines that differ from git's REV.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 whatever is found.")
@reverse_option
@shared_options
@click.pass_context
def check(context: click.Context, /, **_: Any) -> ExitCode:
    """Report what convert would change or could not, and change nothing.

    Exits 1 where a finding is at or above --fail-on, or where convert would change a file.
    """
    paths = context.params["paths"]
    apply_config(context, paths)
    options = context.params
    files = running.select_files(paths, options)
    layout = running.make_layout(files, paths, options)
    plan = running.make_plan(files, layout, DryRun(), options, diff=False)
    result = running.run(plan, options)
    if options["diff_base"] is not None:
        result.keep_lines(ChangedLines(paths[0], options["diff_base"]).touches)
    if options["update_baseline"]:
        return _update_baseline(result, options)
    if options["baseline"] is not None:
        _subtract_baseline(result, Path(options["baseline"]), options)
    # A baseline holds edits and findings; a file that only gets another name is not new beside one.
    renames_count = options["baseline"] is None and options["diff_base"] is None
    pending = {file.path for file in result.files if file.changed or (file.renamed and renames_count)}
    if not running.write_reports(result, plan, options):
        for file in result.files:
            if file.path in pending:
                click.echo(f"{file.path}: would change ({file.edit_count} edits)")
            for finding in file.active_findings():
                click.echo(one_line(file, finding))
    running.print_outcome(result, options, findings=False)
    if options["exit_zero"]:
        return ExitCode.DONE
    if pending:
        return ExitCode.FINDINGS
    return running.exit_code(result, options["fail_on"])


def _update_baseline(result: RunResult, options: dict[str, Any]) -> ExitCode:
    if options["baseline"] is None:
        raise click.UsageError("--update-baseline needs --baseline FILE")
    count = baseline.write(Path(options["baseline"]), result)
    click.echo(f"{options['baseline']}: {count} entries", err=True)
    return ExitCode.DONE


def _subtract_baseline(result: RunResult, path: Path, options: dict[str, Any]) -> None:
    comparison = baseline.subtract(result, baseline.read(path))
    if options["quiet"]:
        return
    click.echo(f"{path}: covers {comparison.covered} findings and pending edits", err=True)
    for entry in comparison.gone:
        click.echo(f"{entry.path}: {entry.id} {entry.name} no longer occurs; --update-baseline takes it out", err=True)
