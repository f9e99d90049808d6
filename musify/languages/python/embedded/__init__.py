"""CUDA inside Python: source in strings, libraries that are opened by name, packages that only run on CUDA, Triton."""

from __future__ import annotations

from collections.abc import Iterator

from musify.languages.build.conversion import BuildConversion
from musify.languages.build.unit import BuildUnit
from musify.languages.python.embedded.libraries import find_libraries
from musify.languages.python.embedded.packages import find_packages
from musify.languages.python.embedded.sources import find_sources
from musify.languages.python.embedded.triton import find_triton
from musify.languages.python.module import PythonModule
from musify.model import Edit, Finding


def convert_embedded(unit: BuildUnit, module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits and findings for what a file holds of CUDA beside PyTorch's names."""
    result = BuildConversion()
    for found in (
        find_sources(unit, module),
        find_libraries(unit, module),
        find_triton(module),
        find_packages(module),
    ):
        result.take(found)
    yield from result.edits
    yield from result.findings
