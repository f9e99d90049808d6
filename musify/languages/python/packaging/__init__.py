"""Python packaging: setup scripts, and modules that build an extension when they are imported."""

from __future__ import annotations

from collections.abc import Iterator

from musify.languages.build.conversion import BuildConversion
from musify.languages.build.unit import BuildUnit
from musify.languages.python.module import PythonModule
from musify.languages.python.packaging.capabilities import find_capabilities
from musify.languages.python.packaging.command_lines import find_command_lines
from musify.languages.python.packaging.extensions import ExtensionUse, find_extensions
from musify.languages.python.packaging.flag_lists import find_flags
from musify.languages.python.packaging.folders import find_folders
from musify.languages.python.packaging.list_commands import find_list_commands
from musify.languages.python.packaging.own_names import find_own_names
from musify.languages.python.packaging.programs import find_programs
from musify.languages.python.packaging.prose import find_prose
from musify.languages.python.packaging.versions import find_versions
from musify.model import Edit, Finding


def convert_packaging(unit: BuildUnit, module: PythonModule) -> Iterator[Edit | Finding]:
    """All that builds CUDA in one file. A later pass is silent where an earlier one spoke."""
    use = ExtensionUse(module)
    result = BuildConversion()
    result.take(find_extensions(unit, use))
    if not (use.builds_cuda and use.builds_musa_already):
        for found in _passes(unit, module, use):
            result.take(found)
    yield from result.edits
    yield from result.findings


def _passes(unit: BuildUnit, module: PythonModule, use: ExtensionUse) -> Iterator[Iterator[Edit | Finding]]:
    yield find_versions(unit, module)
    yield find_flags(unit, module)
    yield find_list_commands(unit, module)
    yield find_command_lines(unit, module)
    yield find_programs(unit, module, use.builds_cuda)
    yield find_folders(module)
    yield find_capabilities(module)
    yield find_prose(unit, module)
    yield find_own_names(module)
