"""`musify explain`."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

from musify.model import ExitCode, MusifyError
from musify.report.explanation import explain_finding, explain_name
from musify.rules import book
from musify.rules.book import RuleBook
from musify.rules.findings import LANGUAGES, catalogue
from musify.rules.model import NameRule


@click.command()
@click.argument("subject", metavar="NAME|ID")
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language.")
@click.option("--rules", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="Rule file of your own.")
def explain(subject: str, lang: str, rules: tuple[Path, ...]) -> ExitCode:
    """Explain a CUDA name or header (its MUSA name, library and evidence), or a finding by its id.

    Of a MUSA name the CUDA names are explained that become it.
    """
    if re.fullmatch(r"MUS\d+", subject, re.IGNORECASE):
        kind = catalogue().get(subject.upper())
        if kind is None:
            raise MusifyError(f"{subject}: no such finding; ids run from {min(catalogue())} to {max(catalogue())}")
        click.echo(explain_finding(kind, lang), nl=False)
        return ExitCode.DONE
    own = list(rules)
    rule_book = book.load(own)
    name = os.fsencode(subject)
    rule = rule_book.name(name) or rule_book.header(name) or rule_book.namespace(name)
    found = [rule] if rule is not None else _of_musa(name, rule_book, own)
    if not found:
        raise MusifyError(f"{subject}: on no list of CUDA or MUSA names; see rules/README.md for how to add it")
    click.echo("\n".join(explain_name(item, lang) for item in found), nl=False)
    return ExitCode.DONE


def _of_musa(name: bytes, rules: RuleBook, own: list[Path]) -> list[NameRule]:
    """The rules of the CUDA names or headers that become this MUSA one."""
    inverse = book.load(own, reverse=True)
    way_back = inverse.name(name) or inverse.header(name)
    if way_back is None:
        return []
    sources = inverse.all_of(name) or [way_back.target]
    return [rule for source in sources if (rule := rules.name(source) or rules.header(source)) is not None]
