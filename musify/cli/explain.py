"""`musify explain`."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

from musify.model import ExitCode, MusifyError
from musify.report.explanation import explain_finding, explain_name
from musify.rules import book
from musify.rules.findings import LANGUAGES, catalogue


@click.command()
@click.argument("subject", metavar="NAME|ID")
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language.")
@click.option("--rules", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="Rule file of your own.")
def explain(subject: str, lang: str, rules: tuple[Path, ...]) -> ExitCode:
    """Explain a CUDA name or header (its MUSA name, library and evidence), or a finding by its id."""
    if re.fullmatch(r"MUS\d+", subject, re.IGNORECASE):
        kind = catalogue().get(subject.upper())
        if kind is None:
            raise MusifyError(f"{subject}: no such finding; ids run from {min(catalogue())} to {max(catalogue())}")
        click.echo(explain_finding(kind, lang), nl=False)
        return ExitCode.DONE
    rule_book = book.load(rules)
    name = os.fsencode(subject)
    rule = rule_book.name(name) or rule_book.header(name) or rule_book.namespace(name)
    if rule is None:
        raise MusifyError(f"{subject}: on no list of CUDA names; see rules/README.md for how to add it")
    click.echo(explain_name(rule, lang), nl=False)
    return ExitCode.DONE
