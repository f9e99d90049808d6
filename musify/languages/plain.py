"""Build files of a form that is not parsed: their words, and the command lines and lists of flags among them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from musify.languages.build.commands import Commands
from musify.languages.build.edits import without_inner
from musify.languages.build.facts import named
from musify.languages.build.flags import FlagForm, FlagWord, flag_edits
from musify.languages.build.known import known_names
from musify.languages.build.settings import value_results
from musify.languages.build.unit import BuildUnit, Token, TokenKind
from musify.languages.build.variables import Variables, runs_nvcc
from musify.languages.build.words import BUILD_WORD
from musify.languages.shell.quoting import words_of
from musify.model import Applicability, Edit, Finding, Span

# `#`; at the start of a line also what C, m4 and batch files have; and XML's.
_TOKEN = re.compile(
    rb"(?m)(?P<comment>(?:^|(?<=\s))#[^\n]*|^[ \t]*(?://|dnl\b)[^\n]*|^[ \t@]*(?i:rem\b|::)[^\n]*|<!--(?s:.*?)-->)"
    rb"|[^\s\"'<>=,;|&]+"
)
# What ends a command that is not in quotes; and one that is.
_END = re.compile(rb"[;|&\"]|(?<!\\)\r?\n|\Z")
_QUOTED_END = {b'"': re.compile(rb"(?<!\\)\"|\n|\Z"), b"'": re.compile(rb"'|\n|\Z")}
# What stands before the program of a command, and what may follow it.
_BEFORE = re.compile(rb"(?:[\"'=;|&(@]|^|\A)[ \t]*\Z", re.M)
_AFTER = re.compile(rb"[ \t]+(?:[-$%@{<\\]|[\w/\\]*\.)|[ \t]*(?:[\"';|&]|\r?$|\Z)", re.M)
_STRING = re.compile(rb"\"((?:\\.|[^\"\\])*)\"")
_NEXT = re.compile(rb"\s*,\s*(?=\")")
# A line, and those that it goes on in; ninja writes `$` before them.
_LINE = re.compile(rb"(?:[^\n\\$]|[\\$]\r?\n|\\.|\$)+")
_FOLDER = re.compile(rb"(?i)\$+[({]?\w*cuda\w*[)}]?/lib(64)(?!\w)")
_SETTING = re.compile(rb"\s*([\w.-]+)\s*[+:]?=\s*")
_LINKED = re.compile(rb"-[lDU]|--library|-include")
_CUSTOMISATION = re.compile(
    rb"<(?P<item>Cuda(?:Compile|Link)\w*)|(?P<import>[^\"<>]*[\\/]CUDA [\d.]+\.(?:props|targets))", re.I
)
# A line that gives a key a value, as in configurations.
_KEYED = re.compile(
    rb"(?m)^[ \t]*(?P<key>[A-Za-z_][\w.-]*)[ \t]*:?[=:][ \t]*(?P<quote>[\"']?)(?P<value>[\w:,]+)(?P=quote)[ \t]*\r?$"
)
_LIST = FlagForm(b", ", quoted=True)


def tokens(data: bytes) -> list[Token]:
    """Comments, and everything that stands between blanks, quotes and separators, as words."""
    return [
        Token(TokenKind.COMMENT if match.lastgroup else TokenKind.WORD, *match.span())
        for match in _TOKEN.finditer(data)
    ]


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Command lines that run nvcc, flags of other lines, and what Visual Studio knows of CUDA."""
    yield from without_inner(_results(unit))


def _results(unit: BuildUnit) -> Iterator[Edit | Finding]:
    commands = list(_commands(unit))
    for words in commands:
        if unit.text(words[0].span).startswith(b'"'):
            yield from Commands(unit, form=_LIST).compilation(words)
        else:
            yield from Commands(unit).results(words)
    taken = [Span(words[0].span.start, words[-1].span.end) for words in commands]
    yield from _settings(unit, taken)
    for line in _KEYED.finditer(unit.data):
        yield from value_results(line.group("key"), line.group("value"), line.start("value"))
    for folder in _FOLDER.finditer(unit.data):
        yield Edit(Span(*folder.span(1)), b"", BUILD_WORD, Applicability.REVIEW, "lib64", "", "documented")
    if unit.data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        for found in _CUSTOMISATION.finditer(unit.data):
            name = found.lastgroup or "item"
            yield known_names("visual_studio.toml")[name].at(Span(*found.span(name)), found.group(name).decode())


def _commands(unit: BuildUnit) -> Iterator[list[FlagWord]]:
    """The commands that run nvcc or another tool of CUDA's: their words, of a line or of a list of strings."""
    done = 0
    for token in unit.tokens:
        text = unit.text(token)
        is_program = token.kind is TokenKind.WORD and (text in named("tool") or runs_nvcc(text))
        if is_program and token.start >= done and _BEFORE.search(unit.data, 0, token.start):
            words = _words(unit.data, token)
            if words:
                done = words[-1].span.end
                yield words


def _words(data: bytes, program: Token) -> list[FlagWord]:
    quote = data[program.start - 1 : program.start] if program.start else b""
    if quote == b'"' == data[program.end : program.end + 1]:
        return list(_strings(data, program.start - 1))
    if _AFTER.match(data, program.end) is None:
        return []
    end = _QUOTED_END.get(quote, _END).search(data, program.end)
    return words_of(data, Span(program.start, end.start() if end else len(data)))


def _strings(data: bytes, start: int) -> Iterator[FlagWord]:
    """A list of strings as JSON writes it, from one of them on."""
    while (match := _STRING.match(data, start)) is not None:
        yield FlagWord(Span(*match.span()), match.group(1))
        comma = _NEXT.match(data, match.end())
        if comma is None:
            return
        start = comma.end()


def _settings(unit: BuildUnit, taken: Sequence[Span]) -> Iterator[Edit | Finding]:
    """Flags that are given to no nvcc: all of them where a variable is for it, else names of libraries and macros."""
    for match in _LINE.finditer(unit.data):
        line = Span(*match.span())
        inside = [span for span in taken if span.start < line.end and line.start < span.end]
        setting = _SETTING.match(unit.data, *line)
        if setting is not None and not inside and Variables().is_flags(setting.group(1)):
            yield from flag_edits(unit, words_of(unit.data, Span(setting.end(), line.end)))
        elif _LINKED.search(unit.data, *line):
            words = _between(unit, line)
            rest = [word for word in words if not any(a <= word.span.start < b for a, b in inside)]
            yield from flag_edits(unit, rest, FlagForm(host=True))


def _between(unit: BuildUnit, line: Span) -> list[FlagWord]:
    """The words of a line, comments left out."""
    first = bisect_left(unit.tokens, line.start, key=lambda token: token.start)
    words = []
    for token in unit.tokens[first:]:
        if token.start >= line.end:
            break
        if token.kind is TokenKind.WORD:
            words.append(FlagWord(Span(token.start, token.end), unit.text(token)))
    return words
