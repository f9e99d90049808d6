"""Where a project asks for CUDA: project(), enable_language(), check_language(), find_package(), and what follows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from musify.languages.cmake import facts
from musify.languages.cmake.facts import CXX, FINDMUSA, LANGUAGE
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.survey import ARCHITECTURES

# Where the toolkit keeps FindMUSA and MUSAToolkit; upstream CMake has neither (FACTS 1.4, 6).
MODULE_PATH = b'list(APPEND CMAKE_MODULE_PATH "$ENV{MUSA_HOME}/cmake" "/usr/local/musa/cmake")'
_PROJECT_KEYWORDS = frozenset({b"VERSION", b"DESCRIPTION", b"HOMEPAGE_URL", b"LANGUAGES", b"COMPAT_VERSION"})
_NUMBER = rb"(?:\d+|\$\{\w*(?i:version)\w*\}|@\w*(?i:version)\w*@)"
_VERSION = re.compile(rb"%s(?:\.%s)*(?:\.\.\.<?%s(?:\.%s)*)?" % (_NUMBER, _NUMBER, _NUMBER, _NUMBER))
_FLAGS = {FINDMUSA: b"MUSA_MCC_FLAGS", CXX: b"MUSA_COMPILE_OPTIONS", LANGUAGE: b"CMAKE_MUSA_FLAGS"}


def convert(file: CMakeFile) -> None:
    """Ask for MUSA where the file asks for CUDA."""
    Enabling(file).convert()


class Enabling:
    """The commands that ask for CUDA, in order; `_paths`, `_found` and `_blocks` remember what was put in where."""

    def __init__(self, file: CMakeFile) -> None:
        self._file = file
        self._paths: list[int] = []
        self._found: list[int] = []
        self._blocks: list[int] = []

    def convert(self) -> None:
        """Change all of them."""
        handlers = {
            b"project": self._project,
            b"enable_language": self._enable,
            b"check_language": self._check,
            b"find_package": self._package,
            b"find_dependency": self._package,
            b"include": self._include,
        }
        for index, name in enumerate(self._file.names):
            if name in handlers and self._file.commands[index].arguments:
                handlers[name](index)

    def _project(self, index: int) -> None:
        texts = self._file.texts(index)
        if b"LANGUAGES" in texts:
            first = texts.index(b"LANGUAGES") + 1
            last = next((i for i in range(first, len(texts)) if texts[i] in _PROJECT_KEYWORDS), len(texts))
        elif _PROJECT_KEYWORDS & set(texts):
            return
        else:
            first, last = 1, len(texts)
        if b"CUDA" in texts[first:last]:
            self._languages(index, first, last)

    def _enable(self, index: int) -> None:
        texts = self._file.texts(index)
        if b"CUDA" not in texts:
            return
        others = [text for text in texts if text not in (b"CUDA", b"OPTIONAL")]
        if self._file.form == LANGUAGE or others or self._lacks_cxx():
            self._languages(index, 0, len(texts))
            return
        self._file.changes.remove(index)
        self._follow(index)

    def _lacks_cxx(self) -> bool:
        """Whether the project of this file names its languages, and C++ is not among them."""
        for index, _ in self._file.numbered(b"project"):
            texts = self._file.texts(index)
            return (b"LANGUAGES" in texts or len(texts) > 1) and b"CXX" not in texts
        return False

    def _languages(self, index: int, first: int, last: int) -> None:
        """Change CUDA among languages: to MUSA, to C++ where that is missing, or to nothing."""
        file = self._file
        arguments = file.commands[index].arguments
        texts = file.texts(index)
        position = texts.index(b"CUDA", first, last)
        if file.form == LANGUAGE:
            file.changes.replace(arguments[position].inner, b"MUSA", name="CUDA")
            self._modules(index)
        elif b"CXX" in texts[first:last]:
            file.changes.remove_arguments(index, [position])
        else:
            file.changes.replace(arguments[position].inner, b"CXX", name="CUDA")
        self._follow(index)

    def _modules(self, index: int) -> None:
        if not self._file.run.language_modules:
            self._file.changes.find("MUS517", self._file.commands[index].name, b"MUSA")

    def _check(self, index: int) -> None:
        file = self._file
        if file.texts(index) != [b"CUDA"]:
            return
        command = file.commands[index]
        if file.form == LANGUAGE:
            file.changes.replace(command.arguments[0].inner, b"MUSA", name="CUDA")
            return
        self._module_path(index)
        file.changes.replace(command.name, b"find_package", name="check_language")
        package = b"MUSA" if file.form == FINDMUSA else b"MUSAToolkit"
        self._found.append(index)
        file.changes.replace(command.arguments[0].inner, package, name="CUDA")

    def _package(self, index: int) -> None:
        file = self._file
        texts = file.texts(index)
        name = facts.names("package", file.form).get(texts[0])
        if name is None:
            return
        span = file.commands[index].arguments[0].inner
        if not file.rename(span, name):
            if texts[0] not in file.run.packages:
                file.changes.find("MUS512", span, texts[0])
            return
        self._module_path(index)
        if len(texts) > 1 and _VERSION.fullmatch(texts[1]):
            file.changes.remove_arguments(index, [1, *([2] if texts[2:3] == [b"EXACT"] else [])])
            file.changes.find("MUS511", file.commands[index].arguments[1].inner, texts[1])

    def _include(self, index: int) -> None:
        file = self._file
        span = file.commands[index].arguments[0].inner
        what = file.texts(index)[0]
        if what == b"FindCUDA/select_compute_arch":
            file.changes.remove(index)
        elif what in (b"FindCUDA", b"FindCUDAToolkit"):
            self._module_path(index)
            file.changes.replace(span, what.replace(b"CUDA", b"MUSA"), name=what.decode())

    def _module_path(self, index: int) -> None:
        """Say once where the toolkit's modules are, above the first command that needs one."""
        if not self._file.follows_any(index, self._paths):
            self._file.changes.add_before(index, MODULE_PATH)
            self._paths.append(index)

    def _follow(self, index: int) -> None:
        """What CMake does by itself when it enables CUDA: find the toolkit, settle the architectures."""
        file = self._file
        if file.follows_any(index, self._blocks):
            return
        self._blocks.append(index)
        lines: list[bytes] = []
        if file.form != LANGUAGE:
            if not file.follows_any(index, self._paths):
                lines.append(MODULE_PATH)
                self._paths.append(index)
            if file.follows_any(index, self._found):
                pass  # check_language() did
            elif file.form == FINDMUSA:
                lines.append(b"find_package(MUSA REQUIRED)")
            elif not self._finds_toolkit(index):
                lines.append(b"find_package(MUSAToolkit REQUIRED)")
        if file.form == CXX:
            lines.append(b"set(MUSA_COMPILE_OPTIONS -x musa -mtgpu)")
        if self._has_own_standards():
            lines.append(b'list(FILTER MUSA_MCC_FLAGS EXCLUDE REGEX "^-std=")')
        settled = self._settled_later(index)
        if settled < 0:
            file.changes.add_after(index, *lines, *self._default(), *self._flags())
        else:
            file.changes.add_after(index, *lines)
            file.changes.add_after(settled, *self._flags())

    def _finds_toolkit(self, index: int) -> bool:
        """Whether the file itself finds the toolkit wherever the command `index` has run."""
        found = [number for number, _ in self._file.numbered(b"find_package")]
        return any(
            self._file.texts(number)[:1] == [b"CUDAToolkit"] and self._file.is_within(number, index) for number in found
        )

    def _has_own_standards(self) -> bool:
        """Whether the targets here have standards of their own, while a folder above may have one for all."""
        file = self._file
        return file.form == FINDMUSA and file.has_own_standards

    def _settled_later(self, index: int) -> int:
        """The number of the command that sets the architectures for good after `index`; -1 where there is none."""
        file = self._file
        made = [number for numbers in file.device_targets.values() for number in numbers]
        made += [number for number, _ in file.numbered(b"add_subdirectory")]
        for number, _ in file.numbered(b"set"):
            texts = file.texts(number)
            if number > index and texts[0] == ARCHITECTURES and file.blocks[number] == file.blocks[index]:
                return number if number < min(made, default=number + 1) else -1
        return -1

    def _variable(self) -> bytes:
        return facts.names("variable", self._file.form)[ARCHITECTURES].musa

    def _default(self) -> Sequence[bytes]:
        variable = self._variable()
        return (
            b"if(NOT DEFINED %s)" % variable,
            b"  set(%s %s)" % (variable, b" ".join(self._file.architectures)),
            b"endif()",
        )

    def _flags(self) -> Sequence[bytes]:
        flags = _FLAGS[self._file.form]
        line = b'  list(APPEND %s "--offload-arch=${architecture}")' % flags
        if self._file.form == LANGUAGE:
            line = b'  string(APPEND %s " --offload-arch=${architecture}")' % flags
        return (b"foreach(architecture IN LISTS %s)" % self._variable(), line, b"endforeach()")
