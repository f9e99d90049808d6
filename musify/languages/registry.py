"""Which language a file is in, by its name or its first line; the rest of the tool asks only here."""

from __future__ import annotations

import importlib
import re
from enum import Enum
from typing import TYPE_CHECKING

from musify.languages.cuda.source import SUFFIXES

if TYPE_CHECKING:
    from musify.languages.build.unit import Reader


class Language(str, Enum):
    """A language that musify works on. All but CUDA are those of build files and scripts."""

    CUDA = "cuda"
    CMAKE = "cmake"
    MAKE = "make"
    PYTHON = "python"
    BAZEL = "bazel"
    MESON = "meson"
    XMAKE = "xmake"
    SHELL = "shell"
    DOCKERFILE = "dockerfile"
    YAML = "yaml"
    PLAIN = "plain"


# What files of CUDA source are called once they are ported.
RENAMED_SUFFIXES = {".cu": ".mu", ".cuh": ".muh"}
# By name; the first that fits counts.
_NAMES = tuple(
    (re.compile(pattern + r"\Z"), language)
    for pattern, language in (
        (r"CMakeLists\.txt|.+\.cmake(?:\.in)?", Language.CMAKE),
        (r"(?:GNU)?[Mm]akefile(?:\..+)?|.+\.(?:mk|mak)", Language.MAKE),
        (r".+\.py", Language.PYTHON),
        (r"(?:BUILD|WORKSPACE|MODULE)(?:\.bazel)?|.+\.(?:bzl|BUILD)", Language.BAZEL),
        (r"meson\.build|meson_options\.txt|meson\.options", Language.MESON),
        (r"xmake\.lua", Language.XMAKE),
        (r".+\.(?:sh|bash)", Language.SHELL),
        (r"(?:.+\.)?(?:Dockerfile|Containerfile)(?:\..+)?|.+\.dockerfile", Language.DOCKERFILE),
        (r"(?:.+\.)?gitlab-ci\.ya?ml", Language.YAML),
        (r"setup\.cfg|pyproject\.toml|compile_commands\.json|.+\.(?:bat|vcxproj|pro|gyp|ninja)", Language.PLAIN),
    )
)
_WORKFLOW = re.compile(r"(?:.*/)?\.github/(?:workflows|actions)/.+\.ya?ml\Z")
_SHEBANG = re.compile(rb"#![^\n]*?\b(?:(ba|da|z|k)?sh|(python[\d.]*)|(make))\b")
# Languages that have a reader of their own; the others are read as words.
_READERS = frozenset({Language.PYTHON})


def language_of(path: str) -> Language | None:
    """The language of the file at `path` (forward slashes); None for files that are no business of ours."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    if stem and (dot + suffix).lower() in SUFFIXES:
        return Language.CUDA
    found = next((language for pattern, language in _NAMES if pattern.match(name)), None)
    if found is None and _WORKFLOW.match(path):
        return Language.YAML
    return found


def language_of_script(head: bytes) -> Language | None:
    """The language of a file without a telling name, by the first bytes of it."""
    match = _SHEBANG.match(head)
    if match is None:
        return None
    if match.group(2):
        return Language.PYTHON
    return Language.MAKE if match.group(3) else Language.SHELL


def reader_of(language: Language) -> Reader:
    """How a language of build files is read."""
    name = language.value if language in _READERS else Language.PLAIN.value
    reader: Reader = importlib.import_module(f"musify.languages.{name}")
    return reader
