"""Quotes, backslashes and brackets of the shell, and of tools that write their commands in its way."""

from __future__ import annotations

import re
from collections.abc import Sequence

from musify.languages.build.flags import FlagWord
from musify.languages.build.unit import Token, TokenKind
from musify.model import Span

_BLANK = re.compile(rb"(?:[ \t\r\n]|\\\r?\n)+")
# A word without quotes, calls and backslashes, and what of a word may be passed over at once.
_SIMPLE = re.compile(rb"[ \t\r\n]*([^ \t\r\n\"'$\\]+)(?=[ \t\r\n]|\Z)")
_PLAIN = re.compile(rb"[^ \t\r\n\"'$\\]+")
# Quotes and brackets of lists stand for themselves; a bracket of a call or within a name is part of it, and so is an
# expression of a CI system.
_RUN = re.compile(rb"(?:\$\{\{[^{}\n]*\}\}|[^\s\"'()]|(?<=[\w$@}])\(|\)(?=[\w./$%-]))+|[\"'()]")
CLOSING = {b"(": b")", b"{": b"}"}


def words_around(data: bytes, comments: Sequence[Span], word: re.Pattern[bytes] = _RUN) -> list[Token]:
    """The comments, and what stands between blanks outside them, or otherwise makes a `word`."""
    found = []
    position = 0
    for comment in comments:
        found += [Token(TokenKind.WORD, *run.span()) for run in word.finditer(data, position, comment.start)]
        found.append(Token(TokenKind.COMMENT, *comment))
        position = comment.end
    return found + [Token(TokenKind.WORD, *run.span()) for run in word.finditer(data, position)]


def words_of(data: bytes, span: Span) -> list[FlagWord]:
    """What stands between blanks outside quotes and calls; the text of a word is without its quotes."""
    words = []
    position = span.start
    while position < span.end:
        simple = _SIMPLE.match(data, position, span.end)
        if simple:
            words.append(FlagWord(Span(*simple.span(1)), simple.group(1)))
            position = simple.end()
            continue
        blank = _BLANK.match(data, position, span.end)
        if blank:
            position = blank.end()
            continue
        end = _word_end(data, position, span.end)
        words.append(FlagWord(Span(position, end), unquoted(data[position:end])))
        position = end
    return words


def words_in(data: bytes, value: Span) -> tuple[FlagWord, ...]:
    """The words of a value, which may stand in quotes as a whole."""
    text = data[slice(*value)]
    if len(text) > 1 and text[:1] in (b'"', b"'") and text[-1:] == text[:1]:
        value = Span(value.start + 1, value.end - 1)
    return tuple(words_of(data, value))


def _word_end(data: bytes, start: int, end: int) -> int:
    index = start
    while index < end:
        plain = _PLAIN.match(data, index, end)
        if plain:
            index = plain.end()
            continue
        character = data[index : index + 1]
        if character in b" \t\r\n" or _BLANK.match(data, index, end):
            return index
        if character == b"$" and data[index + 1 : index + 2] in CLOSING:
            index = call_end(data, index + 1, end)
        elif character == b"\\":
            index += 2
        elif character in b"\"'":
            index = quote_end(data, index, end)
        else:
            index += 1
    return min(index, end)


def quote_end(data: bytes, start: int, end: int) -> int:
    """Behind a quoted text; one character on where the quote is not closed on its line, as in `don't`."""
    quote = data[start : start + 1]
    index = start + 1
    while index < end:
        character = data[index : index + 1]
        if character == quote:
            return index + 1
        if character == b"\n" and data[index - 1 : index] not in (b"\\", b"\r"):
            break
        index += 2 if character == b"\\" and quote == b'"' else 1
    return start + 1


def call_end(data: bytes, start: int, end: int) -> int:
    """Behind the bracket that closes the one at `start`; `end` where none does."""
    opening = data[start : start + 1]
    closing, depth = CLOSING[opening], 0
    for index in range(start, end):
        character = data[index : index + 1]
        depth += (character == opening) - (character == closing)
        if depth == 0:
            return index + 1
    return end


def unquoted(text: bytes) -> bytes:
    """A word without the quotes and backslashes that the shell takes away; calls stay as they are written."""
    if b'"' not in text and b"'" not in text and b"\\" not in text:
        return text
    made, index = b"", 0
    while index < len(text):
        character = text[index : index + 1]
        if character == b"$" and text[index + 1 : index + 2] in CLOSING:
            stop = call_end(text, index + 1, len(text))
            made, index = made + text[index:stop], stop
        elif character in b"\"'" and quote_end(text, index, len(text)) > index + 1:
            stop = quote_end(text, index, len(text))
            inner = text[index + 1 : stop - 1]
            made += inner if character == b"'" else re.sub(rb'\\(["\\])', rb"\1", inner)
            index = stop
        elif character == b"\\" and index + 1 < len(text):
            made, index = made + text[index + 1 : index + 2], index + 2
        else:
            made, index = made + character, index + 1
    return made
