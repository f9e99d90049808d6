"""Errors that compilers print, and the files that they speak of."""

from __future__ import annotations

import os
from pathlib import Path

from musify.triage.log import Diagnostic, parse_log


def errors(output: bytes) -> list[Diagnostic]:
    """The errors in what a compiler printed; never empty: the last line stands in where none is recognised."""
    found = parse_log(output.replace(b"\0", b""), "compiler").errors
    if found:
        return found
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    return [Diagnostic("compiler", lines[-1] if lines else "no message", 0)]


def path_below(path: str, root: Path) -> str | None:
    """The path of a file below `root`, with forward slashes; None where it lies elsewhere."""
    below = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    return None if below.startswith("..") else below.replace(os.sep, "/")
