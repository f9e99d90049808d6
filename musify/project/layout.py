"""The names that files get: .cu becomes .mu, .cuh becomes .muh, and every #include follows."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Sequence

from musify.languages.registry import RENAMED_SUFFIXES, RESTORED_SUFFIXES, Language
from musify.languages.surroundings import IncludeTarget
from musify.project.files import SourceFile

# MUSA's own CUB and Thrust keep .cuh, so a copy that a project carries keeps it too.
_KEEPS_NAMES = frozenset({"cub", "thrust"})
_HEADER_FOLDERS = ("", "include", "inc", "includes", "src", "common", "Common")


class Layout:
    """Where every file of the run goes, and which file an #include means."""

    def __init__(
        self,
        files: Sequence[SourceFile],
        *,
        rename: bool = True,
        root: str = "",
        reverse: bool = False,
        aside: str = "",
    ) -> None:
        """`root` is the name of the one folder that the files lie in: some projects include by it.

        `reverse`: from MUSA's names to CUDA's. `aside`: sources that would keep their name get this behind the stem.
        """
        self._root = root
        self._suffixes = RESTORED_SUFFIXES if reverse else RENAMED_SUFFIXES
        self._aside = aside
        self._rename = rename
        taken = {file.relative for file in files}
        self.new_paths: dict[str, str] = {}
        self.blocked: list[tuple[SourceFile, str]] = []
        for file in files:
            new = self._new_path(file) if rename else file.relative
            if new != file.relative and new in taken:
                self.blocked.append((file, new))
                new = file.relative
            self.new_paths[file.relative] = new
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for file in files:
            self._by_name[posixpath.basename(file.relative)].append(file.relative)

    def target(self, relative: str) -> IncludeTarget:
        """A file of the run with its new path."""
        return IncludeTarget(relative, self.new_paths[relative])

    @property
    def keeps_names(self) -> bool:
        """Whether no file is renamed."""
        return not self._rename

    @property
    def renamed(self) -> dict[bytes, list[IncludeTarget]]:
        """Renamed files by base name."""
        found = defaultdict(list)
        for old, new in self.new_paths.items():
            if old != new:
                found[posixpath.basename(old).encode("utf-8", "surrogateescape")].append(IncludeTarget(old, new))
        return dict(found)

    def resolve(self, includer: str, path: str, *, is_toolkit: bool) -> IncludeTarget | None:
        """The file of the run that `includer` means by `path`: beside it, then up the tree, then anywhere by its tail.

        `is_toolkit`: the path is also a toolkit header's, so a file far away does not count.
        """
        found = self._resolve(includer, path, is_toolkit=is_toolkit)
        if found is not None or not self._rename:
            return found
        stem, suffix = posixpath.splitext(path)
        if suffix in self._suffixes:
            # An earlier run that was interrupted may have renamed the file already.
            done = self._resolve(includer, stem + self._suffixes[suffix], is_toolkit=is_toolkit)
            if done is not None:
                found = IncludeTarget(posixpath.splitext(done.path)[0] + suffix, done.new_path)
        return found

    def _new_path(self, file: SourceFile) -> str:
        stem, suffix = posixpath.splitext(file.relative)
        if file.is_context or file.language is None:
            return file.relative
        stays = _KEEPS_NAMES & set(posixpath.dirname(file.relative).split("/"))
        if file.language is not Language.CUDA or suffix not in self._suffixes or stays:
            return f"{stem}{self._aside}{suffix}"
        return stem + self._suffixes[suffix]

    def _resolve(self, includer: str, path: str, *, is_toolkit: bool) -> IncludeTarget | None:
        candidates = self._by_name.get(path.rpartition("/")[2])
        if not candidates:
            return None
        folder = posixpath.dirname(includer)
        plain = f"{folder}/{path}"
        if plain in self.new_paths:
            return self.target(plain)
        beside = posixpath.normpath(posixpath.join(folder, path))
        if beside in self.new_paths:
            return self.target(beside)
        tail = posixpath.normpath(path)
        while tail.startswith("../"):
            tail = tail[3:]
        if self._root and tail.startswith(self._root + "/") and tail[len(self._root) + 1 :] in candidates:
            tail = tail[len(self._root) + 1 :]
        near = next((name for name in _up_the_tree(folder, tail) if name in self.new_paths), None)
        if near is None and not is_toolkit:
            fitting = sorted(name for name in candidates if name == tail or name.endswith("/" + tail))
            near = max(fitting, key=lambda name: len(posixpath.commonprefix([name, folder])), default=None)
        return None if near is None else self.target(near)


def _up_the_tree(folder: str, tail: str) -> Iterable[str]:
    while True:
        for sub in _HEADER_FOLDERS:
            yield posixpath.normpath(posixpath.join(folder, sub, tail))
        if not folder:
            return
        folder = posixpath.dirname(folder)
