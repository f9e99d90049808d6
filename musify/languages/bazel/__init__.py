"""Bazel: BUILD files, WORKSPACE, MODULE.bazel, .bzl. Starlark is a part of Python, so Python's reader reads it.

No Bazel rules for MUSA could be found: flags, files, libraries and architectures are changed, and what CUDA's rules
give has a finding that says what to write instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from musify.languages.bazel.calls import find_calls
from musify.languages.bazel.commands import find_commands
from musify.languages.bazel.labels import find_labels
from musify.languages.bazel.lists import find_lists
from musify.languages.build.edits import without_inner
from musify.languages.python import read, tokens

if TYPE_CHECKING:
    from musify.languages.build.unit import BuildUnit
    from musify.model import Edit, Finding

__all__ = ["convert", "tokens"]


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Edits and findings that need the grammar."""
    module = read(unit.data)
    yield from without_inner(chain(find_lists(unit, module), find_commands(unit, module)))
    yield from find_calls(module)
    yield from find_labels(unit, module)
