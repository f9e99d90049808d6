"""What headers declare for those who include them: names, kinds, signatures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from musify.clang.parsing import Complaint, complaints, parse

# Cursor kinds of libclang, in the words that rules/api uses.
_KINDS = {
    "FUNCTION_DECL": "function",
    "FUNCTION_TEMPLATE": "function",
    "CXX_METHOD": "method",
    "STRUCT_DECL": "struct",
    "CLASS_DECL": "struct",
    "UNION_DECL": "struct",
    "CLASS_TEMPLATE": "struct",
    "ENUM_DECL": "enum",
    "ENUM_CONSTANT_DECL": "enumerator",
    "TYPEDEF_DECL": "typedef",
    "TYPE_ALIAS_DECL": "using",
    "TYPE_ALIAS_TEMPLATE_DECL": "using",
    "USING_DECLARATION": "using",
    "VAR_DECL": "variable",
    "MACRO_DEFINITION": "macro",
}
_AROUND = frozenset({"LINKAGE_SPEC", "UNEXPOSED_DECL", "NAMESPACE", "ENUM_DECL"})
_CLASSES = frozenset({"STRUCT_DECL", "CLASS_DECL", "CLASS_TEMPLATE"})
_PROBE = "public_declarations.cu"


class PublicDeclaration(NamedTuple):
    """One declaration: its name with namespaces and classes (`nvcuda::wmma::mma_sync`), kind as in rules/api, place.

    `signature`: the type of a function (`cudaError_t (void **, size_t)`), method or variable, what a typedef stands
    for, the value of an enumerator, the text of a macro with its parameters; empty for the rest. `line` is 1-based.
    """

    name: str
    kind: str
    signature: str
    path: str
    line: int


def public_declarations(
    headers: Sequence[str], arguments: Sequence[str], within: Sequence[Path]
) -> tuple[list[PublicDeclaration], list[Complaint]]:
    """What `headers` (as an #include <...> names them) and those that they include declare, in their order.

    Only what lies in files below one of the folders `within` is listed. `arguments` as in `flags`. The second
    result is what clang complained of: with an error a list may lack declarations. Raises MusifyError.
    """
    source = "".join(f"#include <{header}>\n" for header in headers).encode()
    parsed = parse(_PROBE, source, arguments, macros=True, bodies=False)
    folders = [folder.resolve() for folder in within]

    @cache
    def is_within(path: str) -> bool:
        return any(folder in Path(path).resolve().parents for folder in folders)

    found = [item for item in _declared(parsed.cursor, ()) if is_within(item.path)]
    return list(dict.fromkeys(found)), complaints(parsed)


def _declared(around: Any, scope: tuple[str, ...]) -> Iterator[PublicDeclaration]:
    for cursor in around.get_children():
        kind = cursor.kind.name
        file = cursor.location.file
        if file is None:
            continue  # the compiler's own
        name = "" if cursor.is_anonymous() else cursor.spelling
        if kind in _KINDS and name and "(" not in name.partition("operator")[0]:
            full = "::".join((*scope, name))
            yield PublicDeclaration(full, _KINDS[kind], _signature(cursor, kind), file.name, cursor.location.line)
        inner = (*scope, name) if name and (kind == "NAMESPACE" or kind in _CLASSES or _is_scoped(cursor)) else scope
        if kind in _AROUND:
            yield from _declared(cursor, inner)
        elif kind in _CLASSES and cursor.is_definition():
            yield from (item for item in _declared(cursor, inner) if item.kind == "method")


def _is_scoped(cursor: Any) -> bool:
    return bool(cursor.kind.name == "ENUM_DECL" and cursor.is_scoped_enum())


def _signature(cursor: Any, kind: str) -> str:
    if kind == "MACRO_DEFINITION":
        return _macro_text(cursor)
    if kind == "ENUM_CONSTANT_DECL":
        return str(cursor.enum_value)
    if kind in ("TYPEDEF_DECL", "TYPE_ALIAS_DECL"):
        return str(cursor.underlying_typedef_type.spelling)
    if kind in ("FUNCTION_DECL", "FUNCTION_TEMPLATE", "CXX_METHOD", "VAR_DECL"):
        return str(cursor.type.spelling)
    return ""


def _macro_text(cursor: Any) -> str:
    """What follows the name of a macro: its parameters and what it stands for, white space made one blank."""
    start = cursor.extent.start
    text = _bytes(start.file.name)[start.offset : cursor.extent.end.offset]
    return " ".join(text.decode("utf-8", "replace").replace("\\\n", " ").split())[len(cursor.spelling) :].strip()


@lru_cache(maxsize=8)
def _bytes(path: str) -> bytes:
    return Path(path).read_bytes()
