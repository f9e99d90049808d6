"""`musify rules`: commands about the rules themselves."""

from __future__ import annotations

import json
from pathlib import Path

import click

from musify.model import ExitCode, MusifyError
from musify.rules import book


@click.group()
def rules() -> None:
    """Compare the rules with the headers that are installed."""


@rules.command()
@click.option(
    "--cuda-include", "include", multiple=True, type=click.Path(path_type=Path), metavar="DIR",
    help="CUDA's include folder; repeatable.  [default: from CUDA_HOME, or /usr/local/cuda]",
)  # fmt: skip
@click.option(
    "--rules", "own", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="Rule file of your own."
)
@click.option("--write-rules", "goal", type=click.Path(path_type=Path), metavar="FILE", help="Write a rule file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def audit(include: tuple[Path, ...], own: tuple[Path, ...], goal: Path | None, as_json: bool) -> ExitCode:
    """Report what headers have that no rule knows.

    Reads CUDA's headers with libclang and lists the public names that are on no list; --write-rules drafts rules for
    them.
    """
    from musify.audit import output, rule_file
    from musify.audit.unknown import audit_cuda

    result = audit_cuda(_cuda_folders(include), book.load(own))
    if goal is not None:
        rule_file.write(goal, rule_file.draft(result))
    if as_json:
        click.echo(json.dumps(output.cuda_data(result), ensure_ascii=False, indent=2))
    else:
        for line in output.cuda_text(result):
            click.echo(line)
    return ExitCode.DONE


def _cuda_folders(given: tuple[Path, ...]) -> list[Path]:
    from musify.sdk import cuda_include

    if given:
        return list(given)
    found = cuda_include()
    if found is None:
        raise MusifyError("no CUDA headers found (CUDA_HOME, /usr/local/cuda); name their folder with --cuda-include")
    return [found]
