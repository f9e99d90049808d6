"""`import torch_musa`, once, after the first import of torch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.python.imports import ImportStatement
from musify.languages.python.module import PythonModule
from musify.model import Applicability, Edit, Span

IMPORT = "torch-musa-import"
_LINE = b"import torch_musa  # noqa: F401"
_REST_OF_LINE = re.compile(rb"[ \t]*(?:#[^\r\n]*)?(?=\r?\n|\Z)")


def import_edit(data: bytes, module: PythonModule) -> Iterator[Edit]:
    """The edit that imports torch_musa, where the file imports torch at its top and torch_musa nowhere."""
    if any(_imports(statement, "torch_musa") for statement in module.imports):
        return
    place = next((item for item in module.imports if _imports(item, "torch") and _at_top(item)), None)
    if place is None:
        return
    line = data.rfind(b"\n", 0, place.span.start) + 1
    indentation = data[line : place.span.start]
    rest = _REST_OF_LINE.match(data, place.span.end)
    if rest is None or indentation.strip():  # `a; import torch` and `import torch; b`
        yield Edit(Span(place.span.end, place.span.end), b"; import torch_musa", IMPORT, Applicability.SAFE)
        return
    newline = b"\r\n" if data[rest.end() : rest.end() + 2] == b"\r\n" else b"\n"
    following = rest.end() + len(newline)
    if following <= len(data):
        yield Edit(Span(following, following), indentation + _LINE + newline, IMPORT, Applicability.SAFE)
    else:
        yield Edit(Span(rest.end(), rest.end()), newline + indentation + _LINE, IMPORT, Applicability.SAFE)


def _imports(statement: ImportStatement, package: str) -> bool:
    names = [statement.module] if statement.module_node is not None else [item.name for item in statement.items]
    return any(f"{name}.".startswith(f"{package}.") for name in names)


def _at_top(statement: ImportStatement) -> bool:
    """Whether the statement runs when the module is imported: in no function or class."""
    node = statement.node.parent
    while node is not None:
        if node.type in ("function_definition", "class_definition"):
            return False
        node = node.parent
    return True
