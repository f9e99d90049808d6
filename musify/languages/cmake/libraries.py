"""Libraries, headers, programs and macros that CMake files name: linked, searched for, defined."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.build.facts import named
from musify.languages.build.flag_values import linked
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.flagtext import Kind, rewrite
from musify.languages.cmake.reader import ArgumentKind
from musify.languages.cmake.structure import elements
from musify.languages.cmake.survey import LINK_KEYWORDS
from musify.model import Applicability, Edit, Evidence, Finding, Span
from musify.rules.model import Action, NameRule

_LINKS = (b"target_link_libraries", b"link_libraries")
_FILE_NAME = re.compile(rb"lib(?P<name>[A-Za-z]\w*?)\.(?:so(?:\.[\d.]+)?|a|dylib)\Z|(?P<plain>[A-Za-z]\w*)\Z")
_MACRO = re.compile(rb"(?:-D)?(?P<name>\w+)(?:=.*)?\Z", re.S)
_SEARCH_KEYWORDS = frozenset(
    rb"""HINTS PATHS PATH_SUFFIXES DOC NO_CACHE REQUIRED NO_DEFAULT_PATH NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH
    NO_SYSTEM_ENVIRONMENT_PATH NO_CMAKE_SYSTEM_PATH NO_PACKAGE_ROOT_PATH NO_CMAKE_FIND_ROOT_PATH VALIDATOR
    NO_CMAKE_INSTALL_PREFIX ONLY_CMAKE_FIND_ROOT_PATH CMAKE_FIND_ROOT_PATH_BOTH
    REGISTRY_VIEW ENV NAMES_PER_DIR""".split()
)
CMAKE_LIBRARY = "cmake-library"


def convert(file: CMakeFile) -> None:
    """Give libraries, headers, programs and macros of CUDA's their MUSA names where their place says what they are."""
    for index, _ in file.numbered(*_LINKS):
        _links(file, index)
    for index, _ in file.numbered(b"find_package", b"find_dependency"):
        for span in _components(file, index):
            _library(file, span)
    for index, _ in file.numbered(b"find_library"):
        for span in _searched(file, index):
            _library(file, span, is_searched=True)
    for index, _ in file.numbered(b"find_path", b"find_file"):
        for span in _searched(file, index):
            _header(file, span)
            _program(file, span)
    for index, _ in file.numbered(b"find_program"):
        for span in _searched(file, index):
            _program(file, span)
    for index, _ in file.numbered(b"add_definitions", b"add_compile_definitions", b"target_compile_definitions"):
        _definitions(file, index)


def _links(file: CMakeFile, index: int) -> None:
    first = 1 if file.names[index] == b"target_link_libraries" else 0
    for argument in file.commands[index].arguments[first:]:
        for span in elements(file.data, argument):
            text = file.data[span.start : span.end]
            if text.startswith(b"-"):
                flags = rewrite(file, span, Kind.STRING, host=True)
                for edit in flags.edits:
                    file.changes.edit(edit)
                file.changes.findings += flags.findings
            elif text not in LINK_KEYWORDS and text not in file.run.targets:
                _library(file, span)


def _components(file: CMakeFile, index: int) -> Iterator[Span]:
    """The parts of the toolkit that find_package asks for."""
    texts = file.texts(index)
    if texts[:1] not in ([b"CUDA"], [b"CUDAToolkit"]):
        return
    for keyword in (b"COMPONENTS", b"OPTIONAL_COMPONENTS"):
        if keyword in texts:
            for argument in file.commands[index].arguments[texts.index(keyword) + 1 :]:
                yield argument.inner


def _searched(file: CMakeFile, index: int) -> Iterator[Span]:
    """The names that a find_ command looks for."""
    arguments = file.commands[index].arguments
    texts = file.texts(index)
    if len(texts) < 2:
        return
    names = [i for i, text in enumerate(texts) if text in (b"NAMES", b"NAME")]
    first = names[0] + 1 if names else 1
    last = next((i for i in range(first, len(texts)) if texts[i] in _SEARCH_KEYWORDS), len(texts))
    for argument in arguments[first : last if names else min(last, 2)]:
        if argument.kind is not ArgumentKind.BRACKET:
            yield from elements(file.data, argument)


def _library(file: CMakeFile, span: Span, *, is_searched: bool = False) -> None:
    """A library by its bare name, or the name of its file."""
    match = _FILE_NAME.match(file.data, *span)
    if match is None or not (is_searched or match.group("plain")):
        return
    group = "name" if match.group("plain") is None else "plain"
    name = Span(*match.span(group))
    found = linked(file.data[name.start : name.end], file.unit.book)
    if found.library is None:
        return
    if not found.target:
        shown = found.name.decode("utf-8", "replace")
        if file.changes.is_free(span):
            file.changes.findings.append(Finding("MUS525", span, shown, found.arguments))
        return
    applicability = Applicability.SAFE if found.listed else Applicability.REVIEW
    file.changes.edit(Edit(name, found.target, CMAKE_LIBRARY, applicability, found.name.decode(), found.library.id))


def _header(file: CMakeFile, span: Span) -> None:
    rule = file.unit.book.header(file.data[span.start : span.end])
    if rule is not None:
        _rename(file, span, rule)


def _rename(file: CMakeFile, span: Span, rule: NameRule) -> None:
    """Put the MUSA name of a header or macro in place, where there is one that the user wants."""
    sure = rule.evidence is not Evidence.NONE
    if rule.action is Action.RENAME and (sure or file.unit.settings.unattested == "rename"):
        applicability = Applicability.SAFE if sure else Applicability.REVIEW
        library = rule.library.id
        file.changes.edit(
            Edit(span, rule.target, CMAKE_LIBRARY, applicability, rule.name.decode(), library, rule.evidence.value)
        )


def _program(file: CMakeFile, span: Span) -> None:
    word = named("tool").get(file.data[span.start : span.end])
    if word is not None and word.musa:
        file.changes.replace(span, word.musa, name=word.cuda.decode(), evidence=word.evidence.value)


def _definitions(file: CMakeFile, index: int) -> None:
    """Macros that CUDA's headers ask for; numbers on CUDA's scale stay."""
    book = file.unit.book
    for argument in file.commands[index].arguments:
        for span in elements(file.data, argument):
            match = _MACRO.match(file.data, *span)
            name = match.group("name") if match else b""
            rule = book.name(name)
            if match and rule and not book.is_version_macro(name) and not book.is_architecture_macro(name):
                _rename(file, Span(*match.span("name")), rule)
