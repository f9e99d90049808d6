"""Which lines a change touches, by git."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from musify.model import MusifyError

_HUNK = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


class ChangedLines:
    """The lines that differ from a revision, in the working tree around a path.

    What counts is the change since the branch left `revision` (its merge base), edits that are not committed included;
    files that git does not know are new as a whole. Raises MusifyError outside a repository and for no such revision.
    """

    def __init__(self, start: Path, revision: str) -> None:
        self._folder = start if start.is_dir() else start.parent
        self._root = os.path.realpath(os.fsdecode(self._git("rev-parse", "--show-toplevel").strip()))
        commit = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
        base = self._git("merge-base", "--", commit, "HEAD", may_fail=True).strip() or commit
        options = ("-U0", "--no-color", "--no-ext-diff", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/")
        diff = self._git("-c", "core.quotePath=false", "diff", *options, base, "--", self._root)
        self._ranges = dict(_ranges(diff))
        new = self._git("ls-files", "--others", "--exclude-standard", "-z", "--full-name", "--", self._root)
        self._new = {os.fsdecode(name) for name in new.split(b"\0") if name}

    def touches(self, path: str, first: int, last: int) -> bool:
        """Whether the change touches one of these 1-based lines of the file at `path`."""
        name = os.path.relpath(os.path.realpath(path), self._root)
        if name in self._new:
            return True
        return any(start <= last and first <= end for start, end in self._ranges.get(name, ()))

    def _git(self, *arguments: str | bytes, may_fail: bool = False) -> bytes:
        try:
            done = subprocess.run(["git", *arguments], cwd=self._folder, capture_output=True, check=False)
        except OSError as error:
            raise MusifyError(f"git is needed for --diff-base and cannot be run: {error.strerror}") from error
        if done.returncode and not may_fail:
            reason = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise MusifyError(f"--diff-base: {reason[0] if reason else 'git knows no such revision'}")
        return done.stdout


def _ranges(diff: bytes) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """The new lines of each file of a diff without context."""
    name, ranges = "", list[tuple[int, int]]()
    for line in diff.split(b"\n"):
        hunk = _HUNK.match(line)
        if hunk is not None:
            start, count = int(hunk.group(1)), int(hunk.group(2) or 1)
            ranges.append((start, start + count - 1))
        elif line.startswith(b"+++ ") and not ranges:
            name = os.fsdecode(line[6:].rstrip(b"\t")) if line.startswith(b"+++ b/") else ""
        elif line.startswith(b"diff --git "):
            if name:
                yield name, ranges
            name, ranges = "", []
    if name:
        yield name, ranges
