"""Preprocessed source: the tokens of the user's own text, line by line, and what makes two of them the same."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from musify.headers.shim import ShimNames
from musify.source.lexer import significant

_MARKER = re.compile(rb'^#(?:line)? (\d+) "((?:[^"\\\n]|\\.)*)"[^\n]*\n?', re.M)
_WORD = re.compile(rb"[A-Za-z_]\w*")
_CACHED = 2000
_ESCAPED = re.compile(rb"\\(.)")


class Line(NamedTuple):
    """The tokens that one line of a file came to: which file (its path below the tree), which 1-based line."""

    path: str
    number: int
    tokens: tuple[bytes, ...]


def user_lines(output: bytes, root: Path) -> list[Line]:
    """What the files below `root` contribute to preprocessed source, in order."""
    inside = _Inside(root)
    found: list[Line] = []
    markers = list(_MARKER.finditer(output))
    for marker, following in zip(markers, [*markers[1:], None], strict=False):
        path = inside.relative(marker.group(2))
        if path is not None:
            end = len(output) if following is None else following.start()
            _add(found, path, int(marker.group(1)), output[marker.end() : end])
    return found


def user_files(output: bytes, root: Path) -> set[str]:
    """The files below `root` that take part in preprocessed source, those without any token too."""
    inside = _Inside(root)
    paths = (inside.relative(written) for written in {match.group(2) for match in _MARKER.finditer(output)})
    return {path for path in paths if path is not None}


def _add(found: list[Line], path: str, number: int, text: bytes) -> None:
    for offset, tokens in enumerate(_logical_lines(text)):
        if not tokens:
            continue
        last = found[-1] if found else None
        if last is not None and last.path == path and last.number == number + offset:
            found[-1] = last._replace(tokens=last.tokens + tokens)  # a system macro was expanded in the middle
        else:
            found.append(Line(path, number + offset, tokens))


@lru_cache(maxsize=_CACHED)
def _logical_lines(text: bytes) -> list[tuple[bytes, ...]]:
    """The tokens of each line; those of a literal over several lines count for its first.

    A header comes to the same text in most files that include it.
    """
    lines: list[list[bytes]] = [[]]
    position = 0
    for token in significant(text):
        for _ in range(text.count(b"\n", position, token.start)):
            lines.append([])
        lines[-1].append(text[token.start : token.end])
        position = token.start
    return [tuple(line) for line in lines]


class _Inside:
    """Tells which files lie below a folder, by the paths that a compiler writes or by where links lead."""

    def __init__(self, root: Path) -> None:
        self._roots = (os.path.normpath(root), os.path.realpath(root))
        self.relative = lru_cache(maxsize=None)(self._relative)

    def _relative(self, written: bytes) -> str | None:
        path = os.fsdecode(_ESCAPED.sub(rb"\1", written))
        if not os.path.isabs(path):
            return None  # <built-in>, <command-line>: sources are named by absolute paths
        for root, place in zip(self._roots, (os.path.normpath(path), os.path.realpath(path)), strict=True):
            if place.startswith(root + os.sep):
                return place[len(root) + 1 :]
        return None


@dataclass(frozen=True)
class Same:
    """When two tokens are the same: by their text, or as names and paths that the conversion changed in pairs.

    `names` maps MUSA names to CUDA's, `macros` those of macros alone (which stay in the text where nobody defines
    them), and `merged` those CUDA names that share one; `paths` maps files of the converted tree to those of the
    original.
    """

    names: Mapping[bytes, bytes]
    macros: Mapping[bytes, bytes]
    merged: Mapping[bytes, bytes]
    paths: Mapping[str, str]

    @staticmethod
    def of(names: ShimNames, paths: Mapping[str, str]) -> Same:
        """From the names of the shim."""
        macros = {**names.macros, **names.architecture}
        return Same({**names.plain, **macros}, macros, names.merged, paths)

    def key(self, token: bytes) -> bytes:
        """What a token is compared by."""
        if token.endswith(b'"'):
            return self._string(token)
        name = self.macros.get(token, token)
        return self.merged.get(name, name)

    def _string(self, token: bytes) -> bytes:
        """A literal with every name in it as CUDA's: macros make text of names, and name their file."""
        path = self.paths.get(os.path.normpath(token[1:-1].decode("utf-8", "surrogateescape")))
        if path is not None:
            return path.encode("utf-8", "surrogateescape")
        return _WORD.sub(self._word, token)

    def _word(self, match: re.Match[bytes]) -> bytes:
        name = self.names.get(match.group(), match.group())
        return self.merged.get(name, name)


def keys(lines: list[Line], same: Same) -> list[tuple[bytes, ...]]:
    """What each line is compared by."""
    return [tuple(map(same.key, line.tokens)) for line in lines]
