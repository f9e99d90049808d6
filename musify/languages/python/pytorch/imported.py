"""Import statements of PyTorch's names, and the uses of names that can no longer be imported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.python.nodes import span_of, text_of
from musify.languages.python.pytorch import facts
from musify.languages.python.pytorch.meaning import below, doubt_of, edit_of, longest, renaming_of
from musify.model import Applicability, Edit, Finding

if TYPE_CHECKING:
    from tree_sitter import Node

    from musify.languages.python.imports import ImportItem, ImportStatement
    from musify.languages.python.module import PythonModule

MODULE_IMPORT = b"from torch import musa"


def find_imports(module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits of import statements, with those of the uses that have to follow; findings for what cannot be imported."""
    for statement in module.imports:
        if statement.module_node is not None and below(statement.module, "torch.cuda"):
            yield from _from_module(module, statement, statement.module_node)
        else:
            for item in statement.items:
                yield from _module_itself(statement, item)


def _from_module(module: PythonModule, statement: ImportStatement, place: Node) -> Iterator[Edit | Finding]:
    """`from torch.cuda.amp import x`, `from torch.cuda import amp`, `from torch.cuda import Stream`."""
    renamed = longest(facts.imports(), statement.module)
    if renamed is not None:
        yield edit_of(place, renamed.musa + statement.module[len(renamed.cuda) :], renamed)
        return
    whole = [longest(facts.imports(), f"{statement.module}.{item.name}") for item in statement.items]
    parents = {item.musa.rpartition(".")[0] for item in whole if item is not None}
    if None not in whole and len(parents) == 1:
        yield edit_of(place, parents.pop(), facts.imports()[-1])
        return
    edits = _rewritten(module, statement)
    yield from edits or [Finding("MUS604", span_of(statement.node), statement.module)]


def _module_itself(statement: ImportStatement, item: ImportItem) -> Iterator[Edit | Finding]:
    """`import torch.cuda`, `import torch.cuda.amp as a`, `from torch import cuda`."""
    whole = item.name if not statement.module else f"{statement.module}.{item.name}"
    if not below(whole, "torch.cuda"):
        return
    renamed, top = longest(facts.imports(), whole), facts.modules()[-1]
    if statement.module:
        yield edit_of(item.name_node, "musa", top)
    elif not item.alias:  # it binds torch, and torch.musa is there once torch_musa is imported
        yield edit_of(item.name_node, "torch", top)
    elif renamed is not None:
        yield edit_of(item.name_node, renamed.musa + whole[len(renamed.cuda) :], renamed)
    elif whole == "torch.cuda" and len(statement.items) == 1:
        yield edit_of(statement.node, f"{MODULE_IMPORT.decode()} as {item.alias}", top)
    else:
        yield Finding("MUS604", span_of(item.node), whole)


def _rewritten(module: PythonModule, statement: ImportStatement) -> list[Edit | Finding]:
    """torch.musa imported instead, and each use written with it; nothing where a name is not this one's alone."""
    if statement.star or b"#" in text_of(statement.node) or not _is_free(module, "musa"):
        return []
    found: list[Edit | Finding] = [edit_of(statement.node, MODULE_IMPORT.decode(), facts.modules()[-1])]
    for item in statement.items:
        edits = _uses(module, item, f"{statement.module}.{item.name}")
        if not edits:
            return []
        found += edits
    return found


def _uses(module: PythonModule, item: ImportItem, whole: str) -> list[Edit | Finding]:
    """The uses of an imported name, written anew; nothing where it stays, has other bindings or no use."""
    renamed, stays = renaming_of(whole)
    bindings = module.scopes.lookup(item.bound)
    if renamed is None or stays is not None or len(bindings) != 1:
        return []
    doubt = doubt_of(whole)
    text = (renamed.musa + whole[len(renamed.cuda) :]).removeprefix("torch.")
    how = Applicability.SAFE if doubt is None else Applicability.REVIEW
    found: list[Edit | Finding] = [
        edit_of(reference.parts[0], text, renamed, how)
        for reference in module.references
        if [binding.node.id for binding in module.scopes.lookup(reference.parts[0])] == [bindings[0].node.id]
    ]
    if found and doubt is not None:
        found.append(Finding("MUS606", span_of(item.node), whole, doubt))
    return found


def _is_free(module: PythonModule, name: str) -> bool:
    """Whether nothing else in the file has this name."""
    scopes = module.scopes
    return not scopes.module.bindings.get(name) and not any(text_of(node) == name.encode() for node in scopes.variables)
