"""Names of variables, imported targets and commands, wherever they stand in a CMake file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.build.files import new_path
from musify.languages.build.words import word_edits
from musify.languages.cmake import facts
from musify.languages.cmake.facts import FOUND, LANGUAGE, CMakeName
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.reader import Argument, ArgumentKind
from musify.languages.cmake.structure import CONDITIONS, references
from musify.model import Edit, Evidence, Finding, Severity, Span
from musify.source import edits as applier

_TARGET = re.compile(rb"(?<!\w)(?<!::)CUDA::\w+")
# Variables that only CMake's own support of CUDA sets.
_OF_CMAKE = re.compile(rb"CMAKE_CUDA_\w+|CUDAToolkit_\w+")
_BEFORE_TRUTH = frozenset({b"(", b"NOT", b"AND", b"OR"})
_AFTER_TRUTH = frozenset({b")", b"AND", b"OR"})
_LIBRARY_FOLDER = re.compile(
    rb"CUDA(?:_TOOLKIT_ROOT_DIR|_HOME|_PATH|_ROOT|Toolkit_(?:ROOT|TARGET_DIR|LIBRARY_ROOT))\}(/lib64)(?=[/\"'\s;)]|\Z)"
)
_NVCC = re.compile(rb"(?:(?<=/bin/)|(?<=BIN_DIR\}/))nvcc(?=[\"\s;)]|\Z)")
_LANGUAGE = re.compile(rb"COMPILE_LANGUAGE:(?:\w+,)*(CUDA)(?=[,>])")
_NOT_LANGUAGE = re.compile(rb"\$<NOT:\$<COMPILE_LANGUAGE:(CUDA)(?=>>)")
_COMPILER = re.compile(rb"(?<=\$<)CUDA_COMPILER_(?:ID|VERSION)\b")
_SOURCE = re.compile(rb"[\w./+${}*-]+(\.cuh?)(?![\w.])")


def convert(file: CMakeFile) -> None:
    """Rename what the rules know; report versions and names without a counterpart."""
    for index, command in enumerate(file.commands):
        if file.changes.is_removed(index):
            continue
        _command(file, file.names[index], command.name)
        for argument in command.arguments:
            if argument.kind is not ArgumentKind.PARENTHESIS:
                _argument(file, index, argument)


def renamed(file: CMakeFile, text: bytes) -> bytes:
    """The text of an argument that moves elsewhere, with the names in it changed."""
    whole = Span(0, len(text))
    argument = Argument(ArgumentKind.QUOTED, *whole, whole)
    places = {
        span: name.musa
        for span, name in (*_variables(file, text, argument), *_targets(file, text, argument))
        if file.is_renamed(name)
    }
    edits = list(word_edits(text, whole))
    for match in _SOURCE.finditer(text):
        suffix = new_path(file.unit.surroundings, match.group()).rpartition(b".")[2]
        edits.append(Edit(Span(*match.span(1)), b"." + suffix, ""))
    edits += [Edit(span, new, "") for span, new in places.items() if not any(_touch(span, edit.span) for edit in edits)]
    return applier.apply(text, edits)


def _touch(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _command(file: CMakeFile, called: bytes, span: Span) -> None:
    """The name of a command of FindCUDA (`called` in lower case), unless the project has a function of that name."""
    name = facts.names("command", file.form).get(called)
    if name is None or called in file.run.parameters:
        return
    if not name.musa:
        file.changes.find("MUS510", span, name.cuda)
    elif file.data[span.start : span.end].isupper():
        file.rename(span, name._replace(musa=name.musa.upper()))
    else:
        file.rename(span, name)


def _argument(file: CMakeFile, index: int, argument: Argument) -> None:
    data = file.data
    text = data[argument.inner.start : argument.inner.end]
    if text == b"CMAKE_CUDA_COMPILER" and file.form in FOUND and _is_tested(file, index, argument):
        file.changes.replace(argument.inner, FOUND[file.form], name=text.decode())
        return
    for span, name in (*_variables(file, data, argument), *_targets(file, data, argument)):
        if not file.rename(span, name) and file.changes.is_free(span):
            file.changes.find("MUS512" if b"::" in name.cuda else "MUS510", span, name.cuda)
    severity = Severity.NOTE if file.names[index] == b"message" else None
    for span in _versions(file, argument):
        version = data[span.start : span.end].decode()
        file.changes.findings.append(Finding("MUS511", span, version, severity=severity))
    for match in _LIBRARY_FOLDER.finditer(data, *argument.inner):
        file.changes.replace(Span(*match.span(1)), b"/lib", name="lib64", review=True)
    for match in _NVCC.finditer(data, *argument.inner):
        file.changes.replace(Span(*match.span()), b"mcc", name="nvcc", evidence="documented")
    if _is_after(file, index, argument, b"COMMAND"):
        _command(file, text.lower(), argument.inner)
    _expressions(file, argument)


def _is_after(file: CMakeFile, index: int, argument: Argument, keyword: bytes) -> bool:
    """Whether an argument of a condition stands after a keyword."""
    place = file.commands[index].arguments.index(argument)
    return file.names[index] in CONDITIONS and [keyword] == file.texts(index)[max(0, place - 1) : place]


def _is_tested(file: CMakeFile, index: int, argument: Argument) -> bool:
    """Whether a condition asks if a variable is true, and not if it is defined, or what it is."""
    if file.names[index] not in CONDITIONS:
        return False
    place = file.commands[index].arguments.index(argument)
    texts = [b"(", *file.texts(index), b")"]
    return texts[place] in _BEFORE_TRUTH and texts[place + 2] in _AFTER_TRUTH


def _expressions(file: CMakeFile, argument: Argument) -> None:
    """Languages in generator expressions; what other passes took is theirs."""
    pattern = _LANGUAGE if file.form == LANGUAGE else _NOT_LANGUAGE
    for match in pattern.finditer(file.data, *argument.inner):
        file.changes.replace(Span(*match.span(1)), b"MUSA", name="CUDA")
    for match in _COMPILER.finditer(file.data, *argument.inner):
        file.changes.find("MUS510", Span(*match.span()), match.group())


def _names(data: bytes, argument: Argument) -> Iterator[Span]:
    """Where variables are named: in references, and as arguments of their own."""
    for reference in references(data, argument):
        if reference.place != b"ENV":
            yield reference.name
    if argument.kind is ArgumentKind.UNQUOTED:
        yield argument.inner


def _variables(file: CMakeFile, data: bytes, argument: Argument) -> Iterator[tuple[Span, CMakeName]]:
    known = facts.names("variable", file.form)
    for span in _names(data, argument):
        text = data[span.start : span.end]
        if text in known:
            if not any(re.fullmatch(pattern, text) for pattern in file.run.composed):
                yield span, known[text]
        elif _OF_CMAKE.fullmatch(text) and text not in facts.versions():
            yield span, CMakeName(text, b"", Evidence.NONE, False)


def _versions(file: CMakeFile, argument: Argument) -> Iterator[Span]:
    for span in _names(file.data, argument):
        if file.data[span.start : span.end] in facts.versions():
            yield span


def _targets(file: CMakeFile, data: bytes, argument: Argument) -> Iterator[tuple[Span, CMakeName]]:
    if argument.kind is ArgumentKind.BRACKET:
        return
    known = facts.names("target", file.form)
    for match in _TARGET.finditer(data, *argument.inner):
        text = match.group()
        yield Span(*match.span()), known.get(text, CMakeName(text, b"", Evidence.NONE, False))
