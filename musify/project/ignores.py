"""What .gitignore files say of the files below a folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# The specs that concern a folder, the nearest last. Each has the folder that its patterns are relative to: a path below
# the folder of the walk, or, behind a caret, the way down to that folder.
Ignores = Sequence[tuple[str, "GitIgnoreSpec"]]


def spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """The patterns of a .gitignore, or of globs that are written like one."""
    from pathspec import GitIgnoreSpec  # here, for most runs meet no .gitignore and should not wait for it

    return GitIgnoreSpec.from_lines(lines)


class IgnoreFiles:
    """The .gitignore files of one run, each read once."""

    def __init__(self) -> None:
        self._read = cache(_read)
        self._down_to = cache(_down_to)

    def above(self, root: Path) -> Ignores:
        """Those between the root of the repository and `root`, as far as they concern `root`."""
        folder = root.resolve()
        above = self._down_to(folder.parent)
        if not above or (folder / ".git").exists():
            return []
        found = [("^" + folder.relative_to(parent).as_posix() + "/", self._read(parent)) for parent in above]
        return [(inside, patterns) for inside, patterns in found if patterns is not None]

    def within(self, folder: Path, inner: str) -> Ignores:
        """The one in `folder`, which lies at `inner` (with a slash at its end) below the folder of the walk."""
        patterns = self._read(folder)
        return [] if patterns is None else [(inner, patterns)]


def is_ignored(rules: Ignores, name: str) -> bool:
    """Whether the last .gitignore that has an opinion ignores `name`; a folder's name ends with a slash."""
    for base, patterns in reversed(rules):
        local = base[1:] + name if base.startswith("^") else name[len(base) :]
        verdict = patterns.check_file(local).include
        if verdict is not None:
            return verdict
    return False


def _down_to(folder: Path) -> Sequence[Path]:
    """The folders from the root of a repository down to `folder`; none outside a repository."""
    folders = [folder, *folder.parents]
    depth = next((number for number, parent in enumerate(folders) if (parent / ".git").exists()), None)
    return [] if depth is None else folders[depth::-1]


def _read(folder: Path) -> GitIgnoreSpec | None:
    try:
        lines = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return spec(lines)
