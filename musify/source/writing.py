"""Files on disk: at every moment either the old one or the new one."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


def write_atomically(path: Path, data: bytes, mode: int | None = None) -> None:
    """Put `data` at `path`: a temporary file in the same folder, flushed to disk, then renamed over it.

    A symbolic link is written through, so that it stays a link. `mode` is that of the new file; without it an
    existing file keeps its own. Raises OSError; nothing is left behind then.
    """
    goal = os.path.realpath(path) if os.path.islink(path) else os.fspath(path)
    status = _status(goal)
    if status is not None and not stat.S_ISREG(status.st_mode):
        Path(goal).write_bytes(data)  # a pipe or a device is written to, never replaced
        return
    if mode is None:
        mode = 0o666 & ~_umask() if status is None else stat.S_IMODE(status.st_mode)
    with _replacing(goal) as temporary, open(os.open(temporary, _NEW_FILE, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def name_beside(goal: str | Path, token: str) -> str:
    """The name of a file that is to take the place of `goal`, in its folder. `project.files` passes over such names."""
    folder, name = os.path.split(goal)
    return os.path.join(folder, f".{name}.{token}.musify")


def copy_atomically(source: Path, goal: Path) -> None:
    """Copy a file, its mode bits and times, or a symbolic link as a link. Raises OSError."""
    if os.path.islink(source):
        link_atomically(os.readlink(source), goal)
        return
    with _replacing(goal) as temporary:
        shutil.copy2(source, temporary)


def link_atomically(target: str, goal: Path) -> None:
    """Make `goal` a symbolic link to `target`, in place of what is there. Raises OSError."""
    with _replacing(goal) as temporary:
        os.symlink(target, temporary)


@contextlib.contextmanager
def _replacing(goal: str | Path) -> Iterator[str]:
    """A name beside `goal` that nobody uses: what is made there takes its place, or is removed where that fails."""
    temporary = name_beside(goal, os.urandom(6).hex())
    try:
        yield temporary
        os.replace(temporary, goal)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _status(path: str) -> os.stat_result | None:
    """What lies at `path`, None where nothing does."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
