"""All changes to one CMake file: a pass a concern, each leaving alone what an earlier one took."""

from __future__ import annotations

from collections.abc import Iterator

from musify.languages.build.unit import BuildUnit
from musify.languages.cmake import (
    architectures,
    enabling,
    flagvariables,
    libraries,
    names,
    options,
    properties,
    standards,
    targets,
    texts,
)
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.survey import is_module_of_cmake
from musify.model import Edit, Finding, Span

# What takes whole commands comes first, what renames words where they stand comes last.
_PASSES = (enabling, architectures, standards, properties, flagvariables, options, targets, libraries, names, texts)


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Edits and findings of a CMake file. One whose parentheses or quotes do not match is left alone."""
    if is_module_of_cmake(unit.surroundings.path):
        name = unit.surroundings.path.rpartition("/")[2]
        yield Finding("MUS506", Span(0, len(unit.data)), name)
        return
    file = CMakeFile(unit)
    if file.broken >= 0:
        end = min(file.broken + 40, len(unit.data))
        shown = unit.data[file.broken : end].split(b"\n")[0].decode("utf-8", "replace")
        yield Finding("MUS505", Span(file.broken, file.broken), shown)
        return
    for part in _PASSES:
        part.convert(file)
    yield from file.changes.result()
    yield from file.changes.findings
