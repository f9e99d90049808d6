"""Variables that hold flags for device code: CMake's, FindCUDA's, and those of the project that flow into them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from musify.languages.cmake import facts
from musify.languages.cmake.facts import FINDMUSA, LANGUAGE
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.flagtext import Kind, Rewritten, element, rewrite, span_of, words, written
from musify.languages.cmake.names import renamed
from musify.languages.cmake.reader import ArgumentKind
from musify.languages.cmake.structure import whole_reference
from musify.languages.cmake.survey import FLAG_VARIABLE
from musify.model import Span

_ENDS_VALUES = frozenset({b"CACHE", b"PARENT_SCOPE"})
# For each way to set a variable: the place of the variable among the arguments, and of the first value.
_WAYS = {
    (b"set", b""): (0, 1),
    (b"list", b"APPEND"): (1, 2),
    (b"list", b"PREPEND"): (1, 2),
    (b"string", b"APPEND"): (1, 2),
    (b"string", b"PREPEND"): (1, 2),
    (b"string", b"CONCAT"): (1, 2),
    (b"string", b"JOIN"): (2, 3),
}


class Assignment(NamedTuple):
    """A command that puts flags into a variable: which arguments are the variable and the values."""

    number: int
    way: tuple[bytes, bytes]
    variable: bytes
    place: int
    values: Span
    rest: int


def convert(file: CMakeFile) -> None:
    """Replace nvcc's flags in what variables are set to."""
    for item, earlier in _assignments(file):
        _convert(file, item, rewrite(file, item.values, _kind(file, item), before=earlier))
    for index, _ in file.numbered(b"string", b"separate_arguments"):
        _between_string_and_list(file, index)


def _between_string_and_list(file: CMakeFile, index: int) -> None:
    """What makes a string of a list, or a list of a string, where FindMUSA has a list from the beginning."""
    texts = file.texts(index)
    if file.names[index] == b"separate_arguments":
        new, old = texts[:1], texts[2:] or texts[:1]
        names = [*new, *(name for name in map(whole_reference, old) if name)]
    elif texts[:3] == [b"REPLACE", b";", b" "] and len(texts) == 5:
        new, old = texts[3:4], texts[4:]
        names = new
    else:
        return
    if not any(_becomes_list(file, name) for name in names):
        return
    if new == [whole_reference(old[0])] or new == old:
        file.changes.remove(index)
        return
    command = file.commands[index]
    start = b"list(APPEND %s " if _becomes_list(file, new[0]) else b"set(%s "
    text = start % renamed(file, b"${%s}" % new[0])[2:-1] + renamed(file, old[0])
    file.changes.replace(Span(command.name.start, command.arguments[-1].end), text)


def _assignments(file: CMakeFile) -> Iterator[tuple[Assignment, list[Span]]]:
    """Every assignment, and the values with architectures that the variable surely holds by then."""
    held: dict[bytes, list[Assignment]] = {}
    for index in range(len(file.commands)):
        item = _assignment(file, index)
        if item is None:
            continue
        earlier = held.setdefault(item.variable, [])
        if not _adds(file, item):
            earlier.clear()
        yield item, [other.values for other in earlier if file.is_within(other.number, index)]
        if b"arch" in file.data[item.values.start : item.values.end]:
            earlier.append(item)


def _assignment(file: CMakeFile, index: int) -> Assignment | None:
    texts = file.texts(index)
    way = next((way for way in _WAYS if way[0] == file.names[index] and way[1] in (b"", *texts[:1])), None)
    if way is None:
        return None
    place, first = _WAYS[way]
    last = next((i for i, text in enumerate(texts) if text in _ENDS_VALUES and i >= first), len(texts))
    if last <= first or not _holds_flags(file, texts[place]):
        return None
    arguments = file.commands[index].arguments
    return Assignment(index, way, texts[place], place, span_of(arguments[first:last]), last)


def _holds_flags(file: CMakeFile, variable: bytes) -> bool:
    return FLAG_VARIABLE.fullmatch(variable) is not None or variable in file.run.flag_variables


def _kind(file: CMakeFile, item: Assignment) -> Kind:
    """Whether a variable gets a string or a list."""
    if item.variable.startswith(b"CMAKE_CUDA_FLAGS"):
        return Kind.STRING
    is_list = item.variable.startswith(b"CUDA_NVCC_FLAGS") or item.way[0] == b"list"
    several = item.rest - _WAYS[item.way][1] > 1
    return Kind.LIST if is_list or several else Kind.STRING


def _adds(file: CMakeFile, item: Assignment) -> bool:
    """Whether an assignment keeps what the variable held."""
    if item.way[1] in (b"APPEND", b"PREPEND"):
        return True
    return any(_is_reference(file, word.inner, item.variable) for word in words(file.data, item.values))


def _is_reference(file: CMakeFile, span: Span, variable: bytes) -> bool:
    return whole_reference(file.data[span.start : span.end]) == variable


def _becomes_list(file: CMakeFile, variable: bytes) -> bool:
    """Whether a variable that is a string for CMake's CUDA is a list for FindMUSA."""
    is_flags = variable.startswith(b"CMAKE_CUDA_FLAGS") and variable in facts.names("variable", file.form)
    return file.form == FINDMUSA and is_flags


def _convert(file: CMakeFile, item: Assignment, flags: Rewritten) -> None:
    file.changes.findings += flags.findings
    if file.form != LANGUAGE and item.variable.startswith(b"CMAKE_CUDA_FLAGS") and _is_late(file, item):
        file.changes.find("MUS514", item.values, file.data[item.values.start : item.values.end])
    reference = b"${" + item.variable + b"}"
    left = [word for word in flags.words if word != reference]
    if not left and _is_void(file, item) and (flags.edits or reference in flags.words):
        file.changes.remove(item.number)
    elif not left and flags.edits and item.way[0] == b"set" and b'"' not in file.data[slice(*item.values)]:
        file.changes.remove_arguments(item.number, range(1, item.rest))
    elif _becomes_list(file, item.variable) and item.way[0] != b"list" and not _is_commented(file, item):
        _append(file, item, left)
    elif item.variable.startswith(b"CMAKE_CUDA_FLAGS") and _needs_quotes(file, item, flags):
        file.changes.replace(item.values, b'"' + b" ".join(flags.words) + b'"')
    else:
        for edit in flags.edits:
            file.changes.edit(edit)
        if file.form == LANGUAGE and item.variable == b"CMAKE_CUDA_FLAGS" and not _adds(file, item):
            _keep_architectures(file, item)


def _is_void(file: CMakeFile, item: Assignment) -> bool:
    """Whether an assignment without values does nothing: it adds to a variable, or to FindMUSA's list."""
    is_whole = item.rest == len(file.commands[item.number].arguments)
    return _adds(file, item) or (_becomes_list(file, item.variable) and is_whole)


def _is_late(file: CMakeFile, item: Assignment) -> bool:
    """Whether a target that the flags are meant for is made above them: CMake's own flags hold for it all the same."""
    made = [number for numbers in file.device_targets.values() for number in numbers]
    return any(number < item.number for number in made)


def _needs_quotes(file: CMakeFile, item: Assignment, flags: Rewritten) -> bool:
    """Whether an unquoted word became several, of a string that is not to become a list."""
    argument = file.commands[item.number].arguments[_WAYS[item.way][1]]
    return argument.kind is ArgumentKind.UNQUOTED and bool(flags.edits) and len(flags.words) > 1


def _is_commented(file: CMakeFile, item: Assignment) -> bool:
    return any(item.values.start < comment.start < item.values.end for comment in file.comments)


def _append(file: CMakeFile, item: Assignment, left: Sequence[bytes]) -> None:
    """A string of flags becomes elements of FindMUSA's list."""
    command = file.commands[item.number]
    target = facts.names("variable", file.form)[item.variable]
    left = [element(renamed(file, word)) for word in left]
    new = b" ".join(map(written, left))
    if item.rest < len(command.arguments):  # CACHE ..., PARENT_SCOPE
        kept = [b"${%s}" % target.musa] if _adds(file, item) else []
        file.changes.replace(item.values, b'"' + b";".join([*kept, *left]) + b'"')
        return
    whole = Span(command.name.start, item.values.end)
    name = b"LIST" if file.data[command.name.start : command.name.end].isupper() else b"list"
    text = b"%s(APPEND %s %s" % (name, target.musa, new)
    file.report_left(item.values, new)
    file.changes.replace(whole, text, name=item.variable.decode(), evidence=target.evidence.value)


def _keep_architectures(file: CMakeFile, item: Assignment) -> None:
    """The flags of a language hold the architectures too, which a plain set() would lose."""
    if item.way[0] != b"set":
        return
    argument = file.commands[item.number].arguments[1]
    earlier = [index for index, _ in file.numbered(b"project", b"enable_language") if b"CUDA" in file.texts(index)]
    if file.follows_any(item.number, earlier) and argument.kind is ArgumentKind.QUOTED:
        target = facts.names("variable", file.form).get(item.variable)
        if target is not None:
            file.changes.replace(Span(argument.inner.start, argument.inner.start), b"${%s} " % target.musa)
