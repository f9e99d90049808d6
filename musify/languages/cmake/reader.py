"""A lossless reader of CMake: comments and commands with their arguments, each with its byte offsets.

The tokens are those of CMake's own lexer (cmake-language(7), "Syntax"), its legacy forms included. What is no CMake
(`@PACKAGE_INIT@` in a template, a conflict marker) is passed over word by word; nothing is refused.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from musify.languages.build.unit import Token, TokenKind
from musify.model import Span


class ArgumentKind(Enum):
    """How an argument is written. Inner parentheses are arguments of their own, as CMake sees them."""

    UNQUOTED = "unquoted"
    QUOTED = "quoted"
    BRACKET = "bracket"
    PARENTHESIS = "parenthesis"


class Argument(NamedTuple):
    """An argument: all of it, and what stands between its quotes or brackets."""

    kind: ArgumentKind
    start: int
    end: int
    inner: Span


class Command(NamedTuple):
    """A command: its name, the offset of its closing parenthesis, and its arguments."""

    name: Span
    closing: int
    arguments: tuple[Argument, ...]

    @property
    def span(self) -> Span:
        """From the name to the closing parenthesis."""
        return Span(self.name.start, self.closing + 1)


class Reading(NamedTuple):
    """What a file holds, in order. `broken` is where a command begins that never ends, -1 where none does."""

    commands: list[Command]
    comments: list[Span]
    words: list[Span]
    broken: int


_COMMENT = rb"#\[(?P<level>=*)\[.*?(?:\](?P=level)\]|\Z)|#(?:[^\r\n]|\r(?!\n))*"
_MAKE_VARIABLE = rb"\$\([A-Za-z0-9_]*\)"
_UNQUOTED = rb"[^ \t\r\n()#\"\[=\\\0]|\\[^\0\n]"
_LEGACY = rb"%s|%s|\"(?:%s|%s|[ \t\[=])*\"" % (_MAKE_VARIABLE, _UNQUOTED, _MAKE_VARIABLE, _UNQUOTED)
_BETWEEN = re.compile(rb"(?s)(?P<comment>%s)|(?P<command>[A-Za-z_]\w*)[ \t]*\(|(?P<word>[^\s#(]+)|[#(]" % _COMMENT)
_INSIDE = re.compile(
    rb"(?s)(?P<blank>[ \t\r\n]+)|(?P<parenthesis>[()])|(?P<comment>%s)"
    rb"|(?P<bracket>\[(?P<depth>=*)\[(?P<verbatim>.*?)\](?P=depth)\])"
    rb"|(?P<quoted>\"(?P<text>[^\\\"]*(?:\\.[^\\\"]*)*)\")"
    rb"|(?P<unclosed>\"|\[=*\[)|(?P<unquoted>(?:%s|=|\[=*(?:%s))(?:%s|[\[=])*)|(?P<other>.)"
    % (_COMMENT, b"%s|%s" % (_MAKE_VARIABLE, _UNQUOTED), _LEGACY, _LEGACY)
)
# Groups that are an argument: its kind, and the group that is its inner part.
_KINDS = {
    "unquoted": (ArgumentKind.UNQUOTED, "unquoted"),
    "quoted": (ArgumentKind.QUOTED, "text"),
    "bracket": (ArgumentKind.BRACKET, "verbatim"),
    "parenthesis": (ArgumentKind.PARENTHESIS, "parenthesis"),
    "other": (ArgumentKind.UNQUOTED, "other"),
}


def read(data: bytes) -> Reading:
    """All commands, comments and stray words of a file. Never raises."""
    reading = Reading([], [], [], -1)
    position = 0
    while match := _BETWEEN.search(data, position):
        position = match.end()
        if match.lastgroup == "comment":
            reading.comments.append(Span(*match.span()))
        elif match.lastgroup == "word":
            reading.words.append(Span(*match.span()))
        elif match.lastgroup == "command":
            command = _command(data, match, reading.comments)
            if command is None:
                return _broken(data, reading, match.start())
            reading.commands.append(command)
            position = command.span.end
    return reading


def _command(data: bytes, head: re.Match[bytes], comments: list[Span]) -> Command | None:
    """The command that begins with `name(`, None where it never ends. Adds the comments between its arguments."""
    arguments: list[Argument] = []
    depth = 1
    for match in _INSIDE.finditer(data, head.end()):
        group = match.lastgroup or ""
        if group == "parenthesis":
            depth += 1 if match.group() == b"(" else -1
            if depth == 0:
                return Command(Span(*head.span("command")), match.start(), tuple(arguments))
        if group == "comment":
            comments.append(Span(*match.span()))
        elif group == "unclosed":
            return None
        elif group in _KINDS:
            kind, inner = _KINDS[group]
            arguments.append(Argument(kind, *match.span(), Span(*match.span(inner))))
    return None


def _broken(data: bytes, reading: Reading, start: int) -> Reading:
    """Words only from the command that never ends: nobody can say what is inside a literal there."""
    comments = [span for span in reading.comments if span.start < start]
    words = [Span(*match.span()) for match in re.finditer(rb"\S+", data[start:])]
    words = [Span(span.start + start, span.end + start) for span in words]
    return Reading(reading.commands, comments, [*reading.words, *words], start)


def tokens(data: bytes) -> list[Token]:
    """Comments, literals (quoted and bracket arguments), and words, in order. Code of Python's is a name of its own."""
    reading = read(data)
    found = [Token(TokenKind.COMMENT, *span) for span in reading.comments]
    found += [Token(TokenKind.WORD, *span) for span in reading.words]
    for command in reading.commands:
        found.append(Token(TokenKind.WORD, *command.name))
        before = b"", b""
        for argument in command.arguments:
            is_python = before[1] == b"-c" and b"py" in before[0].lower()
            kind = TokenKind.NAME if is_python else _TOKEN_KINDS[argument.kind]
            found.append(Token(kind, argument.start, argument.end))
            before = before[1], data[argument.start : argument.end]
    return sorted(found, key=lambda token: token.start)


_TOKEN_KINDS = {
    ArgumentKind.UNQUOTED: TokenKind.WORD,
    ArgumentKind.QUOTED: TokenKind.STRING,
    ArgumentKind.BRACKET: TokenKind.STRING,
    ArgumentKind.PARENTHESIS: TokenKind.OTHER,
}
