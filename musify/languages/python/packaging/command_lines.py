"""Commands that Python hands to a shell as one string, and variables that it hands to CMake."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.build.commands import Commands
from musify.languages.build.flags import FlagWord
from musify.languages.build.unit import BuildUnit
from musify.languages.build.variables import named_like_compiler
from musify.languages.python.module import PythonModule
from musify.languages.python.packaging.facts import shell_functions
from musify.languages.python.packaging.flag_words import is_writable
from musify.languages.python.strings import StringLiteral
from musify.languages.shell.conversion import script_results
from musify.languages.shell.definitions import definition_results
from musify.languages.shell.script import Command, read_script
from musify.model import Edit, Finding

# A text that is a command of nvcc by its own words, wherever it is handed to.
_COMPILATION = re.compile(rb"\s*(?:\S*[/}])?nvcc\s(?:.*\s)?-\w.*", re.S)
_HOLE = re.compile(rb"\{([A-Za-z_][\w.]*)\}")


def find_command_lines(unit: BuildUnit, module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits and findings for literals that a shell reads."""
    handed = {node.id for call in module.calls if call.calls(*shell_functions()) and call.arguments
              for node in [module.value(call.arguments[0].value)] if node is not None}  # fmt: skip
    for literal in module.strings:
        if literal.text.startswith(b"-DC") and is_writable(literal) and len(literal.pieces) == 1:
            word = FlagWord(literal.contents[0], literal.text)
            yield from definition_results(Commands(unit), [word], in_text=True)
        elif literal.node.id in handed or _COMPILATION.fullmatch(literal.text):
            yield from _results(unit, literal)


def _results(unit: BuildUnit, literal: StringLiteral) -> Iterator[Edit | Finding]:
    if len(literal.pieces) > 1 or not is_writable(literal):
        return
    script = read_script(unit.data, literal.contents[0], _readable(literal))
    commands = Commands(unit)
    for command in script.commands:
        if _is_compiler(command):
            yield from commands.compilation(command.words)
    yield from script_results(commands, script)


def _readable(literal: StringLiteral) -> bytes:
    """The text with plain words in the place of expressions."""
    text = bytearray(literal.text)
    for hole in literal.holes:
        text[hole.start : hole.end] = b"X" * (hole.end - hole.start)
    return bytes(text)


def _is_compiler(command: Command) -> bool:
    """`{nvcc} -O3 ...`."""
    match = _HOLE.fullmatch(command.words[0].text) if command.words else None
    return match is not None and named_like_compiler(match.group(1).rpartition(b".")[2])
