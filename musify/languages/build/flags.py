"""Compiler flags in any build language: nvcc's become mcc's, in the place and the quotes that they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from musify.languages.build.files import is_renamed
from musify.languages.build.flag_changes import FlagChange, flag_changes
from musify.languages.build.flag_values import VARIABLE
from musify.languages.build.leftovers import cuda_words_in
from musify.languages.build.unit import BuildUnit
from musify.languages.build.words import word_edits
from musify.languages.registry import RENAMED_SUFFIXES
from musify.model import Edit, Finding, Severity, Span
from musify.source import edits as applier

BUILD_FLAG = "build-flag"
# Between two words of a list: blanks, continued lines, commas and semicolons. Comments are not.
_GAP = re.compile(rb"(?:[\s,;]|[\\`^]\r?\n)*")
_COMMA = re.compile(rb"\s*,")
_LINE_END = re.compile(rb"[ \t]*(?:\r?\n|\Z)")
# Can stand in any language without quotes.
_PLAIN = re.compile(rb"(?:[\w.,:=/+@%^#-]|\$\(\w+\)|\$\{\w+\}|\$\w)+")
_NEEDS_QUOTES = re.compile(rb"[\s\"'`;&|]")
_BLANKS = b" \t"
# What a CI system puts in before any other program reads the text.
_EXPRESSION = re.compile(rb"\$\{\{.*?\}\}")
_BARE = (b"", b"")


class FlagWord(NamedTuple):
    """A word of a command line: where it stands, quotes included, and its text as the language unquotes it."""

    span: Span
    text: bytes


class FlagForm(NamedTuple):
    """How a language writes a list of flags.

    `separator` stands between two words that are written anew. `quoted`: every word keeps its quotes; otherwise they
    go where the new word needs none. `host`: the list is for a host compiler or linker, so that only names of CUDA's
    libraries, macros and headers are changed. `each_architecture`: a flag for each word of a variable, written with
    `{prefix}` and `{variable}`; empty where the language cannot say it.
    """

    separator: bytes = b" "
    quoted: bool = False
    host: bool = False
    each_architecture: bytes = b""


COMMAND_LINE = FlagForm()


def flag_edits(unit: BuildUnit, words: Sequence[FlagWord], form: FlagForm = COMMAND_LINE) -> Iterator[Edit | Finding]:
    """Edits and findings for the words of one command line or flag list, in order.

    Give all words of the list, also variables and file names, so that a flag finds its value and nothing that stands
    between two words is taken out with a dropped one.
    """
    texts = [word.text for word in words]
    changes = list(
        flag_changes(texts, unit.book, unit.settings, host=form.host, each_architecture=form.each_architecture)
    )
    if not changes:
        return
    writer = _Writer(unit.data, words, form, _vanishes(unit.data, words, changes))
    for change in changes:
        if change.new:
            change = change._replace(new=tuple(_converted(unit, text) for text in change.new))
        edits = writer.edits(change)
        if edits is None:
            yield Finding("MUS526", _whole(words, change), _shown(change.name))
            continue
        yield from edits
        yield from _left_inside(change, _whole(words, change))
        if change.finding:
            yield Finding(change.finding, _whole(words, change), _shown(change.name), change.arguments, change.severity)


class _Writer:
    """Makes edits of changes, from the first to the last."""

    def __init__(self, data: bytes, words: Sequence[FlagWord], form: FlagForm, vanishes: bool) -> None:
        self._data = data
        self._words = words
        self._form = form
        self._vanishes = vanishes
        self._kept = 0  # words that stay, up to here
        self._position = 0  # the first word that no change has passed

    def edits(self, change: FlagChange) -> list[Edit] | None:
        """The edits of a change; None where the words cannot be written in their place."""
        self._kept += change.first - self._position
        self._position = change.last
        if change.new is None:
            self._kept += change.last - change.first
            return []
        edits = []
        rest = change.first
        if change.new:
            replacement = self._replacement(change, change.new)
            if replacement is None:
                self._kept += change.last - change.first
                return None
            span = self._words[change.first].span
            if self._data[span.start : span.end] != replacement:
                edits.append(_edit(span, replacement, change))
            self._kept += 1
            rest += 1
        return edits + [_edit(self._without(index), b"", change) for index in range(rest, change.last)]

    def _replacement(self, change: FlagChange, new: Sequence[bytes]) -> bytes | None:
        if self._form.quoted:
            quotes = self._quotes(change.first)
        elif all(self._is_plain(text) for text in new):
            # A quoted variable stays one word, unless its words were meant for the host compiler one by one.
            keep = not change.split and any(VARIABLE.search(text) for text in new)
            quotes = (keep and self._quotes(change.first)) or _BARE
        else:
            quotes = self._quotes(change.last - 1) or _BARE
            if quotes == _BARE and any(_NEEDS_QUOTES.search(_EXPRESSION.sub(b"", text)) for text in new):
                return None
        if quotes is None:
            return None
        return self._form.separator.join(quotes[0] + text + quotes[1] for text in new)

    def _quotes(self, index: int) -> tuple[bytes, bytes] | None:
        """What stands around the text of a word; None where escapes stand inside it."""
        word = self._words[index]
        raw = self._data[word.span.start : word.span.end]
        if not word.text:
            return raw[: len(raw) // 2], raw[len(raw) // 2 :]
        before, found, after = raw.partition(word.text)
        return (before, after) if found else None

    def _is_plain(self, text: bytes) -> bool:
        made = self._form.each_architecture.partition(b"{prefix}")[0]
        return _PLAIN.fullmatch(text) is not None or bool(made and text.startswith(made))

    def _without(self, index: int) -> Span:
        """What goes with a word that is dropped: the blank before it, or after it where it is the first."""
        word = self._words[index].span
        if index == 0 and self._vanishes:
            word = word._replace(start=len(self._data[: word.start].rstrip(_BLANKS)))
        if self._kept:
            start = self._words[index - 1].span.end
            if _GAP.fullmatch(self._data, start, word.start):
                return Span(start, word.end)
        elif index + 1 < len(self._words):
            end = self._words[index + 1].span.start
            if _GAP.fullmatch(self._data, word.end, end):
                return Span(word.start, end)
        else:
            return self._last(word)
        return self._beside_comment(word)

    def _last(self, word: Span) -> Span:
        comma = _COMMA.match(self._data, word.end) if b"," in self._form.separator else None
        return Span(word.start, comma.end() if comma else word.end)

    def _beside_comment(self, word: Span) -> Span:
        """The word, its comma and the blanks before it; its whole line, where nothing else stands on it."""
        start, last = word.start, self._last(word).end
        while self._data[start - 1 : start] in (b" ", b"\t"):
            start -= 1
        end = _LINE_END.match(self._data, last)
        if self._data[start - 1 : start] == b"\n":
            if end is None:  # a comment follows, which keeps the place of the line
                start = word.start
                while self._data[last : last + 1] in (b" ", b"\t"):
                    last += 1
            return Span(start, end.end() if end else last)
        return Span(start, last)


def _converted(unit: BuildUnit, text: bytes) -> bytes:
    """A word that is written anew, with its paths, variables and renamed source as the later passes have them."""
    text = applier.apply(text, list(word_edits(text, Span(0, len(text)))))
    head, dot, suffix = text.rpartition(b".")
    new = RENAMED_SUFFIXES.get("." + suffix.decode("utf-8", "replace"))
    return head + new.encode() if dot and new and is_renamed(unit.surroundings, text) else text


def _left_inside(change: FlagChange, span: Span) -> Iterator[Finding]:
    """What mentions CUDA in words that are written anew, which no later pass looks at."""
    for text in change.new or ():
        for word in cuda_words_in(text, Span(0, len(text))):
            yield Finding("MUS504", span, _shown(text[slice(*word)]), severity=Severity.NOTE)


def _vanishes(data: bytes, words: Sequence[FlagWord], changes: Sequence[FlagChange]) -> bool:
    """Whether nothing is left of the words, which stand at the end of a line."""
    dropped = sum(change.last - change.first for change in changes if change.new == ())
    return 0 < dropped == len(words) and _LINE_END.match(data, words[-1].span.end) is not None


def _edit(span: Span, text: bytes, change: FlagChange) -> Edit:
    return Edit(span, text, BUILD_FLAG, change.applicability, _shown(change.name), change.library, change.evidence)


def _whole(words: Sequence[FlagWord], change: FlagChange) -> Span:
    return Span(words[change.first].span.start, words[change.last - 1].span.end)


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "replace")
