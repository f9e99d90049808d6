"""A folder that an editor has open: its files, and what they say to each other, with unsaved text in place of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from musify.languages.recognition import language_of
from musify.languages.registry import Language
from musify.languages.surroundings import BuildSurroundings, Settings
from musify.model import MusifyError
from musify.project.files import Selection, SourceFile, find_files
from musify.project.layout import Layout
from musify.project.makefiles import linked_variables
from musify.project.survey import FileSurvey, ProjectIndex, included_files, survey_source
from musify.rules.book import RuleBook
from musify.source.document import text_or_nothing

if TYPE_CHECKING:
    from musify.languages.cmake.survey import CMakeSurvey

Survey = TypeVar("Survey")

# How many files are followed from one: a limit for the time that a key press may cost.
_FOLLOWED = 400


@dataclass(frozen=True)
class Choices:
    """What a project's configuration and the command line ask for."""

    book: RuleBook
    settings: Settings
    selection: Selection = field(default_factory=Selection)
    language: str = "en"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    rule_files: tuple[Path, ...] = ()


class Buffer(NamedTuple):
    """Unsaved text: its version and its bytes."""

    version: int
    data: bytes


Buffers = Mapping[str, Buffer]


class Project:
    """The files below one folder. `root` is None for a file that lies in no folder of the workspace."""

    def __init__(self, root: Path | None, choices: Choices) -> None:
        self.root = root
        self.choices = choices
        self._surveys: dict[str, tuple[object, FileSurvey]] = {}
        self._cmake: dict[str, tuple[object, CMakeSurvey]] = {}
        self._files: dict[str, SourceFile] = {}
        self._passed_over: set[str] = set()
        self.refresh()

    def refresh(self) -> None:
        """Look again at which files there are."""
        self._passed_over.clear()
        files: list[SourceFile] = []
        if self.root is not None and self.root.is_dir():
            try:
                files = find_files([self.root], self.choices.selection)
            except MusifyError:
                files = []  # a folder that cannot be listed: each file stands alone
        self._set(files)

    def _set(self, files: list[SourceFile]) -> None:
        self._files = {file.relative: file for file in files}
        self._layout = Layout(files, rename=False, root=self.root.name if self.root else "")

    def file(self, path: Path) -> SourceFile | None:
        """The file at `path`, which may not be saved yet; None where the project passes it over."""
        relative = self._relative(path)
        if relative not in self._files and relative not in self._passed_over:
            if self.root is not None:
                self.refresh()
            if relative not in self._files and (self.root is None or not path.exists()):
                self._set([*self._files.values(), SourceFile(path, relative, str(path), language_of(path.as_posix()))])
            elif relative not in self._files:
                self._passed_over.add(relative)
        return self._files.get(relative)

    def _relative(self, path: Path) -> str:
        if self.root is None:
            return path.name
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def read(self, buffers: Buffers, relative: str) -> bytes:
        """What stands in a file of the project now; nothing where it cannot be read."""
        file = self._files.get(relative)
        if file is None:
            return b""
        buffer = buffers.get(str(file.path))
        if buffer is not None:
            return buffer.data
        return text_or_nothing(file.path)

    def index(self, relative: str, buffers: Buffers) -> tuple[ProjectIndex, list[str]]:
        """What the files say that `relative` includes, directly or not, and which those are, itself among them."""
        surveys: dict[str, FileSurvey] = {}
        pending = [relative]
        while pending and len(surveys) < _FOLLOWED:
            path = pending.pop(0)
            if path not in surveys and path in self._files:
                surveys[path] = self._survey(path, buffers)
                included = included_files(path, surveys[path].includes, self._layout, self.choices.book)
                pending += (target.path for target in included.values())
        return ProjectIndex(surveys, self._layout, self.choices.book, partial(self.read, buffers)), list(surveys)

    def _survey(self, relative: str, buffers: Buffers) -> FileSurvey:
        def make(data: bytes) -> FileSurvey:
            return survey_source(relative, data, self.choices.book)

        return self._remembered(self._surveys, relative, buffers, make)

    def _remembered(
        self, known: dict[str, tuple[object, Survey]], relative: str, buffers: Buffers, make: Callable[[bytes], Survey]
    ) -> Survey:
        """What `make` says of a file, asked anew only where the file is another one now."""
        file = self._files[relative]
        key: object = buffers[str(file.path)].version if str(file.path) in buffers else _stamp(file.path)
        if relative not in known or known[relative][0] != key:
            known[relative] = (key, make(self.read(buffers, relative)))
        return known[relative][1]

    def build_surroundings(self, file: SourceFile, buffers: Buffers) -> BuildSurroundings:
        """What the other build files of its kind say that bears on one."""
        alike = [path for path, item in self._files.items() if item.language is file.language][:_FOLLOWED]
        read = partial(self.read, buffers)
        variables = linked_variables(alike, read).get(file.relative) if file.language is Language.MAKE else None
        cmake = None
        if file.language is Language.CMAKE:
            from musify.languages.cmake.survey import survey, together

            cmake = together(self._remembered(self._cmake, path, buffers, partial(survey, path)) for path in alike)
        return BuildSurroundings(file.relative, {}, variables, cmake, keeps_names=True)


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
