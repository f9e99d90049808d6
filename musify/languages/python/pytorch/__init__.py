"""PyTorch in Python: torch.cuda and its device, carried over to torch_musa."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.python.module import PythonModule
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
    if b"torch" not in unit.data:
        if unit.surroundings.uses_torch:
            yield from _without_import(module)
        return
    edits: list[Edit] = []
    for passes in (find_names, find_imports, find_written_names, find_methods, find_strings, find_dispatch_keys):
        for item in passes(module):
            if isinstance(item, Edit):
                edits.append(item)
            yield item
    if edits and not imported and not any(_imports_musa(module, edit) for edit in edits):
        yield from import_edits(unit.data, module, edits)


def _imports_musa(module: PythonModule, edit: Edit) -> bool:
    """Whether an edit imports a module of torch_musa at the top of the file, which brings torch_musa with it."""
    at_top = module.scopes.at(edit.span.start) is module.scopes.module
    return at_top and edit.new_text.startswith(b"torch_musa")


def _without_import(module: PythonModule) -> Iterator[Edit | Finding]:
    """What a file that does not mention PyTorch does with tensors and devices; other libraries have such, too."""
    if any(imports_any(module, word.elsewhere) for word in facts.words()):
        return
    for passes in (find_methods, find_strings):
        for item in passes(module):
            if isinstance(item, Edit) and item.applicability is Applicability.SAFE:
                yield item._replace(applicability=Applicability.REVIEW)
                yield Finding("MUS607", item.span, item.name)
