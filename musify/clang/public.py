"""What headers declare for those who include them: names, kinds, signatures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from musify.clang.library import load
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
_CALLED = frozenset({"FUNCTION_DECL", "FUNCTION_TEMPLATE"})
_PROBE = "public_declarations.cu"


class Call(NamedTuple):
    """How a function is called: types as they are written and in clang's canonical form, the result's first.

    `required` arguments at least, the others have defaults; `variadic` takes more than it names. The types of a
    `template` depend on its parameters.
    """

    types: tuple[str, ...]
    canonical: tuple[str, ...]
    required: int
    variadic: bool
    template: bool


class PublicDeclaration(NamedTuple):
    """One declaration: its name with namespaces and classes (`nvcuda::wmma::mma_sync`), kind as in rules/api, place.

    Inline namespaces are left out of the name, as they are where it is used. `signature`: the type of a function
    (`cudaError_t (void **, size_t)`), method or variable, what a typedef stands for, the value of an enumerator, the
    text of a macro with its parameters; empty for the rest. `line` is 1-based. `call`: of functions, where asked for.
    """

    name: str
    kind: str
    signature: str
    path: str
    line: int
    call: Call | None = None


def public_declarations(
    headers: Sequence[str], arguments: Sequence[str], within: Sequence[Path]
) -> tuple[list[PublicDeclaration], list[Complaint]]:
    """What `headers` (as an #include <...> names them) and those that they include declare, in their order.

    Only what lies in files below one of the folders `within` is listed. `arguments` as in `flags`. The second
    result is what clang complained of: with an error a list may lack declarations. Raises MusifyError.
    """
    source = "".join(f"#include <{header}>\n" for header in headers).encode()
    parsed = parse(_PROBE, {_PROBE: source}, arguments, macros=True, bodies=False)
    return declarations_of(parsed, within), complaints(parsed)


def declarations_of(
    parsed: Any, within: Sequence[Path], *, calls: bool = False, known: Collection[str] = ()
) -> list[PublicDeclaration]:
    """What a translation unit that was parsed with `macros` declares in files below one of the folders `within`.

    A file below a folder by its name counts, though a link may lead elsewhere; the files `known` are left out.
    `calls`: say how functions are called.
    """
    folders = [folder.resolve() for folder in within]

    @cache
    def is_within(path: str) -> bool:
        parents = {*Path(path).parents, *Path(path).resolve().parents}
        return path not in known and any(folder in parents for folder in (*within, *folders))

    return list(dict.fromkeys(_declared(parsed.cursor, (), is_within, calls)))


def _declared(
    around: Any, scope: tuple[str, ...], is_within: Callable[[str], bool], calls: bool
) -> Iterator[PublicDeclaration]:
    for cursor in around.get_children():
        kind = cursor.kind.name
        file = cursor.location.file
        if file is None or not (kind == "LINKAGE_SPEC" or is_within(file.name)):
            continue  # the compiler's own, or elsewhere
        name = "" if cursor.is_anonymous() else cursor.spelling
        if kind in _KINDS and name and "(" not in name.partition("operator")[0]:
            full = "::".join((*scope, name))
            word = "macro-fn" if _takes_arguments(cursor, kind) else _KINDS[kind]
            call = _call(cursor, kind) if calls and kind in _CALLED else None
            yield PublicDeclaration(full, word, _signature(cursor, kind), file.name, cursor.location.line, call)
        inner = (*scope, name) if name and (_is_named_space(cursor, kind) or kind in _CLASSES) else scope
        if kind in _AROUND:
            yield from _declared(cursor, inner, is_within, calls)
        elif kind in _CLASSES and cursor.is_definition():
            yield from (item for item in _declared(cursor, inner, is_within, calls) if item.kind == "method")


def _takes_arguments(cursor: Any, kind: str) -> bool:
    return kind == "MACRO_DEFINITION" and bool(load().cindex.conf.lib.clang_Cursor_isMacroFunctionLike(cursor))


def _is_named_space(cursor: Any, kind: str) -> bool:
    if kind == "NAMESPACE":
        return not load().cindex.conf.lib.clang_Cursor_isInlineNamespace(cursor)
    return _is_scoped(cursor)


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


def _call(cursor: Any, kind: str) -> Call:
    function = cursor.type
    template = kind == "FUNCTION_TEMPLATE"
    # libclang lists the arguments of functions, but not those of templates.
    parameters = [child for child in cursor.get_children() if child.kind.name == "PARM_DECL"]
    types = (function.get_result(), *(() if not parameters else function.argument_types()))
    return Call(
        tuple(item.spelling for item in types),
        tuple(item.get_canonical().spelling for item in types),
        sum(not _has_default(item) for item in parameters),
        function.kind.name == "FUNCTIONPROTO" and function.is_function_variadic(),
        template,
    )


def _has_default(parameter: Any) -> bool:
    # The size of an array is an expression too; tokens do not show a default that a macro brings.
    expressions = any(child.kind.is_expression() for child in parameter.get_children())
    return expressions and not parameter.type.kind.name.endswith("ARRAY")


def _macro_text(cursor: Any) -> str:
    """What follows the name of a macro: its parameters and what it stands for, white space made one blank."""
    start = cursor.extent.start
    text = _bytes(start.file.name)[start.offset : cursor.extent.end.offset]
    return " ".join(text.decode("utf-8", "replace").replace("\\\n", " ").split())[len(cursor.spelling) :].strip()


@lru_cache(maxsize=8)
def _bytes(path: str) -> bytes:
    return Path(path).read_bytes()
