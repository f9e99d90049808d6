"""Answers about one source, from one translation unit; asked place by place, for walking all of it takes longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from musify.clang import evaluation
from musify.clang.inclusions import Inclusions, Origin
from musify.clang.library import load
from musify.clang.parsing import complaints
from musify.languages.semantics import Declared
from musify.model import Span

# Declarations that stand around others without giving them a scope of their own.
_TRANSPARENT = frozenset({"LINKAGE_SPEC", "UNEXPOSED_DECL", "TRANSLATION_UNIT"})
_CLASSES = frozenset({"STRUCT_DECL", "UNION_DECL", "CLASS_DECL", "ENUM_DECL"})
_TYPEDEFS = frozenset({"TYPEDEF_DECL", "TYPE_ALIAS_DECL"})
_ARRAYS = frozenset({"CONSTANTARRAY", "INCOMPLETEARRAY"})


class Answers:
    """What libclang says of the file at `path`, whose text is `data` (see `languages.semantics.Semantics`).

    `parsed` is a translation unit that holds the file. `sees_api`: the headers of CUDA were there when it was parsed.
    """

    def __init__(self, parsed: Any, path: str, data: bytes, files: Inclusions, *, sees_api: bool) -> None:
        self._parsed = parsed
        self._data = data
        self._files = files
        self._sees_api = sees_api
        self._cindex = load().cindex
        self._file = parsed.get_file(path)

    @property
    def is_seen(self) -> bool:
        """Whether the translation unit holds the file at all; its main file may not include it."""
        return self._location(0).file is not None

    def declarations(self, word: Span) -> Sequence[Declared]:
        """What the name at `word` refers to; several where an overloaded name could not be told apart."""
        cursor = self._cursor_at(word.start)
        if cursor is None:
            return ()
        is_set = cursor.kind.name == "OVERLOADED_DECL_REF"
        if is_set:
            targets = list(self._overloads(cursor))
        else:
            targets = [cursor if cursor.kind.name == "MACRO_DEFINITION" else cursor.referenced]
        found = [self._declared(item) for item in targets if item is not None and self._is_called(item, word)]
        known = [item for item in found if item is not None]
        if is_set and not self._sees_api and not all(item.is_outer for item in known):
            return ()  # the call may mean an API function that is not seen here
        return known if len(known) == len(found) else ()

    def value(self, expression: Span) -> int | None:
        """The value of an integer expression; None also where it rests on the hardware's warp size."""
        for cursor in self._around(expression):
            extent = cursor.extent
            if cursor.kind.is_expression() and (extent.start.offset, extent.end.offset) == expression:
                value = evaluation.integer(cursor)  # the outer ones may convert the value to a class
                if value is not None:
                    return value
        return None

    def size(self, name: Span) -> int | None:
        """Bytes that the variable declared at `name` takes."""
        cursor = self._cursor_at(name.start)
        if cursor is None or cursor.kind.name not in ("VAR_DECL", "FIELD_DECL") or not self._is_called(cursor, name):
            return None
        if evaluation.is_invalid(cursor) or not _is_known(cursor.type):
            return None
        size: int = cursor.type.get_size()
        return size if size >= 0 else None

    def _is_called(self, cursor: Any, word: Span) -> bool:
        spelling: str = cursor.spelling
        return spelling.encode("utf-8", "surrogateescape") == self._data[word.start : word.end]

    def _cursor_at(self, offset: int) -> Any:
        return self._cindex.Cursor.from_location(self._parsed, self._location(offset))

    def _location(self, offset: int) -> Any:
        return self._cindex.SourceLocation.from_offset(self._parsed, self._file, offset)

    def _overloads(self, cursor: Any) -> Iterator[Any]:
        library = self._cindex.conf.lib
        for index in range(library.clang_getNumOverloadedDecls(cursor)):
            declaration = library.clang_getOverloadedDecl(cursor, index)
            declaration._tu = self._parsed  # the binding leaves it out here, and needs it
            yield declaration

    def _declared(self, target: Any) -> Declared | None:
        """Where a declaration stands that a name refers to; None for those of which nothing can be said."""
        place = target.get_definition() or target.canonical
        location = place.location
        origin = self._files.origin(location.file.name) if location.file else Origin.UNKNOWN
        if origin is Origin.UNKNOWN:
            return None
        if origin is Origin.API:
            return Declared(location.file.name, location.line, True, True, False, False)
        if (location.file.name, location.line) in self._faulty_lines:
            return None  # what follows an unknown macro may look like a declaration of it: void CUDART_CB f();
        outer = target.kind.name == "MACRO_DEFINITION" or _is_outer(place)
        conditional = outer and self._files.is_conditional(location.file.name, location.offset)
        return Declared(location.file.name, location.line, False, outer, conditional, _may_repeat(place, self._files))

    def _around(self, span: Span) -> Iterator[Any]:
        """Cursors that hold the whole of `span`, the outermost first."""
        pending = [cursor for cursor in self._outermost if _holds(cursor, span)]
        while pending:
            cursor = pending.pop(0)
            yield cursor
            pending += [child for child in cursor.get_children() if _holds(child, span)]

    @cached_property
    def _faulty_lines(self) -> set[tuple[str, int]]:
        """Paths and lines where the parser found an error."""
        return {(item.path, item.line) for item in complaints(self._parsed)}

    @cached_property
    def _outermost(self) -> list[Any]:
        """The declarations of the file itself that lie in no other."""
        return [item for item in self._parsed.cursor.get_children() if item.location.file == self._file]


def _is_outer(declaration: Any) -> bool:
    """Whether a declaration stands at file scope or in a namespace without a name, and not as a friend in a class."""
    return _is_at_file_scope(declaration.semantic_parent) and _is_at_file_scope(declaration.lexical_parent)


def _is_at_file_scope(scope: Any) -> bool:
    while scope is not None and scope.kind.name not in _TRANSPARENT:
        is_unnamed = scope.kind.name == "NAMESPACE" and not scope.spelling
        if not is_unnamed and (scope.kind.name != "ENUM_DECL" or scope.is_scoped_enum()):
            return False
        scope = scope.semantic_parent
    return True


def _may_repeat(declaration: Any, files: Inclusions) -> bool:
    """Whether a declaration may be one more of an entity of another library's.

    A typedef at file scope may, of a class that nothing defines (`typedef struct CUstream_st *cudaStream_t;`); so may
    a class that is only named, wherever that is (`struct cudaDeviceProp p;`), and a function without a definition that
    others see, unless it takes or gives a class or an enum of the project.
    """
    kind = declaration.kind.name
    if kind in _CLASSES:
        return not declaration.is_definition()
    if kind in _TYPEDEFS:
        stands_for = declaration.underlying_typedef_type
        return _is_at_file_scope(declaration.semantic_parent) and not _is_known_in_full(declaration, stands_for)
    if kind == "VAR_DECL":
        return evaluation.is_invalid(declaration)  # what the API declares are functions
    if kind != "FUNCTION_DECL" or declaration.is_definition():
        return False
    if not _is_at_file_scope(declaration.semantic_parent) or declaration.linkage.name in ("INTERNAL", "NO_LINKAGE"):
        return False
    types = [declaration.result_type, *(item.type for item in declaration.get_arguments() or ())]
    return evaluation.is_invalid(declaration) or not any(_is_of_the_project(item, files) for item in types)


def _is_known_in_full(declaration: Any, kind: Any) -> bool:
    """Whether a type is no class, or one with a definition; and the same for what it points to."""
    named = _pointed_to(kind)
    is_class = named.kind.name == "RECORD"
    return not evaluation.is_invalid(declaration) and (not is_class or named.get_declaration().is_definition())


def _pointed_to(kind: Any) -> Any:
    """The type itself, or what is at the end of pointers and references."""
    kind = kind.get_canonical()
    while kind.kind.name in ("POINTER", "LVALUEREFERENCE", "RVALUEREFERENCE"):
        kind = kind.get_pointee().get_canonical()
    return kind


def _is_of_the_project(kind: Any, files: Inclusions) -> bool:
    """Whether a type is, or points to, a class or an enum that the project defines."""
    named = _pointed_to(kind)
    if named.kind.name not in ("RECORD", "ENUM"):
        return False
    definition = named.get_declaration().get_definition()
    return definition is not None and files.origin(definition.location.file.name) is Origin.PROJECT


def _is_known(kind: Any) -> bool:
    """Whether all of a type could be understood: an unknown type of a member would count as int."""
    kind = kind.get_canonical()
    while kind.kind.name in _ARRAYS:
        kind = kind.get_array_element_type().get_canonical()
    if kind.kind.name != "RECORD":
        return True
    return not evaluation.is_invalid(kind.get_declaration()) and all(_is_known(item.type) for item in kind.get_fields())


def _holds(cursor: Any, span: Span) -> bool:
    extent = cursor.extent
    return bool(extent.start.offset <= span.start and span.end <= extent.end.offset)
