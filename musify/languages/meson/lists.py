"""Flags and architectures in Meson's files: in lists, in calls that take flags one by one, and alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from musify.languages.build.architecture_lists import architecture_list
from musify.languages.build.brackets import Group
from musify.languages.build.commands import Commands
from musify.languages.build.flags import FlagForm, FlagWord, flag_edits
from musify.languages.build.unit import BuildUnit
from musify.languages.build.variables import named_like_compiler, runs_nvcc, tells_nvcc
from musify.languages.meson.facts import device_keywords
from musify.languages.meson.reading import MesonFile
from musify.model import Edit, Finding

# Functions and methods whose positional arguments are flags.
_TAKES_FLAGS = re.compile(r"(?:add_project|add_global|get_supported|has|has_multi)_(?:link_)?arguments?")
_FOR_DEVICE = re.compile(rb"(?i)nvcc|cuda")
_LIST = FlagForm(b", ", quoted=True)


def find_lists(unit: BuildUnit, file: MesonFile) -> Iterator[Edit | Finding]:
    """Edits and findings for flags and architectures."""
    lists = {id(group) for group in file.lists}
    for group in file.groups:
        if id(group) in lists:
            yield from _words(unit, group, [argument.word for argument in group.arguments])
        elif _TAKES_FLAGS.fullmatch(group.called):
            yield from _words(unit, group, [argument.word for argument in group.positional])
        for argument in group.arguments:
            if argument.keyword is not None and argument.keyword.text in device_keywords() and argument.string:
                yield from _alone(unit, argument.word)


def _words(unit: BuildUnit, group: Group, words: Sequence[FlagWord]) -> Iterator[Edit | Finding]:
    first = group.arguments[0].string if group.arguments else None
    if first is not None and runs_nvcc(words[0].text):
        yield from Commands(unit, form=_LIST).compilation(words)
    elif words and named_like_compiler(words[0].text):
        yield from flag_edits(unit, words, _LIST)
    elif any(word.text.startswith(b"-") for word in words):
        yield from flag_edits(unit, words, _LIST._replace(host=not _is_for_device(group, words)))
    else:
        yield from architecture_list(unit, words, b", ")


def _alone(unit: BuildUnit, word: FlagWord) -> Iterator[Edit | Finding]:
    """One flag that is no list; where it would go, it stays and is reported, for an empty string is an argument too."""
    results = list(flag_edits(unit, [word], _LIST))
    if any(isinstance(item, Edit) and not item.new_text for item in results):
        yield Finding("MUS526", word.span, word.text.decode("utf-8", "replace"))
    else:
        yield from results


def _is_for_device(group: Group, words: Sequence[FlagWord]) -> bool:
    """Whether flags are for nvcc, by themselves, the language that the call names and the names around them."""
    if any(tells_nvcc(word.text) for word in words):
        return True
    current: Group | None = group
    while current is not None:
        language = current.argument(b"language")
        if language is not None:
            named = [piece.content for piece in language.pieces if piece.kind == "string"]
            return named == [b"cuda"]
        current = current.parent
    names = list(group.around())
    return any(_FOR_DEVICE.search(name) for name in names) and b"link_args" not in names
