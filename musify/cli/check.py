"""`musify check`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from musify.cli import running
from musify.cli.options import apply_config, shared_options
from musify.model import ExitCode, Severity
from musify.project.output import DryRun
from musify.report import text_report


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option(
    "--fail-on", type=click.Choice([item.value for item in Severity]), default="warning", show_default=True,
    help="Exit 1 at such a finding.",
)  # fmt: skip
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
    if not running.write_reports(result, plan, options):
        for file in result.files:
            if file.changed or file.renamed:
                click.echo(f"{file.path}: would change ({file.edit_count} edits)")
            for finding in file.active_findings():
                click.echo(text_report.line(file, finding))
    running.print_outcome(result, options, findings=False)
    if any(file.changed or file.renamed for file in result.files):
        return ExitCode.FINDINGS
    return running.exit_code(result, options["fail_on"])
