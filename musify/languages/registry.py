"""Which language a file is in, by its name; the rest of the tool asks only here."""

from __future__ import annotations

import re
from enum import Enum

from musify.languages.cuda.source import SUFFIXES


class Language(str, Enum):
    """A language that musify works on."""

    CUDA = "cuda"
    BUILD = "build"


# What files of CUDA source are called once they are ported.
RENAMED_SUFFIXES = {".cu": ".mu", ".cuh": ".muh"}
_BUILD_NAMES = re.compile(
    r"(?:CMakeLists\.txt|(?:GNU)?[Mm]akefile(?:\..+)?|BUILD(?:\.bazel)?|WORKSPACE(?:\.bazel)?|meson\.build|xmake\.lua"
    r"|setup\.(?:py|cfg)|pyproject\.toml|compile_commands\.json|.+\.(?:cmake|cmake\.in|mk|mak|bzl|py|sh|bat|vcxproj|pro|gyp|ninja))\Z"
)


def language_of(path: str) -> Language | None:
    """The language of the file at `path` (forward slashes); None for files that are no business of ours."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    if stem and (dot + suffix).lower() in SUFFIXES:
        return Language.CUDA
    if _BUILD_NAMES.match(name):
        return Language.BUILD
    return None
