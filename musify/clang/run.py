"""libclang for a whole run: how each file is parsed, when, and what happens where that fails."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from musify.clang import flags
from musify.clang.answers import Answers
from musify.clang.database import Database
from musify.clang.inclusions import Inclusions, Toolkit
from musify.clang.library import load
from musify.clang.parsing import parse
from musify.clang.precompiled import Precompiled
from musify.languages.semantics import Declared
from musify.model import MusifyError, Span

Result = TypeVar("Result")

_HOST_SOURCES = frozenset({".cpp", ".cc", ".cxx", ".c++", ".c"})
# What tells a folder of CUDA's headers, or of the system's: without headers they are left out.
_TOOLKIT_HEADER = "cuda_runtime.h"
_SYSTEM = ("/usr/include", "/usr/lib", "/usr/local/include")


class SemanticRun(NamedTuple):
    """What the user gave: commands, folders of CUDA's headers (empty: parse without any). And the names of those."""

    database: Database | None
    toolkit: Toolkit
    precompiled: Precompiled | None

    def answers(self, path: Path, data: bytes, includer: Path | None) -> LazyAnswers:
        """Answers about the file at `path`, whose text is `data`. A header is seen as `includer` includes it."""
        return LazyAnswers(lambda: self._open(path, data, includer))

    def _open(self, path: Path, data: bytes, includer: Path | None) -> Answers:
        target = os.path.abspath(path)
        main = os.path.abspath(includer or path)
        for candidate in dict.fromkeys((main, target)):
            texts = {target: data, candidate: data if candidate == target else Path(candidate).read_bytes()}
            parsed = parse(candidate, texts, self._arguments(Path(candidate)), macros=True)
            files = Inclusions(parsed, self.toolkit, texts)
            answers = Answers(parsed, target, data, files, sees_api=bool(self.toolkit.folders))
            if answers.is_seen:
                break
        return answers

    def _arguments(self, main: Path) -> list[str]:
        own = self.database.arguments(main) if self.database else []
        if self.precompiled is None:
            return [*flags.header_less(), *_without_toolkit(own)]
        if main.suffix.lower() in _HOST_SOURCES and not (self.database and self.database.is_cuda(main)):
            return [*flags.plain(self.toolkit.folders), *own]
        return self.precompiled.arguments(own)


class LazyAnswers:
    """Answers of libclang, which is called at the first question (see `languages.semantics.Semantics`).

    `problem` says why there are none, once that is known. `asked` and `answered` count the questions.
    """

    def __init__(self, open_answers: Callable[[], Answers]) -> None:
        self._open = open_answers
        self._answers: Answers | None = None
        self.problem = ""
        self.asked = 0
        self.answered = 0

    def close(self) -> None:
        """Free what libclang holds of the file, which is much with CUDA's headers. No question may follow."""
        self._answers = None

    def declarations(self, word: Span) -> Sequence[Declared]:
        """What the name at `word` refers to."""
        return self._ask(lambda answers: answers.declarations(word)) or ()

    def value(self, expression: Span) -> int | None:
        """The value of an integer expression."""
        return self._ask(lambda answers: answers.value(expression))

    def size(self, name: Span) -> int | None:
        """Bytes that the variable declared at `name` takes."""
        return self._ask(lambda answers: answers.size(name))

    def _ask(self, question: Callable[[Answers], Result]) -> Result | None:
        if self.problem:
            return None
        self.asked += 1
        try:
            if self._answers is None:
                self._answers = self._open()
            answer = question(self._answers)
        except Exception as error:  # whatever happens here, the file is worked on without
            self.problem = str(error) if isinstance(error, MusifyError) else f"{type(error).__name__}: {error}"
            return None
        self.answered += answer not in (None, (), [])
        return answer


def prepare(commands: Path | None, include: Sequence[Path], headers: Iterable[bytes]) -> SemanticRun:
    """libclang made ready for a run. `commands` is a compile_commands.json, `include` are folders of CUDA's headers,
    `headers` the paths by which one includes those. Raises MusifyError where something is missing or is not that.
    """
    load()
    for folder in include:
        if not folder.is_dir():
            raise MusifyError(f"{folder}: no such folder; --cuda-include takes the include folder of a CUDA toolkit")
    if include and not any((folder / _TOOLKIT_HEADER).is_file() for folder in include):
        raise MusifyError(f"{include[0]}: holds no {_TOOLKIT_HEADER}; --cuda-include takes CUDA's include folder")
    if include:
        flags.with_cuda(include)  # says here, and not for every file, that clang's own headers are missing
    names = frozenset(os.fsdecode(header) for header in headers)
    database = Database(commands) if commands is not None else None
    folders = tuple(folder.absolute() for folder in include)
    precompiled = Precompiled(_temporary_folder(), folders) if folders else None
    return SemanticRun(database, Toolkit(folders, names), precompiled)


def _temporary_folder() -> Path:
    """A folder that goes when this process ends; worker processes leave it alone."""
    folder = tempfile.mkdtemp(prefix="musify-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _without_toolkit(arguments: Sequence[str]) -> list[str]:
    """Arguments without the folders of CUDA's and the system's headers: those cannot be read without the rest."""
    kept: list[str] = []
    items = iter(arguments)
    for word in items:
        if word in ("-I", "-isystem", "-iquote", "-idirafter"):
            folder = next(items)
            if not (folder.startswith(_SYSTEM) or os.path.exists(os.path.join(folder, _TOOLKIT_HEADER))):
                kept += [word, folder]
        else:
            kept.append(word)
    return kept
