"""Scripts of the shell: nvcc's commands and flags, variables that hold them, tools, packages and images."""

from __future__ import annotations

from collections.abc import Iterator

from musify.languages.build.commands import Commands
from musify.languages.build.edits import without_inner
from musify.languages.build.unit import BuildUnit, Token
from musify.languages.build.variables import Variables
from musify.languages.shell.conversion import own_names, script_results, survey
from musify.languages.shell.quoting import words_around
from musify.languages.shell.script import read_script
from musify.model import Edit, Finding, Span


def tokens(data: bytes) -> list[Token]:
    """Comments, and what stands between blanks outside them."""
    return words_around(data, read_script(data, Span(0, len(data))).comments)


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """What the commands of a script ask for."""
    script = read_script(unit.data, Span(0, len(unit.data)))
    variables = Variables()
    survey(script, unit.data, variables)
    found = [*script_results(Commands(unit, variables), script), *own_names(unit, script)]
    yield from without_inner(found)
