"""compile_commands.json: the include folders, macros and language version that each source is compiled with."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from musify.model import MusifyError

# Options that change what names mean, as nvcc and the host's compilers write them, and clang's word for each.
_TAKEN = {
    "-I": "-I", "--include-path": "-I", "-isystem": "-isystem", "--system-include": "-isystem", "-iquote": "-iquote",
    "-idirafter": "-idirafter", "-D": "-D", "--define-macro": "-D", "-U": "-U", "--undefine-macro": "-U",
    "-include": "-include", "--pre-include": "-include", "-std": "-std", "--std": "-std",
}  # fmt: skip
_FOLDERS = frozenset({"-I", "-isystem", "-iquote", "-idirafter"})
RESPONSE = ("--options-file", "-optf")
# An option and its value in one word: -Ifolder, -isystem=folder, --define-macro=A, -std=c++17.
_JOINED = re.compile(
    r"(-std|--std|--include-path|--system-include|--define-macro|--undefine-macro|--pre-include|--options-file|-optf"
    r"|-isystem|-iquote|-idirafter|-include|-I|-D|-U)=?(.+)"
)


class Database:
    """The commands of one compile_commands.json."""

    def __init__(self, path: Path) -> None:
        """Raises MusifyError where the file cannot be read or has another form."""
        try:
            entries = json.loads(path.read_bytes())
            self._entries = {_source(entry): entry for entry in entries}
        except OSError as error:
            raise MusifyError(f"{path}: cannot be read: {error.strerror}") from error
        except json.JSONDecodeError as error:
            raise MusifyError(f"{path}:{error.lineno}: not JSON: {error.msg}") from error
        except (UnicodeDecodeError, TypeError, KeyError, AttributeError) as error:
            raise MusifyError(
                f"{path}: not a compilation database: a list of objects with directory, file and command"
            ) from error

    def knows(self, path: Path) -> bool:
        """Whether there is a command for this file."""
        return os.path.realpath(path) in self._entries

    def arguments(self, path: Path) -> list[str]:
        """What clang needs of the command that compiles `path`; of its nearest neighbour's where it has none."""
        folder, words = self.command(path)
        return [part for option in _options(words, folder) for part in option]

    def command(self, path: Path) -> tuple[str, list[str]]:
        """The folder that `path` is compiled in, and the words of the command, the compiler first.

        Those of its nearest neighbour where it has none; both are empty where the database is.
        """
        real = os.path.realpath(path)
        entry = self._entries.get(real)
        if entry is None:
            nearest = max(self._folders, key=lambda folder: _shared(folder, os.path.dirname(real)), default=None)
            if nearest is None:
                return "", []
            entry = self._folders[nearest]
        return str(entry["directory"]), entry.get("arguments") or shlex.split(str(entry.get("command", "")))

    def is_cuda(self, path: Path) -> bool:
        """Whether the command for `path` says that it is CUDA source, whatever it is called."""
        entry = self._entries.get(os.path.realpath(path), {})
        words = " ".join(entry.get("arguments") or [str(entry.get("command", ""))])
        return re.search(r"(?:^|\s)(?:-x|--x)[ =]?cu(?:da)?(?:\s|$)", words) is not None

    @cached_property
    def _folders(self) -> dict[str, dict[str, Any]]:
        """The first command of each folder."""
        found: dict[str, dict[str, Any]] = {}
        for path in sorted(self._entries):
            found.setdefault(os.path.dirname(path), self._entries[path])
        return found


def _source(entry: dict[str, Any]) -> str:
    return os.path.realpath(os.path.join(str(entry["directory"]), str(entry["file"])))


def _shared(folder: str, other: str) -> int:
    """How many folders two paths have in common from the root on."""
    return len(os.path.commonpath([folder, other]).split(os.sep)) if folder and other else 0


def _options(words: Sequence[str], folder: str) -> Iterator[tuple[str, ...]]:
    """The options of a command that matter, with folders made absolute."""
    items = iter(words)
    for word in items:
        if word in _TAKEN or word in RESPONSE:
            name, value = word, next(items, "")
        else:
            match = _JOINED.fullmatch(word)
            if match is None:
                continue
            name, value = match.groups()
        if name in RESPONSE:
            yield from _options(response_words(os.path.join(folder, value)), folder)
        elif _TAKEN[name] in _FOLDERS:
            yield _TAKEN[name], os.path.normpath(os.path.join(folder, value))
        else:
            yield (f"-std={value}",) if _TAKEN[name] == "-std" else (_TAKEN[name], value)


def response_words(path: str) -> list[str]:
    """The options in a file that the command names; CMake puts nvcc's include folders there."""
    try:
        return shlex.split(Path(path).read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError):
        return []
