"""The files of a translation unit: whose each is, and whether every configuration includes it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from musify.clang.flags import HEADER_LESS
from musify.clang.library import load
from musify.source.conditions import Conditionals
from musify.source.outline import Outline


class Origin(Enum):
    """Whose a file is."""

    API = "api"
    PROJECT = "project"
    UNKNOWN = "unknown"


class Toolkit(NamedTuple):
    """What is known of CUDA's headers: the folders they lie in, and their paths as one includes them."""

    folders: Sequence[Path]
    headers: frozenset[str]


class Inclusions:
    """The files of one translation unit. `texts` are those whose text is not the one on disk, by path."""

    def __init__(self, parsed: Any, toolkit: Toolkit, texts: dict[str, bytes]) -> None:
        self._parsed = parsed
        self._headers = toolkit.headers
        self._folders = [os.path.realpath(folder) + os.sep for folder in toolkit.folders]
        resources = load().resources
        self._nobodys = (os.fspath(HEADER_LESS), *([os.fspath(resources)] if resources else []))
        self._texts = texts
        self._conditionals: dict[str, Conditionals] = {}
        self._origins: dict[str, Origin] = {}

    def origin(self, path: str) -> Origin:
        """Whose the file at `path` is. A header that is called as one of CUDA's may be either's, so nobody can say."""
        if path not in self._origins:
            self._origins[path] = self._origin(path)
        return self._origins[path]

    def is_conditional(self, path: str, offset: int) -> bool:
        """Whether some configurations do not see a place in a file, or not that file."""
        if self._conditionals_of(path).is_conditional(offset):
            return True
        includer = self._includers.get(path)
        return includer is not None and self.is_conditional(*includer)

    def _origin(self, path: str) -> Origin:
        real = os.path.realpath(path)
        if any(real.startswith(folder) for folder in self._folders):
            return Origin.API
        if path.startswith(self._nobodys) or self._belongs_to_cuda(path):
            return Origin.UNKNOWN
        return Origin.PROJECT

    def _belongs_to_cuda(self, path: str) -> bool:
        """Whether a file's path is one of CUDA's, or such a file includes it."""
        parts = path.replace(os.sep, "/").split("/")
        if any("/".join(parts[-count:]) in self._headers for count in range(1, min(len(parts), 5) + 1)):
            return True
        includer = self._includers.get(path)
        return includer is not None and self._belongs_to_cuda(includer[0])

    def _conditionals_of(self, path: str) -> Conditionals:
        if path not in self._conditionals:
            text = self._texts.get(path)
            self._conditionals[path] = Conditionals(Outline(Path(path).read_bytes() if text is None else text))
        return self._conditionals[path]

    @cached_property
    def _includers(self) -> dict[str, tuple[str, int]]:
        """The place of the #include that first brought each file in."""
        cindex = load().cindex
        found: dict[str, tuple[str, int]] = {}

        def visit(file: Any, stack: Any, depth: int, _: Any) -> None:
            # The binding's own get_includes keeps the stack, which holds nothing once this function has returned.
            if depth > 0 and stack.contents.file is not None:
                place = stack.contents
                found.setdefault(cindex.File(file).name, (place.file.name, place.offset))

        cindex.conf.lib.clang_getInclusions(self._parsed, cindex.translation_unit_includes_callback(visit), [])
        return found
