"""`musify rules`: commands about the rules themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from musify.model import ExitCode, MusifyError
from musify.rules import book
from musify.sdk import cuda_include, find_sdk

if TYPE_CHECKING:
    from musify.audit.headers import Reading


@click.group()
def rules() -> None:
    """Compare the rules with the headers that are installed."""


@rules.command()
@click.option(
    "--cuda-include",
    "include",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="CUDA's include folder; repeatable.  [default: from CUDA_HOME, or /usr/local/cuda]",
)
@click.option(
    "--musa-home",
    "home",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Compare with this MUSA SDK; `auto` looks for one (MUSA_HOME, /usr/local/musa).",
)
@click.option(
    "--rules", "own", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="Rule file of your own."
)
@click.option("--write-rules", "goal", type=click.Path(path_type=Path), metavar="FILE", help="Write a rule file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def audit(
    include: tuple[Path, ...], home: Path | None, own: tuple[Path, ...], goal: Path | None, as_json: bool
) -> ExitCode:
    """Report what headers have that no rule knows, or what a MUSA SDK has of what the rules promise.

    Reads CUDA's headers with libclang and lists the public names that are on no list; --write-rules drafts rules for
    them. With --musa-home reads the headers of an SDK; --write-rules writes what it has, lacks and has in another form
    as rules, which convert takes with --rules.
    """
    if home is not None:
        _audit_sdk(home, include, own, goal, as_json)
    else:
        _audit_cuda(include, own, goal, as_json)
    return ExitCode.DONE


def _audit_cuda(include: tuple[Path, ...], own: tuple[Path, ...], goal: Path | None, as_json: bool) -> None:
    from musify.audit import output, rule_file
    from musify.audit.unknown import audit_cuda

    result = audit_cuda(_cuda_folders(include), book.load(own))
    if goal is not None:
        rule_file.write(goal, rule_file.draft(result))
    _print(output.cuda_data(result), output.cuda_text(result), as_json)


def _audit_sdk(home: Path, include: tuple[Path, ...], own: tuple[Path, ...], goal: Path | None, as_json: bool) -> None:
    from musify.audit import output, rule_file
    from musify.audit.sdk_names import audit_sdk
    from musify.audit.unknown import read_cuda_calls

    sdk = find_sdk(None if str(home) == "auto" else home)
    known = book.load(own)
    folders = list(include) or [folder for folder in [cuda_include()] if folder is not None]
    cuda: Reading | None = read_cuda_calls(folders, known) if folders else None
    if cuda is None:
        click.echo("no CUDA headers found: arguments are not compared (--cuda-include)", err=True)
    result = audit_sdk(sdk, known, cuda)
    if goal is not None:
        rule_file.write(goal, rule_file.overlay(result))
    _print(output.sdk_data(result), output.sdk_text(result), as_json)


def _print(data: dict[str, Any], lines: Iterable[str], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(data, ensure_ascii=False, indent=2))
        return
    for line in lines:
        click.echo(line)


def _cuda_folders(given: tuple[Path, ...]) -> list[Path]:
    if given:
        return list(given)
    found = cuda_include()
    if found is None:
        raise MusifyError("no CUDA headers found (CUDA_HOME, /usr/local/cuda); name their folder with --cuda-include")
    return [found]
