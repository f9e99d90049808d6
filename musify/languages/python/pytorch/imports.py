"""`import torch_musa`, once, after the first import of torch that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from musify.languages.python.imports import ImportStatement
from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import above, text_of, within
from musify.model import Applicability, Edit, Span

if TYPE_CHECKING:
    from tree_sitter import Node

IMPORT = "torch-musa-import"
_LINE = b"import torch_musa  # noqa: F401"
_REST_OF_LINE = re.compile(rb"[ \t]*(?:#[^\r\n]*)?(?=\r?\n|\Z)")


def import_edits(data: bytes, module: PythonModule, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The edits that import torch_musa where torch is imported and the file imports torch_musa nowhere.

    Once at the top of the file; where torch is only imported in functions, once in each function that one of `edits`
    lies in.
    """
    if any(_imports(statement, "torch_musa") for statement in module.imports):
        return
    statements = [item for item in module.imports if _imports(item, "torch")]
    top = next((item for item in statements if _function_of(item) is None and not _is_for_types(item)), None)
    if top is not None:
        takes_musa = any(b"musa" in edit.new_text for edit in edits if _lies_in(edit, top.node))
        yield _before(data, top) if takes_musa else _after(data, top)
        return
    done: set[int] = set()
    for item in statements:
        function = _function_of(item)
        if function is not None and function.id not in done and any(_lies_in(edit, function) for edit in edits):
            done.add(function.id)
            yield _after(data, item)


def _before(data: bytes, place: ImportStatement) -> Edit:
    """The import before `from torch import musa`, which finds torch.musa only once torch_musa is imported."""
    start = place.span.start
    line = data.rfind(b"\n", 0, start) + 1
    indentation = data[line:start]
    if indentation.strip():
        return Edit(Span(start, start), b"import torch_musa; ", IMPORT, Applicability.SAFE)
    newline = b"\r\n" if data[max(0, line - 2) : line] == b"\r\n" else b"\n"
    return Edit(Span(start, start), _LINE + newline + indentation, IMPORT, Applicability.SAFE)


def _after(data: bytes, place: ImportStatement) -> Edit:
    """The import, on a line of its own after another one where that has its line for itself."""
    line = data.rfind(b"\n", 0, place.span.start) + 1
    indentation = data[line : place.span.start]
    rest = _REST_OF_LINE.match(data, place.span.end)
    if rest is None or indentation.strip():  # `a; import torch` and `import torch; b`
        return Edit(Span(place.span.end, place.span.end), b"; import torch_musa", IMPORT, Applicability.SAFE)
    newline = b"\r\n" if data[rest.end() : rest.end() + 2] == b"\r\n" else b"\n"
    following = rest.end() + len(newline)
    if following <= len(data):
        return Edit(Span(following, following), indentation + _LINE + newline, IMPORT, Applicability.SAFE)
    return Edit(Span(rest.end(), rest.end()), newline + indentation + _LINE, IMPORT, Applicability.SAFE)


def _imports(statement: ImportStatement, package: str) -> bool:
    names = [statement.module] if statement.module_node is not None else [item.name for item in statement.items]
    return any(f"{name}.".startswith(f"{package}.") for name in names)


def _function_of(statement: ImportStatement) -> Node | None:
    """The function or class that the statement stands in; None where it runs when the file is imported."""
    return above(statement.node, "function_definition", "class_definition")


def _is_for_types(statement: ImportStatement) -> bool:
    """Whether only a type checker runs the statement."""
    check = above(statement.node, "if_statement")
    if check is None or b"TYPE_CHECKING" not in text_of(check.child_by_field_name("condition")):
        return False
    consequence = check.child_by_field_name("consequence")
    return consequence is not None and within(statement.node, consequence)


def _lies_in(edit: Edit, node: Node) -> bool:
    return node.start_byte <= edit.span.start < node.end_byte
