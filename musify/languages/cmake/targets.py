"""Targets that hold device sources: through FindMUSA's commands, or with them as C++ sources with options."""

from __future__ import annotations

from collections.abc import Sequence

from musify.languages.cmake.cxx import as_cxx, device_words, filtered, sources_as_cxx
from musify.languages.cmake.facts import CXX, FINDMUSA
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.flagtext import written
from musify.languages.cmake.guards import conditions
from musify.languages.cmake.names import renamed
from musify.languages.cmake.survey import scoped
from musify.model import Span

_KEYWORD = b"MUSA_LINK_LIBRARIES_KEYWORD"


def convert(file: CMakeFile) -> None:
    """Make each such target in the chosen form; report sources that a form cannot take."""
    made = sorted(index for numbers in file.device_targets.values() for index in numbers)
    made = [index for index in made if not file.names[index].startswith(b"cuda_")]
    if file.form == FINDMUSA:
        keywords = _link_keywords(file, made)
        for index in made:
            _with_findmusa(file, index, keywords.get(index, b""))
    elif file.form == CXX:
        for index in made:
            as_cxx(file, index)
    _later_sources(file)


def _with_findmusa(file: CMakeFile, index: int, keyword: bytes) -> None:
    command = file.commands[index]
    if b"OBJECT" in file.texts(index)[1:2]:
        file.changes.find("MUS515", command.arguments[1].inner, b"OBJECT")
        return
    name = b"musa_" + file.names[index]
    if file.data[command.name.start : command.name.end].isupper():
        name = name.upper()
    options = [b"OPTIONS", *map(written, file.options[index])] if file.options[index] else []
    needed = conditions(file, index)
    if needed:
        _with_either(file, index, needed, [*([keyword] if keyword else []), _call(file, index, name, options)])
        return
    if keyword:
        file.changes.add_before(index, keyword)
    file.changes.replace(command.name, name, name=file.names[index].decode(), evidence="code")
    if options:
        _append(file, index, options)


def _call(file: CMakeFile, index: int, name: bytes, options: Sequence[bytes]) -> bytes:
    """A command under another name, with options."""
    command = file.commands[index]
    arguments = renamed(file, file.data[command.name.end : command.closing])
    return name + arguments + b"".join(b" " + word for word in options) + b")"


def _with_either(file: CMakeFile, index: int, needed: Sequence[bytes], lines: Sequence[bytes]) -> None:
    """A command that has no device sources, or no MUSA, now and then: lines in its place where it has both."""
    sources, mixed = device_words(file, index)
    picked = filtered([*sources, *mixed]) if b"MUSA_SOURCES" in needed else []
    condition = b"if(%s)" % b" AND ".join(needed)
    file.changes.add_before(index, *picked, condition, *(b"  " + line for line in lines), b"else()")
    file.changes.deepen(index)
    file.changes.add_after(index, b"endif()")


def _append(file: CMakeFile, index: int, new: Sequence[bytes]) -> None:
    """Put arguments at the end of a command: on the line of the last one, or on one of their own as that is."""
    command = file.commands[index]
    last = command.arguments[-1]
    line = file.data.rfind(b"\n", 0, last.start) + 1
    before = file.data[line : last.start]
    lead = b" "
    if not before.strip() and file.data.count(b"\n", command.name.end, last.start) > 0:
        lead = (b"\r\n" if file.data[line - 2 : line] == b"\r\n" else b"\n") + before
    file.changes.append_to(Span(last.end, last.end), lead + b" ".join(new))


def _link_keywords(file: CMakeFile, made: Sequence[int]) -> dict[int, bytes]:
    """FindMUSA links the runtime to a target itself, in a signature that must be the project's own for the target.

    Gives the line that says so, for the commands that need one.
    """
    lines: dict[int, bytes] = {}
    said: list[int] = []
    for index in made:
        target = scoped(file.texts(index)[0], file.function(index))
        if target in file.own.keyword_links or (
            target not in file.own.plain_links and target in file.run.keyword_links
        ):
            if not file.follows_any(index, said):
                lines[index] = b"set(%s PRIVATE)" % _KEYWORD
                said.append(index)
        elif target in file.own.plain_links and file.follows_any(index, said):
            lines[index] = b"set(%s)" % _KEYWORD
            said = []
    return lines


def _later_sources(file: CMakeFile) -> None:
    """Device sources that a target gets after it was made."""
    if file.form not in (FINDMUSA, CXX):
        return
    for index, command in file.numbered(b"target_sources"):
        if command.arguments and file.content(index).device and not file.is_done(index):
            if file.form == FINDMUSA:
                file.changes.find("MUS515", command.name, b"target_sources")
            else:
                sources_as_cxx(file, index)
