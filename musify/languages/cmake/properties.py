"""Properties of targets and sources that CMake has for CUDA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from musify.languages.cmake import facts
from musify.languages.cmake.cxx import cxx_options
from musify.languages.cmake.facts import CXX, FINDMUSA, LANGUAGE
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.flagtext import Kind, rewrite, span_of
from musify.languages.cmake.standards import device_standard
from musify.model import Finding, Severity, Span

_OBJECT = b"MUSA_SOURCE_PROPERTY_FORMAT OBJ"
_OFF = frozenset({b"OFF", b"FALSE", b"NO", b"0", b"N"})
_FLAGS = frozenset({b"COMPILE_FLAGS", b"COMPILE_OPTIONS"})


class Setting(NamedTuple):
    """A property in a command: the places of its name and values among the arguments, and what it is set on."""

    number: int
    name: bytes
    place: int
    end: int
    owners: tuple[bytes, ...]
    alone: bool


def convert(file: CMakeFile) -> None:
    """Change, move or take out each property of CUDA's."""
    for index, _ in file.numbered(b"set_target_properties", b"set_source_files_properties", b"set_property"):
        settings = list(_settings(file, index))
        gone = [setting for setting in settings if not _keeps(file, setting)]
        if gone and len(gone) == len(settings):
            file.changes.remove(index)
        elif gone:
            file.changes.remove_arguments(index, (i for item in gone for i in range(item.place, item.end)))
    for index, _ in file.numbered(b"set"):
        _variable(file, index)


def _settings(file: CMakeFile, index: int) -> Iterator[Setting]:
    texts = file.texts(index)
    if file.names[index] == b"set_property":
        if b"PROPERTY" in texts[:-1]:
            place = texts.index(b"PROPERTY") + 1
            owners = tuple(text for text in texts[1 : place - 1] if text not in (b"APPEND", b"APPEND_STRING"))
            yield Setting(index, texts[place], place, len(texts), owners, True)
    elif b"PROPERTIES" in texts:
        first = texts.index(b"PROPERTIES")
        for place in range(first + 1, len(texts) - 1, 2):
            alone = len(texts) == first + 3
            yield Setting(index, texts[place], place, place + 2, tuple(texts[:first]), alone)


def _keeps(file: CMakeFile, setting: Setting) -> bool:
    """Change a property; False where it goes."""
    dropped = facts.dropped_properties().get(setting.name)
    if dropped is not None:
        _report_dropped(file, setting, dropped)
        return False
    if setting.name == b"CUDA_ARCHITECTURES":
        target = " ".join(file.unit.settings.target.architectures)
        old = b" ".join(file.texts(setting.number)[setting.place + 1 : setting.end])
        file.changes.find("MUS516", _span(file, setting), old, target=target)
        return False
    if setting.name == b"CUDA_STANDARD":
        return _standard(file, setting)
    if setting.name in (b"LANGUAGE", b"LINKER_LANGUAGE"):
        return _language(file, setting)
    return setting.name not in _FLAGS or _flags(file, setting)


def _span(file: CMakeFile, setting: Setting) -> Span:
    arguments = file.commands[setting.number].arguments
    return Span(arguments[setting.place].start, arguments[setting.end - 1].end)


def _report_dropped(file: CMakeFile, setting: Setting, dropped: facts.Property) -> None:
    values = file.texts(setting.number)[setting.place + 1 : setting.end]
    is_off = bool(values) and values[0].upper() in _OFF
    severity = Severity.NOTE if is_off else Severity(dropped.severity)
    why = {"why": dropped.why, "why_zh": dropped.why_zh}
    name = setting.name.decode("utf-8", "replace")
    file.changes.findings.append(Finding("MUS519", _span(file, setting), name, why, severity))


def _standard(file: CMakeFile, setting: Setting) -> bool:
    texts = file.texts(setting.number)
    if setting.end - setting.place < 2:
        return True
    if file.form == CXX:
        if b"CXX_STANDARD" in texts:
            return False
        file.changes.replace(file.commands[setting.number].arguments[setting.place].inner, b"CXX_STANDARD")
        return True
    for owner in setting.owners:
        device_standard(file, setting.number, owner, texts[setting.place + 1])
    return False


def _language(file: CMakeFile, setting: Setting) -> bool:
    """LANGUAGE CUDA of a source, LINKER_LANGUAGE CUDA of a target; False where it goes."""
    arguments = file.commands[setting.number].arguments[setting.place : setting.end]
    if file.texts(setting.number)[setting.place + 1 : setting.end] != [b"CUDA"]:
        return True
    if file.form == LANGUAGE:
        file.changes.replace(arguments[1].inner, b"MUSA", name="CUDA")
    elif setting.name == b"LINKER_LANGUAGE":
        file.changes.replace(arguments[1].inner, b"CXX", name="CUDA")
    elif file.form == FINDMUSA:
        return _for_findmusa(file, setting, Span(arguments[0].start, arguments[1].end))
    else:
        options = cxx_options(file)
        if file.names[setting.number] == b"set_property":
            sources = b" ".join(setting.owners)
            file.changes.add_after(
                setting.number, b"set_source_files_properties(%s PROPERTIES %s)" % (sources, options)
            )
            options = b""
        file.changes.replace(arguments[1].inner, (b"CXX " + options).rstrip(), name="CUDA")
    return True


def _for_findmusa(file: CMakeFile, setting: Setting, whole: Span) -> bool:
    """FindMUSA asks for the property when it makes a target: it has to be set above the first one."""
    makers = [
        index for index, name in enumerate(file.names[: setting.number])
        if name in file.run.parameters or any(index in numbers for numbers in file.device_targets.values())
    ]  # fmt: skip
    if makers and file.is_within(setting.number, makers[0]):
        line = b"set_source_files_properties(%s PROPERTIES %s)" % (b" ".join(setting.owners), _OBJECT)
        file.changes.add_before(makers[0], line)
        return False
    if makers:
        file.changes.find("MUS514", whole, b"LANGUAGE CUDA")
    file.changes.replace(whole, _OBJECT, name="LANGUAGE CUDA", evidence="documented")
    return True


def _flags(file: CMakeFile, setting: Setting) -> bool:
    """Flags of sources or targets; False where none is left."""
    arguments = file.commands[setting.number].arguments[setting.place + 1 : setting.end]
    if not arguments:
        return True
    kind = Kind.STRING if setting.name == b"COMPILE_FLAGS" else Kind.LIST
    flags = rewrite(file, span_of(arguments), kind)
    file.changes.findings += flags.findings
    if flags.edits and not flags.words:
        return False
    if flags.edits and file.form == FINDMUSA:
        file.changes.find("MUS514", _span(file, setting), file.data[slice(*span_of(arguments))])
    for edit in flags.edits:
        file.changes.edit(edit)
    return True


def _variable(file: CMakeFile, index: int) -> None:
    """CMAKE_CUDA_SEPARABLE_COMPILATION and the like, which give properties to all targets."""
    texts = file.texts(index)
    name = texts[0].removeprefix(b"CMAKE_") if texts and texts[0].startswith(b"CMAKE_CUDA_") else b""
    dropped = facts.dropped_properties().get(name)
    known = facts.names("variable", file.form).get(texts[0]) if texts else None
    if dropped is None or known is not None:
        return
    arguments = file.commands[index].arguments
    _report_dropped(file, Setting(index, texts[0], 0, len(arguments), (), True), dropped)
    file.changes.remove(index)
