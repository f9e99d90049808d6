"""Commands of the shell that rules of Bazel run (`genrule`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.build.commands import Commands
from musify.languages.build.facts import cuda_words
from musify.languages.build.unit import BuildUnit
from musify.languages.python.module import PythonModule
from musify.languages.shell.conversion import script_results
from musify.languages.shell.script import read_script
from musify.model import Edit, Finding

_COMMANDS = frozenset({"cmd", "cmd_bash"})
# What Bazel puts in before the shell sees it, and its way to write `$`.
_ESCAPE = re.compile(rb"\\(?!\r?\n)")
_MADE = re.compile(rb"\$\$|\$\([^()]*\)|\$<")


def find_commands(unit: BuildUnit, module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits and findings for commands in one literal that mention CUDA; escapes but for ends of lines stop it."""
    for call in module.calls:
        for argument in call.arguments:
            literal = module.string(argument.value) if argument.name in _COMMANDS else None
            if literal is None or len(literal.pieces) > 1:
                continue
            text = unit.text(literal.contents[0])
            if cuda_words().search(text) and not _ESCAPE.search(text):
                script = read_script(unit.data, literal.contents[0], _MADE.sub(_seen, text))
                yield from script_results(Commands(unit), script)


def _seen(match: re.Match[bytes]) -> bytes:
    return b"_$" if match.group() == b"$$" else b"_" * len(match.group())
