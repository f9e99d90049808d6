"""Flags, macros and architectures that xmake's files set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from musify.languages.build.brackets import Argument, Piece
from musify.languages.build.flags import FlagForm, FlagWord, flag_edits
from musify.languages.build.macros import macro_edits
from musify.languages.build.unit import BuildUnit
from musify.languages.xmake.facts import settings
from musify.languages.xmake.reading import LuaFile, Setting
from musify.model import Applicability, Edit, Finding, Span
from musify.source.edits import apply

GENERATED_CODE = "cugencodes"
_LIST = FlagForm(b", ", quoted=True)
_WORD = re.compile(rb"\S+")
_NO_CODE = re.compile(rb"(?:\s|--[^\n]*\n)*")


def find_flags(unit: BuildUnit, file: LuaFile) -> Iterator[Edit | Finding]:
    """Edits and findings for everything that is set."""
    previous: Setting | None = None
    for setting in file.settings:
        if setting.name in settings("device") | settings("host"):
            host = setting.name in settings("host")
            for arguments in lists_of(file, setting.arguments):
                yield from flags_in(unit, arguments, host=host)
        elif setting.name in settings("macros"):
            for arguments in lists_of(file, setting.arguments):
                yield from macro_edits(unit, [item.word for item in arguments if item.string is not None])
        elif setting.name in settings("architectures"):
            yield from _architectures(unit, setting, previous)
            previous = setting


def lists_of(file: LuaFile, arguments: Sequence[Argument]) -> Iterator[list[Argument]]:
    """The positional arguments, and the elements of tables among them as lists of their own."""
    tables = {id(item): table for item in arguments if (table := file.table(item)) is not None}
    plain = [item for item in arguments if item.keyword is None and id(item) not in tables]
    if plain:
        yield plain
    for table in tables.values():
        if table.positional:
            yield table.positional


def flags_in(unit: BuildUnit, arguments: Sequence[Argument], *, host: bool) -> Iterator[Edit | Finding]:
    """Edits and findings for a list of flags; a string with blanks is a command line of its own."""
    words = []
    for argument in arguments:
        string = argument.string
        if string is not None and _WORD.fullmatch(string.content or b"") is None:
            words.append(FlagWord(argument.word.span, string.text))
            yield from _command_line(unit, string, host)
            continue
        words.append(argument.word)
        if string is None and not host:
            yield from _put_together(argument)
    yield from flag_edits(unit, words, _LIST._replace(host=host))


def words_of(string: Piece) -> list[FlagWord]:
    """The words in a string, split at blanks."""
    start = string.inner.start
    return [
        FlagWord(Span(start + match.start(), start + match.end()), match.group())
        for match in _WORD.finditer(string.content or b"")
    ]


def _command_line(unit: BuildUnit, string: Piece, host: bool) -> Iterator[Edit | Finding]:
    """A string with several flags; one that would be empty stays and is reported."""
    results = list(flag_edits(unit, words_of(string), FlagForm(host=host)))
    start = string.inner.start
    edits = [
        item._replace(span=Span(item.span.start - start, item.span.end - start))
        for item in results
        if isinstance(item, Edit)
    ]
    if edits and not apply(string.content or b"", edits).strip():
        yield Finding("MUS526", string.span, (string.content or b"").decode("utf-8", "replace"))
    else:
        yield from results


def _put_together(argument: Argument) -> Iterator[Finding]:
    """`"-arch=sm_" .. version` is known only when the build runs."""
    if any((piece.content or b"").startswith(b"-") for piece in argument.pieces):
        yield Finding("MUS526", argument.word.span, argument.word.text.decode("utf-8", "replace"))


def _architectures(unit: BuildUnit, setting: Setting, previous: Setting | None) -> Iterator[Edit | Finding]:
    """`add_cugencodes("sm_80")` is `add_cuflags("--offload-arch=mp_31")`; a second one right behind it goes."""
    strings = [item.string for item in setting.arguments if item.keyword is None]
    shown = unit.text(setting.group.span).decode("utf-8", "replace")
    names = unit.settings.target.architectures
    if not strings or any(string is None or string.content is None for string in strings):
        yield Finding("MUS524", setting.group.span, shown, {"architectures": " ".join(names)})
        return
    place = setting.place.inner
    end = place.start + len(setting.place.text)
    if setting.place.kind == "name":  # add_cugencodes, set_cugencodes
        place = Span(end - len(setting.name), end)
    if previous is not None and _NO_CODE.fullmatch(unit.data, previous.group.end, setting.group.span.start):
        yield Edit(Span(previous.group.end, setting.group.end), b"", GENERATED_CODE, Applicability.REVIEW, shown)
        return
    first, last = setting.arguments[0], setting.arguments[len(strings) - 1]
    new = b", ".join(b'"--offload-arch=' + name.encode() + b'"' for name in names)
    yield Edit(place, b"cuflags", GENERATED_CODE, Applicability.REVIEW, shown)
    yield Edit(Span(first.pieces[0].start, last.pieces[-1].end), new, GENERATED_CODE, Applicability.REVIEW, shown)
    yield Finding("MUS553", setting.group.span, shown, {"target": ", ".join(names)})
