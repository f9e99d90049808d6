"""MUSA code as C++ sources: `-x musa` and what goes with it for each of them, host flags for the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from musify.languages.build.files import new_path
from musify.languages.cmake.facts import CXX, FOUND
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.flagtext import Word, words, written
from musify.languages.cmake.guards import conditions
from musify.languages.cmake.names import renamed
from musify.languages.cmake.reader import Argument
from musify.languages.cmake.structure import elements
from musify.languages.cmake.survey import FLAG_VARIABLE, Content, content_of, scoped

OPTIONS = b"MUSA_COMPILE_OPTIONS"
_HOST_ONLY = re.compile(rb"\$<COMPILE_LANGUAGE:CXX>")


def as_cxx(file: CMakeFile, index: int) -> None:
    """Let the device sources of a target be C++ with options of their own, and link the runtime as CMake does."""
    needed = [name for name in conditions(file, index) if name == FOUND[CXX]]
    lines = _properties(file, index, b"", file.options[index])
    if lines and not needed:
        file.changes.add_before(index, *lines)
    target = file.texts(index)[0]
    known = scoped(target, file.function(index))
    scope = b"" if known in file.run.plain_links - file.run.keyword_links else b"PRIVATE "
    links = target not in file.runtime_links and not file.is_shared(index)
    link = [b"target_link_libraries(%s %sMUSA::musart)" % (target, scope)] if links else []
    if not needed:
        file.changes.add_after(index, *link)
    elif lines or link:
        inside = (b"  " + line for line in (*lines, *link))
        file.changes.add_after(index, b"if(%s)" % FOUND[CXX], *inside, b"endif()")


def sources_as_cxx(file: CMakeFile, index: int) -> None:
    """The same for sources that target_sources() gives to a target."""
    target = file.texts(index)[0]
    folder = b"" if target in file.own.targets else b"TARGET_DIRECTORY %s " % target
    file.changes.add_before(index, *_properties(file, index, folder, ()))


def cxx_options(file: CMakeFile, options: Sequence[bytes] = ()) -> bytes:
    """The properties with which a C++ compiler takes a source for MUSA code, with further options."""
    listed = b";".join([b"${%s}" % OPTIONS, *options])
    more = any(FLAG_VARIABLE.fullmatch(name) for name in file.run.variables)
    return b'COMPILE_OPTIONS "%s"' % listed + (b' COMPILE_FLAGS "${MUSA_FLAGS}"' if more else b"")


def _properties(file: CMakeFile, index: int, folder: bytes, options: Sequence[bytes]) -> list[bytes]:
    sources, mixed = device_words(file, index)
    lines = filtered([*sources, *mixed]) if mixed else []
    named = b"${MUSA_SOURCES}" if mixed else b" ".join(sources)
    if not named:
        return []
    line = b"set_source_files_properties(%s %sPROPERTIES LANGUAGE CXX %s)"
    return [*lines, line % (named, folder, cxx_options(file, options))]


def filtered(words: Sequence[bytes]) -> list[bytes]:
    """Lines that pick the device sources out of words."""
    return [
        b"set(MUSA_SOURCES %s)" % b" ".join(words),
        b'list(FILTER MUSA_SOURCES INCLUDE REGEX "\\\\.(cu|mu)$")',
    ]


def device_words(file: CMakeFile, index: int) -> tuple[list[bytes], list[bytes]]:
    """The words of a command that are device sources, under their new names, and variables that hold others too."""
    sources: list[bytes] = []
    mixed: list[bytes] = []
    for text, given, found in _contents(file, index):
        if given.device:
            sources.append(new_path(file.unit.surroundings, text))
        elif found.device:
            (mixed if found.host or file.function(index) else sources).append(text)
    return sources, mixed


def _contents(file: CMakeFile, index: int) -> Iterator[tuple[bytes, Content, Content]]:
    """Each word of a command after the first, what it says itself, and what it stands for in the end."""
    for argument in file.commands[index].arguments[1:]:
        for span in elements(file.data, argument):
            given = content_of(file.data, [Argument(argument.kind, *span, span)])
            yield file.data[span.start : span.end], given, file.sources.resolved(given, file.function(index))


def to_host_sources(file: CMakeFile, index: int, item: Word, made: Sequence[int]) -> bool:
    """Give what an expression is to give to C++ to the host sources alone, now that device sources are C++ too.

    `index` is the command that holds it, `made` those that make its target. False where the expression is another.
    """
    if file.form != CXX or item.body is None or not made:
        return False
    if not _HOST_ONLY.fullmatch(file.data[item.inner.start + 2 : item.body.start - 1]):
        return False
    given = [file.data[word.inner.start : word.inner.end] for word in words(file.data, item.body)]
    what = b"COMPILE_DEFINITIONS" if file.names[index] == b"target_compile_definitions" else b"COMPILE_OPTIONS"
    values = b" ".join(written(renamed(file, word)) for word in given)
    for number in made:
        lines, named = _host_words(file, number)
        if named:
            line = b"set_property(SOURCE %s APPEND PROPERTY %s %s)"
            file.changes.add_after(index, *lines, line % (named, what, values))
    return True


def _host_words(file: CMakeFile, index: int) -> tuple[list[bytes], bytes]:
    """The host sources of a target, and lines that pick them out where variables hold both."""
    plain, mixed = [], []
    for text, given, found in _contents(file, index):
        if found.host and not found.device and text not in file.device_marked:
            plain.append(text)
        elif found.host and given.variables:
            mixed.append(text)
    if not mixed:
        return [], b" ".join(plain)
    lines = [
        b"set(HOST_SOURCES %s)" % b" ".join([*plain, *mixed]),
        b'list(FILTER HOST_SOURCES EXCLUDE REGEX "\\\\.(cu|mu)$")',
    ]
    return lines, b"${HOST_SOURCES}"
