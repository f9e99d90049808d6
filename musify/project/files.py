"""Finding files: folders walked, .gitignore respected, globs applied."""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from musify.languages.recognition import HEAD_BYTES, LARGEST_JSON, is_told_by_content, language_of, language_of_content
from musify.languages.registry import Language
from musify.model import MusifyError
from musify.project.ignores import IgnoreFiles, Ignores, is_ignored, spec
from musify.project.makefiles import included_paths

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# What an interrupted run may leave behind: see source/writing.py.
_TEMPORARY = re.compile(r"\..+\.musify\Z")
# Endings of sources that makefiles are also called by.
_MAY_BE_INCLUDED = (".inc", ".def")
_NEVER = frozenset({".git", ".hg", ".svn"})


@dataclass(frozen=True)
class SourceFile:
    """A file of the run.

    `path` is where it lies; `relative` its place in the output (forward slashes); `shown` the path that reports use.
    `language` is None for a file that is only copied. `is_link`: it is a symbolic link that stays one. `is_context`: it
    is only read for what it declares and includes.
    """

    path: Path
    relative: str
    shown: str
    language: Language | None
    is_link: bool = False
    is_context: bool = False


@dataclass(frozen=True)
class Selection:
    """Which files of a folder are worked on: globs as in .gitignore; `excluded` paths are passed over whole.

    `reverse`: MUSA's sources are among them.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    gitignore: bool = True
    excluded: tuple[Path, ...] = ()
    reverse: bool = False


def find_files(paths: Sequence[Path], selection: Selection) -> list[SourceFile]:
    """All files of the run, in the order of their places in the output.

    Raises MusifyError for a path that is missing or cannot be listed, and for two PATHs that would get one name.
    """
    found: dict[str, SourceFile] = {}
    unknown: dict[str, set[str]] = defaultdict(set)
    alone = len(paths) == 1
    include = _globs(selection.include)
    exclude = _globs(selection.exclude)
    ignore_files = IgnoreFiles()
    for path in paths:
        if not os.path.lexists(path):
            raise MusifyError(f"{path}: no such file or folder")
        if path.is_dir():
            prefix = "" if alone else f"{path.resolve().name}/"
            files = list(_walk(path, prefix, selection, ignore_files))
        else:
            files = [(path, path.name, os.fspath(path), path.is_symlink() and not path.is_file())]
        for file, relative, shown, is_link in files:
            if relative in found and found[relative].path == file:
                continue  # the same PATH twice
            if relative in found:
                raise MusifyError(
                    f"{file}: {found[relative].path} would get the same name {relative}; convert them apart"
                )
            chosen = _is_chosen(relative, include, exclude)
            language = _language(file, relative, selection.reverse) if chosen else None
            found[relative] = SourceFile(file, relative, shown, language, is_link)
            if chosen and (language is None or relative.endswith(_MAY_BE_INCLUDED)):
                unknown[posixpath.basename(relative)].add(relative)
    _take_in_included(found, unknown)
    return [found[key] for key in sorted(found)]


def find_files_within(root: Path, paths: Sequence[Path], selection: Selection) -> list[SourceFile]:
    """All files of the project at `root`; those that are not among `paths`, or below them, are context.

    Raises MusifyError as `find_files` does, and for a path outside `root`.
    """
    real_root = os.path.realpath(root)
    chosen = []
    for path in paths:
        real = os.path.realpath(path)
        if not os.path.lexists(path):
            raise MusifyError(f"{path}: no such file or folder")
        if real != real_root and not real.startswith(real_root + os.sep):
            raise MusifyError(f"{path}: lies outside --root {root}")
        chosen.append(real)
    below = tuple(real + os.sep for real in chosen)
    return [
        file if (real := os.path.realpath(file.path)) in chosen or real.startswith(below)
        else replace(file, is_context=True)
        for file in find_files([root], selection)
    ]  # fmt: skip


def find_named_files(paths: Sequence[Path], selection: Selection) -> list[SourceFile]:
    """The files that are named, and those below the folders that are which musify reads: in that order, each once.

    Their places are those below the folder that holds them all. Raises MusifyError for a path that is missing or
    cannot be listed.
    """
    found: dict[str, tuple[Path, str]] = {}
    ignore_files = IgnoreFiles()
    for path in paths:
        if not os.path.lexists(path):
            raise MusifyError(f"{path}: no such file or folder")
        listed = _walk(path, "", selection, ignore_files) if path.is_dir() else [(path, "", os.fspath(path), False)]
        for file, inner, shown, is_link in listed:
            if not is_link and (not inner or _language(file, inner, selection.reverse) is not None):
                found.setdefault(os.path.abspath(file), (file, shown))
    if not found:
        return []
    folder = os.path.commonpath([os.path.dirname(path) for path in found])
    places = {path: os.path.relpath(path, folder).replace(os.sep, "/") for path in found}
    return [
        SourceFile(file, places[path], shown, _language(file, places[path], selection.reverse))
        for path, (file, shown) in found.items()
    ]


def _take_in_included(found: dict[str, SourceFile], unknown: Mapping[str, Collection[str]]) -> None:
    """Files that a makefile includes are makefiles, whatever they are called."""
    pending = [file for file in found.values() if file.language is Language.MAKE]
    while pending and unknown:
        file = pending.pop()
        with contextlib.suppress(OSError):
            for path in included_paths(file.relative, file.path.read_bytes(), unknown):
                if found[path].language is not Language.MAKE:
                    found[path] = replace(found[path], language=Language.MAKE)
                    pending.append(found[path])


def _language(path: Path, relative: str, reverse: bool) -> Language | None:
    """The language of a file by its name; where that says nothing, by how the file begins."""
    language = language_of(relative, reverse=reverse)
    if language is Language.JSON and path.is_file() and path.stat().st_size > LARGEST_JSON:
        return None
    if language is None and is_told_by_content(relative) and path.is_file():
        with contextlib.suppress(OSError), path.open("rb") as file:
            return language_of_content(file.read(HEAD_BYTES))
    return language


def _is_chosen(relative: str, include: GitIgnoreSpec | None, exclude: GitIgnoreSpec | None) -> bool:
    """Whether a file is worked on, as far as the globs are concerned."""
    if include is not None and not include.match_file(relative):
        return False
    return exclude is None or not exclude.match_file(relative)


def _is_kept_link(path: str, root: str) -> bool:
    """Whether a symbolic link below `root` stays one: it leads to another file of the folder, or nowhere.

    One that leads out of the folder is worked on as the file that it shows; so is a link that is itself the PATH.
    """
    return not os.path.isfile(path) or os.path.realpath(path).startswith(root + os.sep)


def _globs(patterns: Sequence[str]) -> GitIgnoreSpec | None:
    return spec(patterns) if patterns else None


def _walk(
    root: Path, prefix: str, selection: Selection, ignore_files: IgnoreFiles
) -> Iterator[tuple[Path, str, str, bool]]:
    """Every file below `root`: its path, its place in the output, the path that is shown, whether it stays a link."""
    top, real_top = os.fspath(root), os.path.realpath(root)
    shown_prefix = "" if top == "." else top.rstrip("/") + "/"
    excluded = {os.path.realpath(path) for path in selection.excluded}
    pending: list[tuple[str, str, Ignores]] = [(top, "", ignore_files.above(root) if selection.gitignore else [])]
    while pending:
        folder, inner, rules = pending.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            raise MusifyError(f"{folder}: cannot list the folder: {error.strerror}") from error
        if selection.gitignore and any(entry.name == ".gitignore" for entry in entries):
            rules = [*rules, *ignore_files.within(Path(folder), inner)]
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            name = inner + entry.name
            if (
                entry.name in _NEVER
                or _TEMPORARY.match(entry.name)
                or (rules and is_ignored(rules, name + "/" if is_folder else name))
            ):
                continue
            if is_folder:
                if not excluded or os.path.realpath(entry.path) not in excluded:
                    pending.append((entry.path, name + "/", rules))
            elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                is_link = entry.is_symlink() and _is_kept_link(entry.path, real_top)
                yield Path(entry.path), prefix + name, shown_prefix + name, is_link
