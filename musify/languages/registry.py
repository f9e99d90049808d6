"""The languages that musify works on, and how each is read."""

from __future__ import annotations

import importlib
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from musify.languages.build.unit import Reader


class Language(str, Enum):
    """A language that musify works on. All but CUDA are those of build files and scripts."""

    CUDA = "cuda"
    CMAKE = "cmake"
    MAKE = "make"
    PYTHON = "python"
    BAZEL = "bazel"
    BAZELRC = "bazelrc"
    MESON = "meson"
    XMAKE = "xmake"
    SHELL = "shell"
    DOCKERFILE = "dockerfile"
    YAML = "yaml"
    COMPILE_COMMANDS = "compile_commands"
    TOML = "toml"
    JSON = "json"
    NOTEBOOK = "notebook"
    PLAIN = "plain"


# What files of CUDA source are called once they are ported.
RENAMED_SUFFIXES = {".cu": ".mu", ".cuh": ".muh"}
# On the way back.
RESTORED_SUFFIXES = {new: old for old, new in RENAMED_SUFFIXES.items()}
# Languages that have a reader of their own; the others are read as words.
_READERS = frozenset(
    {
        Language.BAZEL,
        Language.BAZELRC,
        Language.CMAKE,
        Language.COMPILE_COMMANDS,
        Language.DOCKERFILE,
        Language.JSON,
        Language.MAKE,
        Language.MESON,
        Language.PYTHON,
        Language.SHELL,
        Language.TOML,
        Language.XMAKE,
        Language.YAML,
    }
)


def reader_of(language: Language) -> Reader:
    """How a language of build files is read."""
    name = language.value if language in _READERS else Language.PLAIN.value
    reader: Reader = importlib.import_module(f"musify.languages.{name}")
    return reader
