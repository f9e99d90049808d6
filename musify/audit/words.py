"""Which words stand in an SDK's headers at all: the net under what a parser understood of them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

_INCLUDE_DEPTH = 6
_WORD = re.compile(rb"[A-Za-z_]\w*")
# Strings are kept whole so that `//` in one begins no comment.
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"", re.S)


class Place(NamedTuple):
    """A file and a 1-based line."""

    path: Path
    line: int


def header_files(root: Path) -> Iterator[Path]:
    """All files in folders called `include` below `root`, links followed, each folder once."""
    seen: set[str] = set()
    for folder, folders, files in os.walk(root, followlinks=True):
        real = os.path.realpath(folder)
        parts = Path(folder).relative_to(root).parts
        if real in seen or ("include" not in parts and len(parts) > _INCLUDE_DEPTH):
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        if "include" in parts:
            yield from (Path(folder, name) for name in sorted(files))


def places(files: Collection[Path], wanted: Collection[bytes]) -> dict[bytes, Place]:
    """Where each of the words `wanted` first stands outside comments; files that cannot be read are passed over."""
    found: dict[bytes, Place] = {}
    for path in files:
        try:
            data = path.read_bytes()
        except OSError:
            continue
        here = set(_WORD.findall(data)) & set(wanted) - found.keys()
        if not here:
            continue
        text = _COMMENT.sub(_blanked, data)
        for match in _WORD.finditer(text):
            word = match.group()
            if word in here and word not in found:
                found[word] = Place(path, text.count(b"\n", 0, match.start()) + 1)
    return found


def _blanked(match: re.Match[bytes]) -> bytes:
    text = match.group()
    return text if text.startswith(b'"') else b" " + b"\n" * text.count(b"\n")
