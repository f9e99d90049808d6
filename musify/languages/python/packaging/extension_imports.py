"""Imports of PyTorch's module for extensions, in every form, and the uses that hang on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from musify.languages.python.import_edits import beside, without_items
from musify.languages.python.imports import ImportItem, ImportStatement
from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import name_of, span_of
from musify.languages.python.packaging.facts import extension
from musify.languages.python.references import Meaning, Reference
from musify.model import Applicability, Edit, Finding, Span

if TYPE_CHECKING:
    from tree_sitter import Node

EXTENSION_NAME = "torch-extension"


class ModuleUse(NamedTuple):
    """A use of something from the module: `name` in it, empty where the module itself is meant."""

    reference: Reference
    meaning: Meaning
    name: str


class ExtensionImports:
    """Writes the imports and uses of one file anew."""

    def __init__(self, data: bytes, module: PythonModule, uses: Sequence[ModuleUse]) -> None:
        self._data = data
        self._module = module
        self._uses = uses
        self._facts = extension()
        self._depth = self._facts.module.count(".") + 1
        self._new: dict[tuple[int, str], tuple[ImportStatement, list[str]]] = {}  # statements to write, by their place

    def results(self) -> Iterator[Edit | Finding]:
        """Edits for the imports and for all that is used through them; a name that is taken is a finding."""
        for statement in self._module.imports:
            if statement.module == self._facts.module:
                yield from self._from_module(statement)
        for use in self._uses:
            if (
                self._facts.target(use.name)
                and use.meaning.first > self._depth
                and not self._module.scopes.lookup(use.reference.parts[0])
            ):
                yield from self._through_star(use)
        for binding, uses in self._through_modules():
            yield from self._through(binding, uses)
        for (_, module), (statement, names) in self._new.items():
            span, text = beside(self._data, statement, module, list(dict.fromkeys(names)))
            yield _edit(span, text, self._facts.module)

    def _from_module(self, statement: ImportStatement) -> Iterator[Edit | Finding]:
        """`from torch.utils.cpp_extension import a, b as c`."""
        taken = [item for item in statement.items if self._is_taken(item)]
        for item in taken:
            yield Finding("MUS542", span_of(item.node), item.name, {"module": self._facts.musa})
        moved = [item for item in statement.items if self._facts.target(item.name) and item not in taken]
        if moved and len(moved) == len(statement.items) and statement.module_node is not None:
            yield renamed(statement.module_node, self._facts.musa)
            yield from (renamed(item.name_node, self._facts.target(item.name)) for item in moved)
        elif moved:
            yield from without_items(self._data, statement, moved, EXTENSION_NAME, self._facts.evidence)
            self._add(statement, self._facts.musa, [self._as_written(item) for item in moved])
        for item in moved:
            yield from self._variable(statement, item)

    def _is_taken(self, item: ImportItem) -> bool:
        target = self._facts.target(item.name)
        scope = self._module.scopes.at(item.node.start_byte)
        return bool(target) and target != item.name and not item.alias and target in scope.bindings

    def _as_written(self, item: ImportItem) -> str:
        target = self._facts.target(item.name)
        return f"{target} as {item.alias}" if item.alias else target

    def _variable(self, statement: ImportStatement, item: ImportItem) -> Iterator[Edit]:
        """All that stands for an imported name: uses, and other values that it gets (`CUDA_HOME = None`)."""
        if item.alias:
            return
        target = self._facts.target(item.name)
        scope = self._module.scopes.at(item.node.start_byte)
        yield from (renamed(node, target) for node in self._module.scopes.uses(scope, item.name))
        for declaration in self._module.of_type("global_statement", "nonlocal_statement"):
            names = (child for child in declaration.named_children if child.text == item.name.encode())
            yield from (renamed(child, target) for child in names)

    def _through_star(self, use: ModuleUse) -> Iterator[Edit]:
        """After `from torch.utils.cpp_extension import *`."""
        target = self._facts.target(use.name)
        statement = next(item for item in self._module.imports if item.star and item.module == self._facts.module)
        self._add(statement, self._facts.musa, [target])
        yield renamed(use.reference.parts[0], target)

    def _through_modules(self) -> Iterator[tuple[Node, list[ModuleUse]]]:
        """Uses through a name that stands for the module or a package around it, by the binding of that name."""
        found: dict[int, tuple[Node, list[ModuleUse]]] = {}
        for use in self._uses:
            bindings = self._module.scopes.lookup(use.reference.parts[0])
            bound = [binding.node for binding in bindings if binding.target]
            if use.meaning.first <= self._depth and bound:
                found.setdefault(bound[0].id, (bound[0], []))[1].append(use)
        yield from found.values()

    def _through(self, binding: Node, uses: Sequence[ModuleUse]) -> Iterator[Edit]:
        statement, item = next(
            (statement, item)
            for statement in self._module.imports
            for item in statement.items
            if item.bound.id == binding.id
        )
        moved = [use for use in uses if self._facts.target(use.name)]
        if not moved:
            return
        package, _, last = self._facts.musa.rpartition(".")
        if item.target != self._facts.module:
            self._add(self._importing(statement), self._facts.musa, [])
            base = self._facts.musa
        elif len(moved) == len(uses):
            yield from self._in_place(statement, item)
            base = item.alias or last
        else:
            self._add(statement, package, [last])
            base = last
        for use in moved:
            yield from self._chain(use, base)

    def _in_place(self, statement: ImportStatement, item: ImportItem) -> Iterator[Edit]:
        """`from torch.utils import cpp_extension`, `import torch.utils.cpp_extension as x`."""
        package, _, last = self._facts.musa.rpartition(".")
        if statement.module_node is None:
            yield renamed(item.name_node, self._facts.musa)
        elif len(statement.items) == 1:
            yield renamed(statement.module_node, package)
            yield renamed(item.name_node, last)
        else:
            yield from without_items(self._data, statement, [item], EXTENSION_NAME, self._facts.evidence)
            self._add(statement, package, [f"{last} as {item.alias}" if item.alias else last])

    def _importing(self, statement: ImportStatement) -> ImportStatement:
        """The statement that names the module itself, in the scope of one that binds a package around it."""
        scope = self._module.scopes.at(statement.node.start_byte)
        for other in self._module.imports:
            if self._module.scopes.at(other.node.start_byte) is scope and any(
                item.name == self._facts.module for item in other.items
            ):
                return other
        return statement

    def _chain(self, use: ModuleUse, base: str) -> Iterator[Edit]:
        """`cpp_extension.CUDAExtension`: what stands for the module, and the name behind it."""
        parts = use.reference.parts
        index = self._depth - use.meaning.first
        span = Span(parts[0].start_byte, parts[index].end_byte)
        if self._data[span.start : span.end] != base.encode():
            yield _edit(span, base.encode(), self._facts.module)
        yield renamed(parts[index + 1], self._facts.target(use.name))

    def _add(self, statement: ImportStatement, module: str, names: Sequence[str]) -> None:
        self._new.setdefault((statement.node.start_byte, module), (statement, []))[1].extend(names)


def renamed(node: Node, text: str) -> Edit:
    """The edit that gives a node another name."""
    return _edit(span_of(node), text.encode(), name_of(node))


def _edit(span: Span, text: bytes, name: str) -> Edit:
    return Edit(span, text, EXTENSION_NAME, Applicability.SAFE, name, "", extension().evidence)
