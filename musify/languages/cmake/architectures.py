"""GPU architectures in CMake's variables: those of the target, as a set, whatever the project listed."""

from __future__ import annotations

from musify.languages.cmake import facts
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.reader import ArgumentKind
from musify.languages.cmake.structure import all_elements
from musify.languages.cmake.survey import ARCHITECTURES
from musify.model import Span

_ENDS_VALUES = frozenset({b"CACHE", b"PARENT_SCOPE", b"FORCE"})


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


def _replace(file: CMakeFile, index: int, first: int, last: int) -> bool:
    """Put the target's architectures in the place of arguments `first` to `last` (not part of it)."""
    arguments = file.commands[index].arguments[first:last]
    old = list(all_elements(file.data, arguments))
    if not old or not all(facts.architecture().fullmatch(text) for text in old):
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
