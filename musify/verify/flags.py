"""How each file is compiled: from compile_commands.json, or from the options of the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from musify.clang.database import RESPONSE, Database, response_words

# Options with a value of their own, which stands in the next word; those in the first group go with their value.
_DROPPED_WITH_VALUE = frozenset("-o --output-file -MF -MT -MQ --dependency-output -x --x".split())
_DROPPED = frozenset("-c --compile -dc --device-c -dw -E -S -M -MM -MD -MMD -MP -MG --generate-dependencies".split())
_ARCHITECTURES = frozenset("-arch --gpu-architecture -gencode --generate-code -code --gpu-code --offload-arch".split())
_PATHS = ("-I", "-isystem", "-iquote", "-include", "--include-path", "--pre-include", "--system-include")
_WITH_VALUE = frozenset((*_PATHS, "-D", "-U", "-Xcompiler", "-Xptxas", "-Xcudafe", "-ccbin", "-std", "--std"))
_PORTABLE = re.compile(r"-(?:I|isystem|iquote|include|D|U|std=)")
_LAUNCHERS = frozenset({"ccache", "sccache", "distcc"})
_SOURCES = frozenset(".cu .c .cc .cpp .cxx .c++".split())
# The name of an output, joined to its option.
_OUTPUT = re.compile(r"-(?:o(?!ptf|dir|bjtemp)|MF|MT|MQ).")
_SM = re.compile(r"(?:sm|compute)_(\d+[a-z]?)")


@dataclass(frozen=True)
class Flags:
    """How one file is compiled. `words` hold include paths as absolute paths; `compiler` is the database's, or empty.

    `architecture` is the first that the words named (`80`, `90a`), or empty.
    """

    words: tuple[str, ...] = ()
    folder: Path = field(default_factory=Path.cwd)
    compiler: str = ""
    architecture: str = ""

    def portable(self) -> tuple[str, ...]:
        """The words that every compiler takes: include paths, macros, the standard."""
        kept: list[str] = []
        words = iter(self.words)
        for word in words:
            value = next(words, "") if word in _WITH_VALUE else None
            if _PORTABLE.match(word):
                kept += [word] if value is None else [word, value]
        return tuple(kept)

    def with_more(self, words: Sequence[str]) -> Flags:
        """With further words behind these."""
        return replace(self, words=(*self.words, *words))

    def moved(self, original: Path, converted: Path) -> tuple[str, ...]:
        """The words with paths inside the original tree replaced by those of the converted one."""
        return tuple(_moved(word, original, converted) for word in self.words)


def _moved(word: str, original: Path, converted: Path) -> str:
    old = os.fspath(original)
    for prefix in ("", *(item for item in _PATHS if word.startswith(item))):
        path = word[len(prefix) :].removeprefix("=")
        if path == old or path.startswith(old + os.sep):
            return word[: len(word) - len(path)] + os.fspath(converted) + path[len(old) :]
    return word


def from_options(
    includes: Sequence[Path], defines: Sequence[str], words: Sequence[str], folder: Path | None = None
) -> Flags:
    """The flags that the command line gives for every file."""
    given = [f"-I{os.path.abspath(path)}" for path in includes] + [f"-D{name}" for name in defines]
    return _read([*given, *words], folder or Path.cwd(), "")


def from_database(database: Database, path: Path) -> Flags:
    """The flags of the command that compiles `path`, or its nearest neighbour."""
    folder, words = database.command(path)
    if words and os.path.basename(words[0]) in _LAUNCHERS:
        words = words[1:]
    sources = {os.path.realpath(path), *(os.path.realpath(os.path.join(folder, word)) for word in words[-1:])}
    kept = [word for word in words[1:] if not _is_source(word, folder, sources)]
    return _read(_unpacked(kept, folder), Path(folder or os.curdir).absolute(), words[0] if words else "")


def _is_source(word: str, folder: str, sources: set[str]) -> bool:
    """Whether a word names what is compiled; a neighbour's command names the neighbour."""
    path = os.path.join(folder, word)
    is_file = not word.startswith("-") and os.path.splitext(word)[1].lower() in _SOURCES
    return is_file and (os.path.realpath(path) in sources or os.path.isfile(path))


def _unpacked(words: Sequence[str], folder: str) -> list[str]:
    """With the words of response files in their place."""
    found: list[str] = []
    pending = iter(words)
    for word in pending:
        name, equals, value = word.partition("=")
        if name in RESPONSE:
            found += response_words(os.path.join(folder, value if equals else next(pending, "")))
        else:
            found.append(word)
    return found


def _read(words: Sequence[str], folder: Path, compiler: str) -> Flags:
    named = [match.group(1) for match in map(_SM.search, _architectures(words)) if match]
    return Flags(tuple(_kept(words, folder)), folder, compiler, named[0] if named else "")


def _architectures(words: Sequence[str]) -> Iterator[str]:
    for word, following in zip(words, [*words[1:], ""], strict=False):
        head, equals, value = word.partition("=")
        if head in _ARCHITECTURES:
            yield value if equals else following


def _kept(words: Sequence[str], folder: Path) -> Iterator[str]:
    """Without what names outputs and architectures, with absolute paths."""
    pending = iter(words)
    for word in pending:
        head = word.partition("=")[0]
        if word in _DROPPED_WITH_VALUE or word in _ARCHITECTURES:
            next(pending, None)
        elif word in _DROPPED or head in _ARCHITECTURES or head in _DROPPED_WITH_VALUE or _OUTPUT.match(word):
            continue
        elif word in _PATHS:
            yield word
            yield os.path.normpath(folder / next(pending, ""))
        elif word in _WITH_VALUE:
            yield word
            yield next(pending, "")
        else:
            yield _absolute(word, folder)


def _absolute(word: str, folder: Path) -> str:
    for prefix in _PATHS:
        path = word[len(prefix) :].removeprefix("=") if word.startswith(prefix) else ""
        if path and (prefix != "-include" or word[len(prefix) : len(prefix) + 1] == "="):
            return word[: len(word) - len(path)] + os.path.normpath(folder / path)
    return word
