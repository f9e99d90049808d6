"""Dockerfiles: images, variables, and commands, which are the shell's or lists of words in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from musify.languages.build.commands import Commands
from musify.languages.build.containers import images_in
from musify.languages.build.edits import without_inner
from musify.languages.build.flags import FlagForm, FlagWord
from musify.languages.build.unit import BuildUnit, Token
from musify.languages.build.variables import Variables
from musify.languages.shell.conversion import own_names, script_results, setting_results, survey
from musify.languages.shell.quoting import words_around, words_in, words_of
from musify.languages.shell.script import Script, read_script
from musify.model import Edit, Finding, Span

_ESCAPE = re.compile(rb"(?i)\A(?:#[^\n]*\n)*#[ \t]*escape[ \t]*=[ \t]*(`)")
_KEYWORD = re.compile(rb"[ \t]*(?:ONBUILD[ \t]+)?(?:HEALTHCHECK[ \t]+(?:--\S+[ \t]+)*(?=CMD))?([A-Za-z]+)[ \t]*")
_COMMENT = re.compile(rb"[ \t]*(#[^\n]*)")
_HEREDOC = re.compile(rb"<<-?[\"']?(\w+)[\"']?")
_OPTION = re.compile(rb"(?:--[\w-]+(?:=\S*)?(?:[ \t]|\\\r?\n)+)+")
_SETTING = re.compile(rb"([A-Za-z_]\w*)(=|[ \t]+)")
_JSON_WORD = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_COMMANDS = frozenset((b"RUN", b"CMD", b"ENTRYPOINT"))
_VARIABLES = frozenset((b"ENV", b"ARG"))
_EXEC_FORM = FlagForm(b", ", quoted=True)


class Instruction(NamedTuple):
    """An instruction with the place of its arguments; `comments` are the lines of comments between them."""

    keyword: bytes
    body: Span
    comments: tuple[Span, ...]


def instructions_of(data: bytes) -> tuple[list[Instruction], list[Span]]:
    """The instructions of a file, and all its comments."""
    escape = b"`" if _ESCAPE.match(data) else b"\\"
    found: list[Instruction] = []
    comments: list[Span] = []
    position = 0
    while position < len(data):
        line_end = _line_end(data, position)
        comment = _COMMENT.match(data, position, line_end)
        keyword = _KEYWORD.match(data, position, line_end)
        if comment:
            comments.append(Span(*comment.span(1)))
        elif keyword:
            instruction, line_end = _instruction(data, keyword, escape)
            found.append(instruction)
            comments += instruction.comments
        position = line_end + 1
    return found, comments


def _instruction(data: bytes, keyword: re.Match[bytes], escape: bytes) -> tuple[Instruction, int]:
    """An instruction and the end of its last line."""
    comments: list[Span] = []
    start = keyword.end()
    line = start
    while True:
        end = _line_end(data, line)
        comment = _COMMENT.match(data, line, end) if line > start else None
        if comment:
            comments.append(Span(*comment.span(1)))
        elif not data[line:end].rstrip().endswith(escape) and (line == start or data[line:end].strip()):
            break
        if end >= len(data):
            break
        line = end + 1
    for heredoc in _HEREDOC.findall(data[start:end]):
        closing = re.compile(rb"(?m)^\t*" + re.escape(heredoc) + rb"\r?$").search(data, end)
        end = closing.end() if closing else end
    text_end = end - 1 if data[end - 1 : end] == b"\r" else end
    return Instruction(keyword.group(1).upper(), Span(start, max(start, text_end)), tuple(comments)), end


def _line_end(data: bytes, start: int) -> int:
    end = data.find(b"\n", start)
    return len(data) if end < 0 else end


def tokens(data: bytes) -> list[Token]:
    """Comments, and what stands between blanks outside them."""
    return words_around(data, instructions_of(data)[1])


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """What the instructions of a Dockerfile ask for."""
    instructions, _ = instructions_of(unit.data)
    variables = Variables()
    scripts = {item: _script(unit.data, item) for item in instructions if item.keyword in _COMMANDS}
    for item, script in scripts.items():
        survey(script, unit.text(item.body), variables)
    settings = {item: list(_settings_of(unit.data, item)) for item in instructions if item.keyword in _VARIABLES}
    for name, words in (setting for found in settings.values() for setting in found):
        variables.add_value(name, [word.text for word in words])
    commands = Commands(unit, variables)
    found: list[Edit | Finding] = []
    for item in instructions:
        if item.keyword in (b"FROM", b"ARG", b"COPY", b"ADD"):
            found += images_in(unit, item.body)
        for name, words in settings.get(item, ()):
            found += setting_results(commands, name, words)
        if item.keyword in _COMMANDS:
            found += _command(commands, item, scripts[item])
    yield from without_inner(found)


def _settings_of(data: bytes, item: Instruction) -> Iterator[tuple[bytes, Sequence[FlagWord]]]:
    """The variables of `ENV NAME=value NAME="more words"`, or of `ENV NAME the rest of the line`."""
    first = _SETTING.match(data, *item.body)
    if first is not None and first.group(2) != b"=":
        yield first.group(1), words_of(data, Span(first.end(), item.body.end))
        return
    for word in words_of(data, item.body):
        setting = _SETTING.match(data, *word.span)
        if setting:
            yield setting.group(1), words_in(data, Span(setting.end(), word.span.end))


def _command(commands: Commands, item: Instruction, script: Script) -> Iterator[Edit | Finding]:
    words = _exec_form(commands.unit.data, item.body)
    if words:
        yield from commands.results(words, _EXEC_FORM)
    else:
        yield from script_results(commands, script)
        yield from own_names(commands.unit, script)


def _exec_form(data: bytes, body: Span) -> list[FlagWord]:
    """The words of a command that is written as a list in JSON."""
    text = data[slice(*body)].strip()
    if not (text.startswith(b"[") and text.endswith(b"]")):
        return []
    return [FlagWord(Span(*word.span()), word.group(1)) for word in _JSON_WORD.finditer(data, *body)]


def _script(data: bytes, item: Instruction) -> Script:
    """The command of an instruction as the shell gets it: without options of docker and lines of comments."""
    start = item.body.start
    option = _OPTION.match(data, *item.body)
    if option:
        start = option.end()
    text = bytearray(data[start : item.body.end])
    for comment in item.comments:
        end = min(comment.end + 1, item.body.end)
        text[comment.start - start : end - start] = b" " * (end - comment.start)
    text = bytearray(re.sub(rb"`(?=\r?\n)", rb"\\", bytes(text))) if _ESCAPE.match(data) else text
    opening = re.match(rb"<<-?[\"']?\w+[\"']?", text)
    if opening:  # the body of a here-document is the command
        text[: opening.end()] = b" " * opening.end()
        text[text.rfind(b"\n") + 1 :] = b" " * (len(text) - text.rfind(b"\n") - 1)
    return read_script(data, Span(start, item.body.end), bytes(text))
