"""Values of expressions and sizes of variables, which libclang's binding for Python has no calls for."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

from musify.clang.library import load

_INTEGER = 1  # CXEval_Int
_WARP_SIZE = "warpSize"
_DEEPEST = 8


@lru_cache(maxsize=1)
def _functions() -> Any:
    """The C functions, with their types declared."""
    cindex = load().cindex
    library = cindex.conf.lib
    library.clang_Cursor_Evaluate.argtypes = [cindex.Cursor]
    library.clang_Cursor_Evaluate.restype = ctypes.c_void_p
    library.clang_EvalResult_getKind.argtypes = [ctypes.c_void_p]
    library.clang_EvalResult_getAsLongLong.argtypes = [ctypes.c_void_p]
    library.clang_EvalResult_getAsLongLong.restype = ctypes.c_longlong
    library.clang_EvalResult_dispose.argtypes = [ctypes.c_void_p]
    library.clang_EvalResult_dispose.restype = None
    library.clang_isInvalidDeclaration.argtypes = [cindex.Cursor]
    return library


def integer(cursor: Any) -> int | None:
    """The value of an expression's cursor; None where it has none, is no integer, or rests on warpSize."""
    functions = _functions()
    result = functions.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        if functions.clang_EvalResult_getKind(result) != _INTEGER:
            return None
        value: int = functions.clang_EvalResult_getAsLongLong(result)
    finally:
        functions.clang_EvalResult_dispose(result)
    # Clang knows a warp as 32 threads, which no source has said then.
    return None if _rests_on_warp_size(cursor, set(), 0) else value


def is_invalid(declaration: Any) -> bool:
    """Whether a declaration has an error in it, such as a type that is not known."""
    return bool(_functions().clang_isInvalidDeclaration(declaration))


def _rests_on_warp_size(cursor: Any, seen: set[int], depth: int) -> bool:
    """Whether an expression names warpSize, or a variable or function whose definition does."""
    if depth > _DEEPEST:
        return True
    for item in cursor.walk_preorder():
        if not item.kind.is_expression():
            continue
        target = item.referenced
        if target is None or target == item or target.hash in seen:
            continue
        seen.add(target.hash)
        if target.spelling == _WARP_SIZE or _rests_on_warp_size(target.get_definition() or target, seen, depth + 1):
            return True
    return False
