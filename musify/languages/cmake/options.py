"""Flags for device code that belong to targets, folders, sources and command lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from musify.languages.build.additions import Additions
from musify.languages.build.flags import COMMAND_LINE
from musify.languages.build.variables import Variables
from musify.languages.cmake.cxx import OPTIONS, to_host_sources
from musify.languages.cmake.facts import CXX, FINDMUSA, LANGUAGE
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.flagtext import Kind, Word, device_condition, flag_words, rewrite, span_of, words, written
from musify.languages.cmake.names import renamed
from musify.languages.cmake.structure import whole_reference
from musify.languages.cmake.survey import COMPILER, LINK_KEYWORDS, Content
from musify.model import Finding, Span

# Where flags for all device sources of a folder go.
FOLDER_FLAGS = {FINDMUSA: b"MUSA_MCC_FLAGS", CXX: OPTIONS}
_SCOPES = LINK_KEYWORDS | {b"SYSTEM", b"BEFORE", b"AFTER"}
_DEFINITIONS = frozenset({b"target_compile_definitions", b"add_compile_definitions"})
_OF_TARGET = (b"target_compile_options", b"target_compile_definitions")
_OF_FOLDER = (b"add_compile_options", b"add_compile_definitions", b"add_definitions")
_LANGUAGE = re.compile(rb"COMPILE_LANG(?:UAGE|_AND_ID):CUDA(?:,\w+)*")
_ASKS = re.compile(rb"COMPILE_LANG(?:UAGE|_AND_ID):(?:\w+,)*(?:CUDA|\$\{\w*CUDA)(?<!NOT:\$<COMPILE_LANGUAGE:CUDA)")
_FLAGS_KEYWORD = re.compile(rb"(?:[A-Z]+_)*(?:OPTIONS|FLAGS)")
_WORD = re.compile(rb"[A-Z][A-Z_]+")


def convert(file: CMakeFile) -> None:
    """Bring flags for device code where the chosen form takes them."""
    for index, _ in file.numbered(*_OF_TARGET):
        if len(file.commands[index].arguments) > 1:
            _of_target(file, index)
    for index, _ in file.numbered(*_OF_FOLDER):
        if file.commands[index].arguments:
            _of_folder(file, index)
    for index, _ in file.numbered(b"cuda_add_executable", b"cuda_add_library", b"cuda_compile"):
        _legacy(file, index)
    for index, _ in file.numbered(b"add_custom_command", b"execute_process", b"add_custom_target"):
        _command_lines(file, index)
    for index, name in enumerate(file.names):
        if name in file.run.parameters and file.content(index, 0).device:
            _own_keywords(file, index)


def _of_target(file: CMakeFile, index: int) -> None:
    target = file.texts(index)[0]
    made = file.device_targets.get(target, [])
    reached = [number for number in made if file.is_within(index, number)]
    items = _items(file, index, 1)
    if file.form == LANGUAGE:
        _in_place(file, index, items)
        return
    device = [item for item in items if device_condition(file.data, item) is not None]
    scopes = _scopes(file, index)
    handed_on = {span for span, scope in scopes.items() if scope == b"INTERFACE"}
    lost = [item for item in items if (item in device and item.span in handed_on) or _asks_language(file, item)]
    if lost or (device and not reached and target not in file.host_targets):
        _unreachable(file, index, lost or device, items)
        return
    for number in reached:
        file.options[number] += [word for item in device for word in _moved(file, item, index)]
    plain = [
        item for item in items if item not in device
        and not (scopes[item.span] == b"PRIVATE" and to_host_sources(file, index, item, reached))
    ]  # fmt: skip
    kept = plain
    if made and file.names[index] not in _DEFINITIONS:
        here = [item for item in plain if item.span not in handed_on and not _of_other_language(file, item)]
        kept = _plain_flags(file, index, here, reached) + [item for item in plain if item not in here]
    _take_out(file, index, [item for item in items if item not in kept], kept)


def _scopes(file: CMakeFile, index: int) -> dict[Span, bytes]:
    """For each word of a command the keyword that it stands after: PUBLIC, PRIVATE, INTERFACE."""
    found = words(file.data, span_of(file.commands[index].arguments[1:]), file.comments)
    scope = b""
    scopes = {}
    for item in found:
        text = file.data[item.inner.start : item.inner.end]
        scope = text if text in LINK_KEYWORDS else scope
        scopes[item.span] = scope
    return scopes


def _of_other_language(file: CMakeFile, item: Word) -> bool:
    return item.body is not None and b"COMPILE_LANG" in file.data[item.inner.start : item.body.start]


def _asks_language(file: CMakeFile, item: Word) -> bool:
    """Whether an expression asks for CUDA in a way that only CMake can answer."""
    if item.body is None or device_condition(file.data, item) is not None:
        return False
    return _ASKS.search(file.data, item.inner.start, item.body.start) is not None


def _plain_flags(file: CMakeFile, index: int, plain: Sequence[Word], reached: Sequence[int]) -> list[Word]:
    """Flags without a condition, on a target with device sources: for them too. Returns those that stay."""
    if not plain:
        return []
    flags = rewrite(file, Span(plain[0].span.start, plain[-1].span.end))
    moved = [word for word in flags.words if word not in _SCOPES and b"COMPILE_LANG" not in word]
    file.changes.findings += flags.findings
    if file.form == CXX:
        for edit in flags.edits:
            file.changes.edit(edit)
        return list(plain)
    for number in reached:
        file.options[number] += [renamed(file, word) for word in moved]
    if not reached:
        name = file.data[plain[0].span.start : plain[-1].span.end]
        file.changes.find("MUS514", file.commands[index].name, name)
    return [] if reached and not any(file.content(number).host for number in reached) else list(plain)


def _of_folder(file: CMakeFile, index: int) -> None:
    items = _items(file, index, 0)
    if file.form == LANGUAGE:
        _in_place(file, index, items)
        return
    device = [item for item in items if device_condition(file.data, item) is not None]
    moved = [word for item in device for word in _moved(file, item, index)]
    if moved:
        new = b" ".join(written(word) for word in moved)
        file.changes.add_after(index, b"list(APPEND %s %s)" % (FOLDER_FLAGS[file.form], new))
    if device:
        _take_out(file, index, device, [item for item in items if item not in device])


def _items(file: CMakeFile, index: int, first: int) -> list[Word]:
    """The words of a command that are no keywords."""
    found = words(file.data, span_of(file.commands[index].arguments[first:]), file.comments)
    return [item for item in found if file.data[item.inner.start : item.inner.end] not in _SCOPES]


def _moved(file: CMakeFile, item: Word, index: int) -> list[bytes]:
    """What an expression for device sources gives, as words that may stand elsewhere."""
    assert item.body is not None
    is_definition = file.names[index] in _DEFINITIONS
    flags = rewrite(file, item.body)
    file.changes.findings += flags.findings
    found = [renamed(file, word) for word in flags.words]
    if is_definition:
        found = [word if word.startswith(b"-D") else b"-D" + word for word in found]
    condition = device_condition(file.data, item)
    if condition and found:
        return [b"$<" + condition + b":" + b";".join(found) + b">"]
    return found


def _in_place(file: CMakeFile, index: int, items: Sequence[Word]) -> None:
    """The language form has expressions of its own: only the language and the flags change."""
    gone = []
    for item in items:
        if device_condition(file.data, item) is None or item.body is None:
            continue
        flags = rewrite(file, item.body)
        file.changes.findings += flags.findings
        if flags.edits and not flags.words:
            gone.append(item)
            continue
        for match in _LANGUAGE.finditer(file.data, item.inner.start, item.body.start):
            file.changes.replace(Span(*match.span()), b"COMPILE_LANGUAGE:MUSA", name="CUDA")
        for edit in flags.edits:
            file.changes.edit(edit)
    _take_out(file, index, gone, [item for item in items if item not in gone])


def _take_out(file: CMakeFile, index: int, gone: Sequence[Word], left: Sequence[Word]) -> None:
    """Take words out of a command, and the command where none is left."""
    if not gone and left:
        return
    if not left:
        file.changes.remove(index)
        return
    arguments = file.commands[index].arguments
    for item in gone:
        inside = [
            number for number, argument in enumerate(arguments)
            if item.span.start < argument.end and argument.start < item.span.end
        ]  # fmt: skip
        alone = all(_is_only(file.data, argument.inner, item.span) for argument in (arguments[i] for i in inside))
        if alone:
            file.changes.remove_arguments(index, inside)
        else:
            file.changes.replace(item.span, b"")


def _is_only(data: bytes, inner: Span, span: Span) -> bool:
    """Whether an argument holds nothing but (a part of) a word."""
    before = data[inner.start : max(inner.start, span.start)]
    after = data[min(inner.end, span.end) : inner.end]
    return not before.strip() and not after.strip()


def _unreachable(file: CMakeFile, index: int, device: Sequence[Word], items: Sequence[Word]) -> None:
    gone = []
    for item in device:
        assert item.body is not None
        flags = rewrite(file, item.body)
        if flags.edits and not flags.words:
            file.changes.findings += flags.findings
            gone.append(item)
            continue
        file.changes.find("MUS514", item.span, file.data[item.span.start : item.span.end])
        for edit in flags.edits:
            file.changes.edit(edit)
    _take_out(file, index, gone, [item for item in items if item not in gone])


def _legacy(file: CMakeFile, index: int) -> None:
    """Flags after OPTIONS, in FindCUDA's commands."""
    texts = file.texts(index)
    if b"OPTIONS" not in texts[:-1]:
        return
    arguments = file.commands[index].arguments[texts.index(b"OPTIONS") + 1 :]
    flags = rewrite(file, span_of(arguments))
    file.changes.findings += flags.findings
    if flags.edits and not flags.words:
        file.changes.remove_arguments(index, range(texts.index(b"OPTIONS"), len(texts)))
        return
    for edit in flags.edits:
        file.changes.edit(edit)


def _own_keywords(file: CMakeFile, index: int) -> None:
    """Flags after a keyword of a function of the project that makes targets of device sources."""
    texts = file.texts(index)
    arguments = file.commands[index].arguments
    for position, text in enumerate(texts):
        if not _FLAGS_KEYWORD.fullmatch(text):
            continue
        last = next((i for i in range(position + 1, len(texts)) if _WORD.fullmatch(texts[i])), len(texts))
        if last > position + 1:
            flags = rewrite(file, span_of(arguments[position + 1 : last]))
            file.changes.findings += flags.findings
            for edit in flags.edits:
                file.changes.edit(edit)


def _command_lines(file: CMakeFile, index: int) -> None:
    """The words after a compiler that is called by its name or its variable."""
    texts = file.texts(index)
    arguments = file.commands[index].arguments
    for position, text in enumerate(texts):
        if not COMPILER.fullmatch(text) and whole_reference(text) not in file.run.compilers:
            continue
        keyword = next((item for item in reversed(texts[:position]) if _WORD.fullmatch(item)), b"")
        if keyword not in (b"COMMAND", b"ARGS"):
            continue
        if text == b"nvcc":
            file.changes.replace(arguments[position].inner, b"mcc", name="nvcc", evidence="documented")
        last = next((i for i in range(position + 1, len(texts)) if _WORD.fullmatch(texts[i])), len(texts))
        if last > position + 1:
            within = span_of(arguments[position + 1 : last])
            flags = rewrite(file, within, Kind.COMMAND)
            file.changes.findings += flags.findings
            for edit in flags.edits:
                file.changes.edit(edit)
            _add_words(file, index, within)


def _add_words(file: CMakeFile, index: int, within: Span) -> None:
    """What nvcc does without and mcc needs. A variable that holds device sources stands for one."""
    given = flag_words(file.data, words(file.data, within, file.comments, Kind.COMMAND))
    given = [word._replace(text=b".cu") if _is_source(file, index, word.text) else word for word in given]
    for item in Additions(file.unit, Variables(), (), COMMAND_LINE).results(given):
        if isinstance(item, Finding):
            file.changes.findings.append(item)
        else:
            file.changes.edit(item)


def _is_source(file: CMakeFile, index: int, text: bytes) -> bool:
    name = whole_reference(text)
    if name is None:
        return False
    return file.sources.resolved(Content(variables=frozenset({name})), file.function(index)).device
