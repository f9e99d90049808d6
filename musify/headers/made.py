"""Headers that musify made: how they are known again, and how they are written without losing anything of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from musify.model import MusifyError
from musify.source.writing import write_atomically

# Stands in the first comment of every header that musify made: of `musify header`, and of the shim.
MARK = b"Written by `musify header`"
SHIM_MARK = b"Written by `musify verify`"
_HEAD_BYTES = 600


def is_ours(path: Path) -> bool:
    """Whether musify made the header at `path`. False where it cannot be read."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
            return MARK in head or SHIM_MARK in head
    except OSError:
        return False


def write(files: Mapping[Path, bytes], *, force: bool) -> int:
    """Write headers, those that changed; how many. Nothing is written where one would take the place of another's file.

    Raises MusifyError, where a file is there that musify did not make (unless `force`), or where it cannot be written.
    """
    for path in files:
        if path.is_dir():
            raise MusifyError(f"{path}: is a folder; name the header to write")
        if not force and path.exists() and not is_ours(path):
            raise MusifyError(f"{path}: is there already and musify did not make it; name another or add --force")
    changed = 0
    for path, data in files.items():
        try:
            if not path.is_file() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, data)
                changed += 1
        except OSError as error:
            raise MusifyError(f"{path}: cannot write the header: {error.strerror}") from error
    return changed


def remove_stale(folder: Path, wanted: Iterable[Path]) -> int:
    """Remove headers below `folder` that an earlier run made and nobody wants; how many. Raises MusifyError."""
    kept = set(wanted)
    stale = [path for path in sorted(folder.rglob("*")) if path.is_file() and path not in kept and is_ours(path)]
    try:
        for path in stale:
            path.unlink()
    except OSError as error:
        raise MusifyError(f"{error.filename}: cannot remove a header of an earlier run: {error.strerror}") from error
    return len(stale)
