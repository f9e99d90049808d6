"""Where results go: nowhere (a dry run), in place, or into a folder of their own."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from musify.languages.registry import RENAMED_SUFFIXES, RESTORED_SUFFIXES, Language
from musify.model import MusifyError
from musify.project.files import SourceFile
from musify.source.writing import copy_atomically, link_atomically, name_beside, write_atomically


class Destination(Protocol):
    """What happens with a file once its new content and name are known. `write` and `keep` raise OSError.

    Both may be called in worker processes. Then `finish` or `abandon` is called in the first one, for every file.
    """

    def write(self, file: SourceFile, new_path: str, data: bytes) -> None:
        """The file has new content."""

    def keep(self, file: SourceFile, new_path: str) -> None:
        """The file has its old content, perhaps a new name."""

    def finish(self, file: SourceFile, new_path: str) -> None:
        """All files were worked on, and this one written or kept. Raises OSError."""

    def abandon(self, file: SourceFile, new_path: str) -> None:
        """The run broke off."""


class DryRun:
    """Writes nothing."""

    def write(self, file: SourceFile, new_path: str, data: bytes) -> None:
        """Nothing."""

    def keep(self, file: SourceFile, new_path: str) -> None:
        """Nothing."""

    def finish(self, file: SourceFile, new_path: str) -> None:
        """Nothing."""

    def abandon(self, file: SourceFile, new_path: str) -> None:
        """Nothing."""


class Kept(DryRun):
    """Keeps what would be written, by the place of the file in the run; for runs in one process."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}

    def write(self, file: SourceFile, new_path: str, data: bytes) -> None:
        """Keep the new content."""
        self.data[file.relative] = data

    def keep(self, file: SourceFile, new_path: str) -> None:
        """Keep the old content."""
        self.data[file.relative] = file.path.read_bytes()


class Beside(DryRun):
    """Writes new files beside the originals, which stay."""

    def write(self, file: SourceFile, new_path: str, data: bytes) -> None:
        """Write the new content under the new name."""
        goal = file.path.with_name(new_path.rpartition("/")[2])
        write_atomically(goal, data, stat.S_IMODE(file.path.stat().st_mode))

    def keep(self, file: SourceFile, new_path: str) -> None:
        """Write the old content of a source under the new name, for others may include it by that."""
        goal = file.path.with_name(new_path.rpartition("/")[2])
        if goal != file.path and file.language is Language.CUDA:
            copy_atomically(file.path, goal)


class InPlace:
    """Changes the originals, once all are worked on: until then each is read by the work on those that include it."""

    def __init__(self) -> None:
        self._token = os.urandom(6).hex()

    def write(self, file: SourceFile, new_path: str, data: bytes) -> None:
        """Write the new content beside the old. A file that a link brings in from elsewhere is not touched."""
        goal = self._goal(file, new_path)
        if file.path.is_symlink() and goal != file.path:
            raise OSError(0, "a link to a file outside the folder: convert that file itself, or use -o")
        write_atomically(self._beside(goal), data, stat.S_IMODE(file.path.stat().st_mode))

    def keep(self, file: SourceFile, new_path: str) -> None:
        """Nothing yet."""

    def finish(self, file: SourceFile, new_path: str) -> None:
        """Put the new content in place of the old, or rename where a new name is due."""
        goal = self._goal(file, new_path)
        written = self._beside(goal)
        if written.exists():
            os.replace(written, os.path.realpath(goal))
            if goal != file.path:
                file.path.unlink()
        elif file.is_link:
            _relink(file, goal)
            if goal != file.path:
                file.path.unlink()
        elif goal != file.path:
            file.path.rename(goal)

    def abandon(self, file: SourceFile, new_path: str) -> None:
        """Take away what was written."""
        with contextlib.suppress(OSError):
            self._beside(self._goal(file, new_path)).unlink(missing_ok=True)

    def _beside(self, goal: Path) -> Path:
        return Path(name_beside(os.path.realpath(goal), self._token))

    @staticmethod
    def _goal(file: SourceFile, new_path: str) -> Path:
        return file.path.with_name(new_path.rpartition("/")[2])


class Folder:
    """Writes a complete tree below one folder, and never outside it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real_root = os.path.realpath(root)
        self._checked: set[str] = set()

    def write(self, file: SourceFile, new_path: str, data: bytes) -> None:
        """Write the new content with the mode of the original."""
        write_atomically(self._goal(new_path), data, stat.S_IMODE(file.path.stat().st_mode))

    def keep(self, file: SourceFile, new_path: str) -> None:
        """Copy the file, mode and times included; a link stays a link."""
        goal = self._goal(new_path)
        if file.is_link:
            _relink(file, goal)
        else:
            copy_atomically(file.path, goal)

    def finish(self, file: SourceFile, new_path: str) -> None:
        """Nothing more."""

    def abandon(self, file: SourceFile, new_path: str) -> None:
        """Nothing: the next run to this folder writes it anew."""

    def _goal(self, new_path: str) -> Path:
        """The place of a file, its folder made. A link in the way is taken away, never written through."""
        folder, name = os.path.split(new_path)
        if folder not in self._checked:
            self._make(self.root / folder)
            self._checked.add(folder)
        goal = self.root / folder / name
        if os.path.islink(goal):
            goal.unlink()
        return goal

    def _make(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        real = os.path.realpath(folder)
        if real != self._real_root and not real.startswith(self._real_root.rstrip(os.sep) + os.sep):
            raise OSError(0, f"{folder} lies outside the output folder")


def _relink(file: SourceFile, goal: Path) -> None:
    """Make `goal` the link that `file` is; a link to a renamed source follows it."""
    target = os.readlink(file.path)
    stem, suffix = os.path.splitext(target)
    if goal.suffix != file.path.suffix and suffix in RENAMED_SUFFIXES | RESTORED_SUFFIXES:
        target = stem + (RENAMED_SUFFIXES | RESTORED_SUFFIXES)[suffix]
    if goal != file.path or target != os.readlink(file.path):
        link_atomically(target, goal)


def prepare_folder(root: Path, planned: Iterable[str], *, force: bool) -> None:
    """Make the output folder ready, and remember that it is ours.

    Files of an earlier run that this one no longer makes are removed. Raises MusifyError where the folder is not
    empty and no earlier run made it, unless `force`, and where it cannot be made.
    """
    record = _record_path(root)
    earlier = _read_record(record, root)
    try:
        if root.exists() and not root.is_dir():
            raise MusifyError(f"{root}: is a file; -o takes a folder")
        if root.is_dir() and any(root.iterdir()) and earlier is None and not force:
            raise MusifyError(
                f"{root}: the folder is not empty and musify did not make it; name another or add --force"
            )
        root.mkdir(parents=True, exist_ok=True)
        if not os.access(root, os.W_OK | os.X_OK):
            raise MusifyError(f"{root}: no right to write in the output folder")
        kept = sorted(planned)
        for stale in set(earlier or ()) - set(kept):
            (root / stale).unlink(missing_ok=True)
    except OSError as error:
        raise MusifyError(f"{root}: cannot use the output folder: {error.strerror}") from error
    _write_record(record, root, kept)


def _record_path(root: Path) -> Path:
    base = os.environ.get("XDG_STATE_HOME")
    state = Path(base) if base else Path(os.path.expanduser("~")) / ".local" / "state"
    return state / "musify" / (hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:24] + ".json")


def _identity(root: Path) -> list[int]:
    status = root.stat()
    return [status.st_dev, status.st_ino]


def _read_record(record: Path, root: Path) -> list[str] | None:
    """The files that an earlier run made in this very folder; None where no run did."""
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
        files = list(content["files"])
        # A folder that was removed and made anew may get the old inode: something of ours must still be there.
        ours = content["identity"] == _identity(root) and any(os.path.lexists(root / file) for file in files)
        return files if ours else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_record(record: Path, root: Path, files: list[str]) -> None:
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"folder": os.fspath(root.resolve()), "identity": _identity(root), "files": files})
        write_atomically(record, text.encode("utf-8", "backslashreplace"))
    except OSError:
        pass  # without a record the next run asks for --force, which is safe
