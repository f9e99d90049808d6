"""GPU architectures in CMake's variables: those of the target, as a set, whatever the project listed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from musify.languages.cmake import facts
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.reader import ArgumentKind
from musify.languages.cmake.structure import CONDITIONS, all_elements, value
from musify.languages.cmake.survey import ARCHITECTURES
from musify.model import Span

_ENDS_VALUES = frozenset({b"CACHE", b"PARENT_SCOPE", b"FORCE"})
# `70-real` is machine code alone, `70-virtual` PTX alone.
_KIND = re.compile(rb"-(?:real|virtual)")
_SEARCHING = frozenset({b"FILTER", b"REMOVE_ITEM", b"FIND", b"TRANSFORM", b"REPLACE", b"REGEX"})
_OPERATORS = frozenset(
    rb"""LESS GREATER EQUAL LESS_EQUAL GREATER_EQUAL STRLESS STRGREATER STREQUAL STRLESS_EQUAL STRGREATER_EQUAL
    VERSION_LESS VERSION_GREATER VERSION_EQUAL VERSION_LESS_EQUAL VERSION_GREATER_EQUAL MATCHES IN_LIST""".split()
)
_REFERRED = re.compile(rb"\$\{(\w+)\}")
_NUMBER = re.compile(rb"(?<![\w.])(?:sm_|compute_)?[1-9]\d{1,2}[af]?(?![\w.])")


def convert(file: CMakeFile) -> None:
    """Replace lists of architectures in variables, and the call that makes flags of them."""
    variables = file.run.architecture_variables | {ARCHITECTURES}
    for index, _ in file.numbered(b"set"):
        texts = file.texts(index)
        if texts and texts[0] in variables:
            last = next((i for i, text in enumerate(texts) if text in _ENDS_VALUES), len(texts))
            _replace(file, index, 1, last)
    for index, command in file.numbered(b"list"):
        texts = file.texts(index)
        adds = texts[:1] in ([b"APPEND"], [b"PREPEND"]) and len(texts) > 2 and texts[1] in variables
        if adds and _replace(file, index, 2, len(texts)):
            file.changes.replace(Span(command.name.start, command.arguments[1].start), b"set(")
    for index, _ in file.numbered(b"cuda_select_nvcc_arch_flags"):
        _select(file, index)
    for index, _ in file.numbered(b"list", b"string"):
        _worked_on(file, index)
    for index, _ in file.numbered(*CONDITIONS):
        _compared(file, index)


def _replace(file: CMakeFile, index: int, first: int, last: int) -> bool:
    """Put the target's architectures in the place of arguments `first` to `last` (not part of it)."""
    arguments = file.commands[index].arguments[first:last]
    old = list(all_elements(file.data, arguments))
    if not old or not all(facts.architecture().fullmatch(text) for text in old):
        for argument in arguments:
            if _KIND.search(value(file.data, argument)):
                file.changes.find("MUS511", argument.inner, value(file.data, argument))
        return False
    quoted = arguments[0].kind is ArgumentKind.QUOTED
    separator = b";" if quoted else b" "
    shown = Span(arguments[0].start, arguments[-1].end)
    file.changes.replace(arguments[0].inner, separator.join(file.architectures), name="architectures")
    file.changes.remove_arguments(index, range(first + 1, last))
    new = " ".join(file.unit.settings.target.architectures)
    file.changes.find("MUS516", shown, b" ".join(old), target=new)
    return True


def _select(file: CMakeFile, index: int) -> None:
    """`cuda_select_nvcc_arch_flags(variable ...)` becomes the variable set to the flags."""
    command = file.commands[index]
    if not command.arguments:
        return
    flags = b" ".join(b"--offload-arch=" + name for name in file.architectures)
    variable = file.data[command.arguments[0].start : command.arguments[0].end]
    whole = Span(command.name.start, command.arguments[-1].end)
    file.changes.replace(whole, b"set(%s %s" % (variable, flags), name="cuda_select_nvcc_arch_flags")
    new = " ".join(file.unit.settings.target.architectures)
    file.changes.find("MUS516", command.name, b"cuda_select_nvcc_arch_flags", target=new)


def _worked_on(file: CMakeFile, index: int) -> None:
    """What is done to a list of architectures by their numbers. `70-real` has no like on MUSA."""
    texts = file.texts(index)
    if texts[:1] == [b"TRANSFORM"] and _names_any(file, texts[1:2]) and any(_KIND.search(text) for text in texts[2:]):
        new = " ".join(file.unit.settings.target.architectures)
        file.changes.find("MUS516", file.commands[index].span, b" ".join(texts), target=new)
        file.changes.remove(index)
    elif set(texts[:1]) & _SEARCHING and _names_any(file, texts[1:]):
        for place in range(1, len(texts)):
            _report_number(file, index, place)


def _compared(file: CMakeFile, index: int) -> None:
    """Comparisons of an architecture with a number of CUDA's."""
    texts = file.texts(index)
    for place in range(1, len(texts) - 1):
        if texts[place] in _OPERATORS:
            for one, other in ((place - 1, place + 1), (place + 1, place - 1)):
                if _names_any(file, [texts[one]]):
                    _report_number(file, index, other)


def _names_any(file: CMakeFile, texts: Sequence[bytes]) -> bool:
    """Whether texts are, or refer to, variables that hold architectures."""
    names = {name for text in texts for name in (text, *_REFERRED.findall(text))}
    return any(name in file.run.architecture_variables or file.holds_architectures(name) for name in names)


def _report_number(file: CMakeFile, index: int, place: int) -> None:
    argument = file.commands[index].arguments[place]
    if _NUMBER.search(value(file.data, argument)):
        file.changes.find("MUS511", Span(argument.start, argument.end), value(file.data, argument))
