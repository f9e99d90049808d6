"""The C++ standard of device code: mcc takes it as a flag, and only once."""

from __future__ import annotations

import re

from musify.languages.cmake.facts import CXX, FINDMUSA, LANGUAGE
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.names import renamed
from musify.languages.cmake.structure import value
from musify.model import Finding, Severity

_FEATURE = re.compile(rb"(cuda|cxx)_std_(\d+)\Z")
_ON_DEVICE = b'target_compile_options(%s PRIVATE "$<$<COMPILE_LANGUAGE:MUSA>:-std=c++%s>")'
_VARIABLE = b"CMAKE_CUDA_STANDARD"
_ONCE = {
    "why": "mcc takes -std only once, and the project has it for all targets",
    "why_zh": "mcc 只接受一个 -std，而项目已为所有目标设置",
}
_BESIDE = (b"CMAKE_CUDA_STANDARD_REQUIRED", b"CMAKE_CUDA_EXTENSIONS")


def convert(file: CMakeFile) -> None:
    """Bring what the project says of the standard where mcc sees it."""
    for index, _ in file.numbered(b"set"):
        texts = file.texts(index)
        if len(texts) > 1 and texts[0] == _VARIABLE:
            _variable(file, index, texts[1])
        elif file.form == CXX and texts[:1] and texts[0] in _BESIDE:
            if texts[0].replace(b"CUDA", b"CXX") in file.own.variables:
                file.changes.remove(index)
        elif len(texts) > 1 and texts[0] == b"CMAKE_CXX_STANDARD":
            _host_variable(file, index, texts[1])
    for index, _ in file.numbered(b"target_compile_features"):
        _features(file, index)


def device_standard(file: CMakeFile, index: int, target: bytes, standard: bytes) -> None:
    """Let a target's device sources have a standard. The command `index` says so, and loses what said it."""
    if b"CUDA" in file.run.standards and not file.has_own_standards:
        shown = (b"-std=c++" + standard).decode("utf-8", "replace")
        file.changes.findings.append(Finding("MUS519", file.commands[index].name, shown, _ONCE, Severity.NOTE))
    elif file.form == LANGUAGE:
        file.changes.add_after(index, _ON_DEVICE % (target, standard))
    elif file.form == FINDMUSA:
        _with_findmusa(file, index, target, b"-std=c++" + standard)


def _with_findmusa(file: CMakeFile, index: int, target: bytes, flag: bytes) -> None:
    made = file.device_targets.get(target, [])
    for number in made:
        if file.is_within(index, number) and not any(word.startswith(b"-std=") for word in file.options[number]):
            file.options[number].append(flag)
    unreached = [number for number in made if not file.is_within(index, number)]
    if unreached or (not made and target not in file.host_targets):
        file.changes.find("MUS514", file.commands[index].name, flag)


def _variable(file: CMakeFile, index: int, standard: bytes) -> None:
    """CMAKE_CUDA_STANDARD."""
    if file.form == CXX:
        if b"CXX" in file.own.standards:
            file.changes.remove(index)
        return
    _flag(file, index, renamed(file, standard))
    file.changes.remove(index)


def _host_variable(file: CMakeFile, index: int, standard: bytes) -> None:
    """CMAKE_CXX_STANDARD, which CMake lets hold for CUDA too where nothing else is said."""
    said = file.run.standards & {b"CUDA", b"target"} or b"flags" in file.own.standards
    if file.form == CXX or said or not _is_about_device(file):
        return
    _flag(file, index, standard)


def _is_about_device(file: CMakeFile) -> bool:
    asks = any(b"CUDA" in file.texts(index) for index, _ in file.numbered(b"project", b"enable_language"))
    return asks or bool(file.device_targets)


def _flag(file: CMakeFile, index: int, standard: bytes) -> None:
    if file.form == LANGUAGE:
        file.changes.add_after(index, b'string(APPEND CMAKE_MUSA_FLAGS " -std=c++%s")' % standard)
    else:
        file.changes.add_after(index, b"list(APPEND MUSA_MCC_FLAGS -std=c++%s)" % standard)


def _features(file: CMakeFile, index: int) -> None:
    """target_compile_features(target scope cuda_std_17 ...)."""
    found = {}
    for position, argument in enumerate(file.commands[index].arguments):
        match = _FEATURE.match(value(file.data, argument))
        if match:
            found[match.group(1), match.group(2)] = position
    target = file.texts(index)[:1]
    device = {standard: position for (language, standard), position in found.items() if language == b"cuda"}
    host = [standard for language, standard in found if language == b"cxx"]
    if not target or not (device or host):
        return
    for standard, position in device.items():
        _take_feature(file, index, position, standard, host)
    chosen = max([*device, *([] if device else host)], key=int)
    if file.form == CXX:
        return
    if device or (file.form == FINDMUSA and target[0] in file.device_targets and not file.run.standards):
        device_standard(file, index, target[0], chosen)


def _take_feature(file: CMakeFile, index: int, position: int, standard: bytes, host: list[bytes]) -> None:
    if file.form == CXX and standard not in host:
        file.changes.replace(file.commands[index].arguments[position].inner, b"cxx_std_" + standard)
    elif len(file.commands[index].arguments) <= 3:
        file.changes.remove(index)
    else:
        file.changes.remove_arguments(index, [position])
