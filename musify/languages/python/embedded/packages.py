"""Packages that only run on CUDA: a finding where one is imported, a note at each use that speaks of CUDA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from musify.languages.build.facts import cuda_words
from musify.languages.python.embedded.facts import Part, asked, packages
from musify.languages.python.imports import ImportStatement, joined
from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import above, span_of
from musify.model import Finding, Severity, Span

if TYPE_CHECKING:
    from tree_sitter import Node

PACKAGE = "MUS620"


def find_packages(module: PythonModule) -> Iterator[Finding]:
    """Findings for the imports and the uses of packages that have no counterpart."""
    found = list(_imports(module))
    yield from found
    if imported_packages(module) & {part.name.split(".")[0] for part in packages()}:
        for number, use in enumerate(_uses(module)):
            yield use if number or found else use._replace(severity=None)
    yield from _asked(module)


def _asked(module: PythonModule) -> Iterator[Finding]:
    """`@vectorize(..., target="cuda")`."""
    for item in asked() if any(item.value in module.data for item in asked()) else ():
        for call in (call for call in module.calls if call.calls(*item.functions)):
            argument = call.argument(item.keyword)
            literal = module.string(argument.value) if argument is not None else None
            if literal is not None and literal.text == item.value:
                name = f"{item.keyword}={item.value.decode()}"
                yield Finding(PACKAGE, literal.span, name, item.part.arguments)


def imported_packages(module: PythonModule) -> frozenset[str]:
    """The packages that a file imports anything from."""
    names = [statement.module for statement in module.imports]
    names += [item.name for statement in module.imports if not statement.module for item in statement.items]
    return frozenset(name.split(".")[0] for name in names)


def part_of(parts: Sequence[Part], dotted: str) -> Part | None:
    """The part that a dotted name is, or lies in."""
    return next((part for part in parts if f"{dotted}.".startswith(f"{part.name}.")), None)


def imported_parts(module: PythonModule, parts: Sequence[Part]) -> Iterator[tuple[Node, str, Part]]:
    """Imports of parts: the statement's node that names one, the full dotted name, the part."""
    for statement in module.imports:
        for node, name in _names(statement, parts):
            part = part_of(parts, name)
            if part is not None:
                yield node, name, part


def _imports(module: PythonModule) -> Iterator[Finding]:
    for node, name, part in imported_parts(module, packages()):
        severity = Severity.WARNING if above(node, "try_statement", "if_statement") else None
        yield Finding(PACKAGE, span_of(node), name, part.arguments, severity)


def _names(statement: ImportStatement, parts: Sequence[Part]) -> Iterator[tuple[Node, str]]:
    if statement.module_node is not None and part_of(parts, statement.module):
        yield statement.module_node, statement.module
    elif statement.module_node is not None:
        yield from ((item.node, joined(statement.module, item.name)) for item in statement.items)
    else:
        yield from ((item.node, item.name) for item in statement.items)


def _uses(module: PythonModule) -> Iterator[Finding]:
    for reference in module.references:
        part = next((found for m in reference.meanings if (found := part_of(packages(), m.dotted))), None)
        if part is not None and cuda_words().search(module.data, *reference.span):
            span = Span(reference.span.start, reference.span.end)
            yield Finding(PACKAGE, span, reference.written, part.arguments, Severity.NOTE)
