"""PyTorch in Python: torch.cuda and its device, carried over to torch_musa."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import name_of
from musify.languages.python.pytorch import facts
from musify.languages.python.pytorch.dispatch_keys import find_dispatch_keys
from musify.languages.python.pytorch.holders import imports_any
from musify.languages.python.pytorch.imported import find_imports
from musify.languages.python.pytorch.imports import import_edits
from musify.languages.python.pytorch.methods import find_methods
from musify.languages.python.pytorch.names import find_names, find_written_names
from musify.languages.python.pytorch.strings import find_strings
from musify.model import Applicability, Edit, Finding

if TYPE_CHECKING:
    from musify.languages.build.unit import BuildUnit


def convert_pytorch(unit: BuildUnit, module: PythonModule, *, imported: bool = False) -> Iterator[Edit | Finding]:
    """Edits and findings of a file that uses PyTorch. `imported`: other edits import torch_musa already."""
    edits: list[Edit] = []
    for item in _found(unit, module):
        if isinstance(item, Edit):
            edits.append(item)
        yield item
    if edits and not imported and not any(_imports_musa(module, edit) for edit in edits):
        yield from import_edits(unit.data, module, edits)


def _found(unit: BuildUnit, module: PythonModule) -> Iterator[Edit | Finding]:
    """All but the import of torch_musa. Only PyTorch's names are certain in a file that does not import PyTorch."""
    names = (find_names, find_imports, find_written_names, find_dispatch_keys) if b"torch" in unit.data else ()
    for passes in names:
        yield from passes(module)
    device = facts.words()[0]
    if names and _imports_torch(module):
        yield from (
            _doubted(find_methods(module), "MUS605") if imports_any(module, device.alike) else find_methods(module)
        )
        yield from find_strings(module)
    elif unit.surroundings.uses_torch and not imports_any(module, device.elsewhere):
        for passes in (find_methods, find_strings):
            certain = (item for item in passes(module) if isinstance(item, Edit))
            yield from _doubted((edit for edit in certain if edit.applicability is Applicability.SAFE), "MUS607")


def _imports_torch(module: PythonModule) -> bool:
    """Whether a file imports PyTorch, or a package that is called after it; a star import may have brought it, too."""
    names = [name for item in module.imports for name in (item.module, *(one.target for one in item.items))]
    return any(name.startswith("torch") for name in names) or any(
        name_of(reference.parts[0]) == "torch" for reference in module.references
    )


def _doubted(edits: Iterable[Edit], finding: str) -> Iterator[Edit | Finding]:
    """Edits that are marked, each with a finding that says why."""
    for edit in edits:
        yield edit._replace(applicability=Applicability.REVIEW)
        yield Finding(finding, edit.span, edit.name)


def _imports_musa(module: PythonModule, edit: Edit) -> bool:
    """Whether an edit imports a module of torch_musa at the top of the file, which brings torch_musa with it."""
    at_top = module.scopes.at(edit.span.start) is module.scopes.module
    return at_top and edit.new_text.startswith(b"torch_musa")
