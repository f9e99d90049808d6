"""Parsing one text with libclang, and what it complained of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from musify.clang.library import load
from musify.model import MusifyError

_ERROR = 3
_KEEP_GOING = 0x200  # CXTranslationUnit_KeepGoing, which the binding has no name for


class Complaint(NamedTuple):
    """An error of clang: where (path and 1-based line; empty and 0 for none), and what."""

    path: str
    line: int
    message: str


class Failed(MusifyError):
    """libclang gave no result at all for a text."""


def parse(
    path: str, texts: Mapping[str, bytes], arguments: Sequence[str], *, macros: bool = False, bodies: bool = True
) -> Any:
    """The translation unit (clang.cindex.TranslationUnit) of the file at `path`.

    `texts` are those of files, by path, that count in place of what is on disk. It goes on after errors of any kind.
    `macros`: record definitions and uses of macros. `bodies`: look into functions. Raises Failed, and MusifyError where
    libclang is missing.
    """
    library = load()
    unit = library.cindex.TranslationUnit
    options = unit.PARSE_INCOMPLETE | _KEEP_GOING
    if macros:
        options |= unit.PARSE_DETAILED_PROCESSING_RECORD
    if not bodies:
        options |= unit.PARSE_SKIP_FUNCTION_BODIES
    try:
        return library.index.parse(path, list(arguments), list(texts.items()), options)
    except library.cindex.TranslationUnitLoadError as error:
        raise Failed(f"{path}: libclang cannot parse it") from error


def complaints(parsed: Any) -> list[Complaint]:
    """The errors in a translation unit, in order."""
    found = []
    for item in parsed.diagnostics:
        if item.severity >= _ERROR:
            file = item.location.file
            found.append(Complaint(file.name if file else "", item.location.line, item.spelling))
    return found
