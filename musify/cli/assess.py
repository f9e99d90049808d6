"""`musify assess`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from musify.cli import running
from musify.cli.options import apply_config, shared_options
from musify.model import ExitCode
from musify.project.output import DryRun
from musify.report.assessment import print_assessment
from musify.report.content import Report


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@shared_options
@click.pass_context
def assess(context: click.Context, /, **_: Any) -> ExitCode:
    """Say how much CUDA a repository holds, what will go by itself, what will not, and where to start.

    Nothing is changed, and nothing found makes it fail.
    """
    from rich.console import Console

    paths = context.params["paths"]
    apply_config(context, paths)
    options = context.params
    files = running.select_files(paths, options)
    layout = running.make_layout(files, paths, options)
    plan = running.make_plan(files, layout, DryRun(), options, diff=False)
    plan.details = True
    result = running.run(plan, options)
    if not running.write_reports(result, plan, options):
        print_assessment(Report(result, plan.settings.target, options["lang"]), Console(soft_wrap=True))
    return ExitCode.DONE
