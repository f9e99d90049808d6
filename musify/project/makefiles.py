"""Makefiles that include others: which, and what the variables of one hold by what the others do with them."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from musify.model import Span

if TYPE_CHECKING:
    from musify.languages.build.variables import Variables

_INCLUDE = re.compile(rb"(?m)^[ ]*(?:-include|sinclude|include)[ \t]+([^#\n]+)")
# Beginnings of a path that say nothing of its place in the tree: variables and calls, `./`, `../`.
_PUT_TOGETHER = re.compile(r"\A(?:.*[$@)}][^/]*/|.*\)(?=[\w.])|\.{1,2}/|/)+")

Read = Callable[[str], bytes]


def included_paths(path: str, data: bytes, known: Mapping[str, Collection[str]]) -> set[str]:
    """The files of a run that the makefile at `path` includes; `known` are the run's files by base name."""
    lines = _INCLUDE.findall(data)
    if not lines:
        return set()
    from musify.languages.shell.quoting import words_of  # here, for most runs have nothing that includes

    found = set()
    for line in lines:
        for word in words_of(line, Span(0, len(line))):
            target = _resolve(path, word.text.decode("utf-8", "surrogateescape"), known)
            if target is not None and target != path:
                found.add(target)
    return found


def _resolve(path: str, word: str, known: Mapping[str, Collection[str]]) -> str | None:
    """Beside the makefile, from the top of the run, or by the end of the path where only one file fits."""
    plain = _PUT_TOGETHER.sub("", word)
    files = known.get(posixpath.basename(plain), ())
    folder = posixpath.dirname(path)
    for candidate in (posixpath.normpath(posixpath.join(folder, word)), posixpath.normpath(word)):
        if candidate in files:
            return candidate
    tail = "/" + plain
    fitting = [file for file in files if f"/{file}".endswith(tail)]
    return fitting[0] if len(fitting) == 1 else None


def by_name(paths: Iterable[str]) -> dict[str, set[str]]:
    """Paths by their base name."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in paths:
        found[posixpath.basename(path)].add(path)
    return found


def linked_variables(paths: Collection[str], read: Read) -> dict[str, Variables]:
    """For each makefile that includes another one or is included: what the variables of these hold."""
    known = by_name(paths)
    includes = {path: included_paths(path, read(path), known) for path in paths}
    included_by: dict[str, set[str]] = defaultdict(set)
    for path, targets in includes.items():
        for target in targets:
            included_by[target].add(path)
    linked = {path for path, targets in includes.items() if targets} | set(included_by)
    if not linked:
        return {}
    from musify.languages.make.names import variables_in

    own = {path: variables_in(read(path)) for path in sorted(linked)}
    # Files that one makefile includes see each other's variables there.
    return {path: _joined(own, _reached(_reached({path}, included_by), includes) - {path}) for path in sorted(linked)}


def _reached(paths: Collection[str], graph: Mapping[str, Collection[str]]) -> set[str]:
    """These files and what the graph leads to from them."""
    found = set(paths)
    pending = list(paths)
    while pending:
        new = set(graph.get(pending.pop(), ())) - found
        found |= new
        pending += new
    return found


def _joined(own: Mapping[str, Variables], paths: Collection[str]) -> Variables:
    from musify.languages.build.variables import Variables

    whole = Variables()
    for path in sorted(paths):
        whole.join(own[path])
    return whole
