"""CUDA's headers parsed once for a whole run: each source then takes a third of the time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from musify.clang import flags
from musify.clang.library import load
from musify.clang.parsing import complaints, parse

_NAME = "cuda.pch"
_SOURCE = "precompiled.cu"
# What CUDA sources include most often beside CUDA's own.
_HEADERS = ("cmath", "cstdio", "cstdlib", "cstring", "algorithm", "iostream", "string", "vector")
# Making it takes as long as two sources without it.
_WORTH_IT = 2


class Precompiled:
    """A precompiled header in `folder`, made by the process that first needs it often enough."""

    def __init__(self, folder: Path, include: Sequence[Path]) -> None:
        self._path = folder / _NAME
        self._include = include
        self._asked = 0
        self._failed = False

    def arguments(self, own: Sequence[str]) -> list[str]:
        """The arguments for a CUDA source; `own` are those of its command. Another C++ standard cannot share it."""
        suits = not self._failed and all(word == flags.STANDARD for word in own if word.startswith("-std"))
        self._asked += suits
        if suits and (self._path.exists() or (self._asked > _WORTH_IT and self._make())):
            return [*flags.with_cuda(self._include, self._path), *own]
        return [*flags.with_cuda(self._include), *own]

    def _make(self) -> bool:
        text = "".join(f"#include <{header}>\n" for header in _HEADERS).encode()
        temporary = self._path.with_suffix(f".{os.getpid()}")
        self._failed = True
        parsed = parse(_SOURCE, {_SOURCE: text}, flags.with_cuda(self._include), macros=True)
        if not complaints(parsed):
            with contextlib.suppress(OSError, load().cindex.TranslationUnitSaveError):
                parsed.save(str(temporary))
                os.replace(temporary, self._path)
                self._failed = False
        return not self._failed
