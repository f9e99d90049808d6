"""Files on disk: at every moment either the old one or the new one."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path


def write_atomically(path: Path, data: bytes, mode: int | None = None) -> None:
    """Put `data` at `path`: a temporary file in the same folder, flushed to disk, then renamed over it.

    A symbolic link is written through, so that it stays a link. `mode` is that of the new file; without it an
    existing file keeps its own. Raises OSError; nothing is left behind then.
    """
    goal = Path(os.path.realpath(path))
    if goal.exists() and not goal.is_file():
        goal.write_bytes(data)  # a pipe or a device is written to, never replaced
        return
    if mode is None:
        mode = stat.S_IMODE(goal.stat().st_mode) if goal.exists() else 0o666 & ~_umask()
    descriptor, temporary = tempfile.mkstemp(dir=goal.parent, prefix=f".{goal.name}.", suffix=".musify")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(temporary).replace(goal)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def copy_atomically(source: Path, goal: Path) -> None:
    """Copy a file, its mode bits and times, or a symbolic link as a link. Raises OSError."""
    if source.is_symlink():
        link_atomically(os.readlink(source), goal)
        return
    temporary = goal.parent / f".{goal.name}.{os.getpid()}.musify"
    try:
        shutil.copy2(source, temporary)
        temporary.replace(goal)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def link_atomically(target: str, goal: Path) -> None:
    """Make `goal` a symbolic link to `target`, in place of what is there. Raises OSError."""
    temporary = goal.parent / f".{goal.name}.{os.getpid()}.musify"
    try:
        os.symlink(target, temporary)
        os.replace(temporary, goal)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
