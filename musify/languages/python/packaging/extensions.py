"""Names of torch.utils.cpp_extension become those of torch_musa.utils.musa_extension."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from musify.languages.build.unit import BuildUnit
from musify.languages.python.imports import ImportItem, ImportStatement
from musify.languages.python.module import PythonModule
from musify.languages.python.packaging.extension_imports import ExtensionImports, ModuleUse, renamed
from musify.languages.python.packaging.facts import extension, flag_places, keywords
from musify.model import Edit, Finding, Span

_DEVICE_SOURCE = re.compile(rb"[\w.*+-]+\.cu")


class ExtensionUse:
    """How one file uses PyTorch's module for extensions."""

    def __init__(self, module: PythonModule) -> None:
        self.module = module
        self.facts = extension()

    @cached_property
    def uses(self) -> tuple[ModuleUse, ...]:
        """Each use of something from the module, or of the module itself."""
        depth = self.facts.module.count(".") + 1
        found = []
        for reference in self.module.references:
            meaning = reference.meaning(self.facts.module)
            if meaning is not None:
                parts = meaning.dotted.split(".")
                found.append(ModuleUse(reference, meaning, parts[depth] if len(parts) > depth else ""))
        return tuple(found)

    @cached_property
    def imported(self) -> tuple[tuple[ImportStatement, ImportItem], ...]:
        """The names that are imported from the module."""
        return tuple(
            (statement, item)
            for statement in self.module.imports
            if statement.module == self.facts.module
            for item in statement.items
        )

    @cached_property
    def builds_cuda(self) -> bool:
        """Whether the file builds CUDA with the module."""
        names = {item.name for _, item in self.imported} | {use.name for use in self.uses}
        if names & self.facts.renamed.keys():
            return True
        return bool(names & self.facts.same) and self._mentions_device_code()

    @cached_property
    def builds_musa_already(self) -> bool:
        """Whether the file has a build for MUSA of its own."""
        return any(
            statement.module == self.facts.musa or any(item.target == self.facts.musa for item in statement.items)
            for statement in self.module.imports
        )

    def _mentions_device_code(self) -> bool:
        keys = flag_places().keys["device"]
        if any(literal.text.endswith(b".cu") or literal.text in keys for literal in self.module.strings):
            return True
        return any(argument.name in keywords() for call in self.module.calls for argument in call.arguments)


def find_extensions(unit: BuildUnit, use: ExtensionUse) -> Iterator[Edit | Finding]:
    """Edits for imports, uses and keywords; findings for what has no counterpart.

    Nothing where the file builds no CUDA; only findings where it has a build for MUSA of its own.
    """
    if not use.builds_cuda:
        return
    if use.builds_musa_already:
        yield from _own_build(use)
        return
    for item in ExtensionImports(unit.data, use.module, use.uses).results():
        if isinstance(item, Finding) or unit.text(item.span) != item.new_text:
            yield item
    yield from _build_requirement(unit, use)
    yield from _without_counterpart(use)
    yield from _keywords(use)
    yield from _device_code(unit, use)


def _own_build(use: ExtensionUse) -> Iterator[Finding]:
    for _, item in use.imported:
        if item.name in use.facts.renamed:
            span = Span(item.name_node.start_byte, item.name_node.end_byte)
            yield Finding("MUS542", span, item.name, {"module": use.facts.musa})


def _build_requirement(unit: BuildUnit, use: ExtensionUse) -> Iterator[Finding]:
    """A note where a setup script takes the module in: builds in isolation have only what they require."""
    if unit.surroundings.path.rpartition("/")[2] != "setup.py":
        return
    for statement in use.module.imports:
        if statement.module == use.facts.module or any(use.facts.module == item.target for item in statement.items):
            yield Finding("MUS549", statement.span, use.facts.musa.partition(".")[0])
            return


def _without_counterpart(use: ExtensionUse) -> Iterator[Finding]:
    """Where a name enters the file, or is used through the module."""
    depth = use.facts.module.count(".") + 1
    entered = [(Span(item.node.start_byte, item.node.end_byte), item.name) for _, item in use.imported]
    entered += [(item.reference.span, item.name) for item in use.uses if item.meaning.first <= depth]
    for span, name in entered:
        if not use.facts.target(name) and name not in use.facts.neutral:
            yield Finding("MUS540", span, name or use.facts.module, {"module": use.facts.musa})


def _device_code(unit: BuildUnit, use: ExtensionUse) -> Iterator[Finding]:
    """Sources that keep a name which MUSAExtension does not take for device code."""
    renamed_files = unit.surroundings.renamed
    for literal in use.module.strings:
        base = literal.text.rpartition(b"/")[2]
        if _DEVICE_SOURCE.fullmatch(base) and base not in renamed_files and not (renamed_files and b"*" in base):
            yield Finding("MUS548", literal.span, literal.text.decode("utf-8", "replace"))


def _keywords(use: ExtensionUse) -> Iterator[Edit]:
    functions = [f"{use.facts.module}.{name}" for name in use.facts.same]
    for call in use.module.calls:
        for argument in call.arguments if call.calls(*functions) else ():
            target = keywords().get(argument.name)
            name = argument.node.child_by_field_name("name")
            if target and name is not None:
                yield renamed(name, target)
