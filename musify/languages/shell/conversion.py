"""Edits and findings of shell commands, in scripts and wherever else commands of the shell stand."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from musify.languages.build.architectures import ARCHITECTURE_VALUE, architecture_edits
from musify.languages.build.commands import Commands
from musify.languages.build.facts import cuda_words, named
from musify.languages.build.flags import FlagWord, flag_edits
from musify.languages.build.settings import option_results, value_results
from musify.languages.build.unit import BuildUnit
from musify.languages.build.variables import (
    HOLDS_ARCHITECTURE,
    HOLDS_NUMBER,
    Variables,
    compiler_index,
    is_architecture_value,
    program_index,
    references_of,
)
from musify.languages.shell.definitions import definition_results
from musify.languages.shell.quoting import words_in
from musify.languages.shell.script import Assignment, Command, Script
from musify.model import Applicability, Edit, Finding, Severity, Span

_MAKE = frozenset(b"make gmake $(MAKE) ${MAKE}".split())
_SETTING = re.compile(rb"([A-Za-z_]\w*)=")


def survey(script: Script, text: bytes, variables: Variables) -> None:
    """Add what a script tells of its variables; `text` is all of it."""
    variables.architectures |= set(HOLDS_ARCHITECTURE.findall(text))
    variables.numbers |= set(HOLDS_NUMBER.findall(text))
    settings = [item for command in script.commands for item in command.settings]
    for item in (*script.assignments, *settings):
        variables.add_value(item.name, [word.text for word in item.words])
    for command in script.commands:
        words = [word.text for word in command.words]
        index = compiler_index(words, variables)
        if index is not None:
            variables.spread_words(words[index + 1 :])
    for loop in script.loops:
        for holders in (variables.architectures, variables.numbers):
            if loop.variable in holders:
                holders.update(name for word in loop.values for name in references_of(word.text))


def own_names(unit: BuildUnit, script: Script) -> Iterator[Finding]:
    """Variables of the script keep their names; that is noted where one speaks of CUDA."""
    for span in script.names:
        name = unit.text(span)
        if cuda_words().search(name) and name not in named("variable"):
            yield Finding("MUS532", span, name.decode("utf-8", "replace"))


def script_results(commands: Commands, script: Script) -> Iterator[Edit | Finding]:
    """Edits and findings for all that a script says."""
    for assignment in script.assignments:
        yield from setting_results(commands, assignment.name, assignment.words)
        yield from _device(commands.unit, assignment)
        yield from definition_results(commands, assignment.words, in_text=True)
    settled = set()
    for loop in script.loops:
        found = list(architecture_edits(commands.unit, commands.variables, loop.variable, loop.values, several=True))
        if any(isinstance(item, Edit) for item in found):
            settled.add(loop.variable)
        yield from found
    for command in script.commands:
        added = (
            *_arguments_of_make(commands, command),
            *definition_results(commands, command.words),
            *option_results(commands.unit.data, command.words),
        )
        for item in (*commands.results(command.words), *added):
            yield _weighed(commands.unit, item, settled)


def _device(unit: BuildUnit, assignment: Assignment) -> Iterator[Edit | Finding]:
    """`DEVICE=cuda`, and options that a variable holds."""
    if len(assignment.words) == 1:
        word = assignment.words[0]
        yield from value_results(assignment.name, word.text, max(0, unit.data.find(word.text, *word.span)))
    yield from option_results(unit.data, assignment.words)


def _weighed(unit: BuildUnit, item: Edit | Finding, settled: Collection[bytes]) -> Edit | Finding:
    """A variable that goes through a list which is converted is only worth a note."""
    if isinstance(item, Finding) and item.rule_id == "MUS524":
        names = set(references_of(unit.text(item.span)))
        if names and names <= set(settled):
            return item._replace(severity=Severity.NOTE)
    return item


def setting_results(commands: Commands, name: bytes, words: Sequence[FlagWord]) -> Iterator[Edit | Finding]:
    """Edits and findings for a variable that is given these words."""
    texts = [word.text for word in words]
    index = compiler_index(texts, commands.variables)
    if index is not None:
        yield from commands.compilation(words[index:])
        return
    values = list(architecture_edits(commands.unit, commands.variables, name, words))
    yield from values
    if not values:
        host = not (commands.variables.is_flags(name) or name in commands.variables.compilers)
        yield from flag_edits(commands.unit, words, commands.form._replace(host=host))


def _arguments_of_make(commands: Commands, command: Command) -> Iterator[Edit | Finding]:
    """Variables that are handed to make hold what they hold in the makefile."""
    texts = [word.text for word in command.words]
    index = program_index(texts)
    if index is None or texts[index].rpartition(b"/")[2] not in _MAKE:
        return
    for word in command.words[index + 1 :]:
        raw = commands.unit.data[slice(*word.span)]
        match = _SETTING.match(raw)
        if match:
            value = Span(word.span.start + match.end(), word.span.end)
            words = words_in(commands.unit.data, value)
            if is_architecture_value([item.text for item in words], numbers=False):
                yield _architectures(commands, value)
            else:
                yield from setting_results(commands, match.group(1), words)


def _architectures(commands: Commands, value: Span) -> Edit:
    """`make ARCH=sm_80`: the makefile can take a list there once it is converted."""
    names = [name.encode() for name in commands.unit.settings.target.architectures]
    text = names[0] if len(names) == 1 else b'"' + b" ".join(names) + b'"'
    old = commands.unit.text(value).decode("utf-8", "replace")
    return Edit(value, text, ARCHITECTURE_VALUE, Applicability.REVIEW, old, "", "code")
