"""Names of renamed sources in build files, and patterns over a CUDA suffix."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.build.unit import BuildUnit, TokenKind
from musify.languages.registry import RENAMED_SUFFIXES, RESTORED_SUFFIXES
from musify.languages.surroundings import BuildSurroundings
from musify.model import Applicability, Edit, Finding, Span
from musify.source.words import occurrences

RENAMED_FILE = "renamed-file"
FILE_PATTERN = "file-pattern"
_SUFFIX = re.compile(rb"\.(?:cuh|cu)\b(?![\w.])")
_RESTORED = re.compile(rb"\.(?:muh|mu)\b(?![\w.])")
_WORD = re.compile(rb"[\w./${}@+*?%()-]*\Z")
_LONGEST_PATH = 400
# Beginnings of a path that say nothing of its place in the tree: variables, `./`, `../`, the root.
_FOLDERS_UP = re.compile(rb"\A(?:.*[$@%}{)(][^/]*/)?(?:\.{1,2}/|/)*")
_ABSOLUTE = re.compile(rb"/|[A-Za-z]:[/\\]")
# What makes a name a pattern or one that the build tool puts together.
_PUT_TOGETHER = re.compile(rb"[*?%$\[{(]")


def find_files(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """An edit for every mention of a renamed file and every pattern over a suffix that the run renames."""
    suffix, pattern = (b".mu", _RESTORED) if unit.settings.reverse else (b".cu", _SUFFIX)
    if not unit.surroundings.renamed:
        return
    for token in unit.tokens_at(occurrences(unit.data, suffix)):
        if token.kind in (TokenKind.WORD, TokenKind.STRING, TokenKind.SOURCE, TokenKind.OTHER):
            for match in pattern.finditer(unit.data, token.start, token.end):
                yield from _mention(unit, Span(*match.span()), token.start)


def _mention(unit: BuildUnit, suffix: Span, floor: int) -> Iterator[Edit | Finding]:
    data = unit.data
    head = _WORD.search(data, max(floor, suffix.start - _LONGEST_PATH), suffix.start)
    start = head.start() if head else suffix.start
    text = data[start : suffix.end]
    shown = text.decode("utf-8", "replace")
    suffixes = RESTORED_SUFFIXES if unit.settings.reverse else RENAMED_SUFFIXES
    new_suffix = suffixes[data[suffix.start : suffix.end].decode()].encode()
    base = text.rpartition(b"/")[2]
    if base == data[suffix.start : suffix.end] and _is_member(data, Span(start, suffix.end)):
        return
    if base == data[suffix.start : suffix.end] or _PUT_TOGETHER.search(base) or _is_ending(unit, start, text):
        yield Edit(suffix, new_suffix, FILE_PATTERN, Applicability.REVIEW)
        target = (text[: -len(base)] + base[: -(suffix.end - suffix.start)] + new_suffix).decode("utf-8", "replace")
        yield Finding("MUS502", Span(start, suffix.end), shown, {"target": target})
        return
    known = unit.surroundings.renamed.get(base, ())
    if is_renamed(unit.surroundings, text):
        yield Edit(suffix, new_suffix, RENAMED_FILE)
    elif known:
        yield Finding("MUS501", Span(start, suffix.end), shown, {"target": known[0].new_path, "path": known[0].path})


def _is_ending(unit: BuildUnit, start: int, text: bytes) -> bool:
    """Whether `text` only ends the names of renamed sources: f"{name}_gpu.cu", name + "_gpu.cu"."""
    renamed = unit.surroundings.renamed
    goes_on = text[:1] in (b"_", b"-", b".") or unit.data[start - 1 : start] == b"}"
    return goes_on and b"/" not in text and text not in renamed and any(name.endswith(text) for name in renamed)


def new_path(surroundings: BuildSurroundings, path: bytes) -> bytes:
    """A path that a build file names under the name that it gets in this run; also one that the build puts together."""
    stem, dot, suffix = path.rpartition(b".")
    new = RENAMED_SUFFIXES.get((dot + suffix).decode("utf-8", "replace"))
    if new is None or not surroundings.renamed:
        return path
    is_pattern = _PUT_TOGETHER.search(path.rpartition(b"/")[2]) is not None
    return stem + new.encode() if is_pattern or is_renamed(surroundings, path) else path


def is_renamed(surroundings: BuildSurroundings, path: bytes) -> bool:
    """Whether a path that a build file names is that of a source that the run renames."""
    tail = "/" + _FOLDERS_UP.sub(b"", path).decode("utf-8", "surrogateescape")
    known = surroundings.renamed.get(path.rpartition(b"/")[2], ())
    if any(f"/{target.path}".endswith(tail) for target in known):
        return True
    # An absolute path leads through the folders above the run.
    inside = [target for target in known if len(known) == 1 or "/" in target.path]
    return _ABSOLUTE.match(path) is not None and any(tail.endswith(f"/{target.path}") for target in inside)


def _is_member(data: bytes, span: Span) -> bool:
    """`x).cu` and `.cu(...)` are code, not a suffix."""
    return data[span.start - 1 : span.start] in (b")", b"]") or data[span.end : span.end + 1] == b"("
