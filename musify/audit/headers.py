"""A toolkit's headers: which there are, and what they declare. One that does not parse never stops the others."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from musify.clang.parsing import Complaint, Failed, complaints, parse
from musify.clang.public import PublicDeclaration, declarations_of

_SUFFIXES = frozenset({".h", ".hpp", ".hh", ".hxx", ".cuh", ".muh"})
_PROBE = "audit.cu"
_MISSING = "file not found"
# What is declared a second time is declared; clang's own CUDA headers come first.
_TWICE = "redefinition of "
# Each round parses what the one before found no fault with; a fault that every header shares is not got rid of.
_ROUNDS = 2


class Declared(NamedTuple):
    """A declaration, the header that holds it (as an #include names it), and whether clang understood that header."""

    item: PublicDeclaration
    header: str
    certain: bool


class Pass(NamedTuple):
    """Headers to read, and the arguments to read them with (see `clang.flags`)."""

    headers: Sequence[str]
    arguments: Sequence[str]


class Reading(NamedTuple):
    """What headers declare, by name (`lib::name`), and what was wrong: with a fault, names may be missing."""

    headers: tuple[str, ...]
    declared: Mapping[str, tuple[Declared, ...]]
    faults: tuple[Complaint, ...]


def top_headers(roots: Iterable[Path]) -> list[str]:
    """Names of the headers right in the folders `roots`, sorted. Raises nothing for a folder that cannot be read."""
    found = set()
    for root in roots:
        names = os.listdir(root) if os.access(root, os.R_OK) and root.is_dir() else []
        found |= {name for name in names if Path(name).suffix in _SUFFIXES and not (root / name).is_dir()}
    return sorted(found)


def present(names: Iterable[str], roots: Sequence[Path]) -> list[str]:
    """Those of the header names that exist in one of the folders."""
    return [name for name in names if any((root / name).is_file() for root in roots)]


def read(passes: Sequence[Pass], roots: Sequence[Path], *, first: Sequence[str] = (), calls: bool = False) -> Reading:
    """Read headers that lie below `roots`, as each of the passes sees them; faults are those of the first.

    `first` are headers that others may need before them. `calls`: say how functions are called. Raises MusifyError
    where libclang is missing.
    """
    collected = _Collected(roots, calls)
    for number, item in enumerate(passes):
        _read_pass(item.headers, item.arguments, first, collected)
        if number == 0:
            collected.keeps_faults = False
    return collected.reading(list(dict.fromkeys(name for item in passes for name in item.headers)))


def _read_pass(headers: Sequence[str], arguments: Sequence[str], first: Sequence[str], collected: _Collected) -> None:
    """All headers together, then without those that have faults, then each of those alone."""
    sound = list(dict.fromkeys([*first, *headers]))
    faulty: list[str] = []
    for _ in range(_ROUNDS):
        bad = collected.take(sound, arguments)
        if not bad:
            break
        faulty += [name for name in sound if name in bad]
        sound = [name for name in sound if name not in bad]
    for name in faulty:
        collected.take([*(item for item in first if item in sound), name], arguments, alone=name)


class _Collected:
    """What was read so far."""

    def __init__(self, roots: Sequence[Path], calls: bool) -> None:
        self._roots = roots
        self._calls = calls
        self.keeps_faults = True
        # Files that the last reading of several headers found no fault with: what stands in them is collected.
        self._understood: frozenset[str] = frozenset()
        self._declared: dict[str, dict[tuple[str, ...], Declared]] = defaultdict(dict)
        self._faults: dict[Complaint, None] = {}
        self._name_of = cache(self._relative)

    def take(self, headers: Sequence[str], arguments: Sequence[str], *, alone: str = "") -> set[str]:
        """Parse the headers together; the names of those that have faults, or include a file that has.

        Faults are kept only of a header that is read `alone`: others may come from what stands beside it.
        """
        source = "".join(f"#include <{header}>\n" for header in headers).encode()
        try:
            parsed = parse(_PROBE, {_PROBE: source}, arguments, macros=True, bodies=False)
        except Failed:
            self._note(alone, [Complaint(alone, 0, "libclang cannot parse it")])
            return set(headers)
        found = complaints(parsed)
        self._note(alone, found)
        doubtful = {item.path for item in found if not _is_harmless(item)}
        known = self._understood if alone else frozenset[str]()
        if not alone:
            self._understood = frozenset(str(item.include) for item in parsed.get_includes()) - doubtful
        for item in declarations_of(parsed, self._roots, calls=self._calls, known=known):
            self._add(Declared(item, self._name_of(item.path), item.path not in doubtful))
        return _touched(parsed, headers, found, self._name_of)

    def _note(self, alone: str, found: Sequence[Complaint]) -> None:
        for item in found if alone and self.keeps_faults else ():
            if not item.message.startswith(_TWICE):
                self._faults[item._replace(path=alone, line=0) if item.path == _PROBE else item] = None

    def _add(self, new: Declared) -> None:
        key = (new.item.kind, new.item.signature, new.header)
        known = self._declared[new.item.name].get(key)
        if known is None or (new.certain and not known.certain):
            self._declared[new.item.name][key] = new

    def reading(self, headers: Sequence[str]) -> Reading:
        declared = {name: tuple(items.values()) for name, items in self._declared.items()}
        return Reading(tuple(headers), declared, tuple(self._faults))

    def _relative(self, path: str) -> str:
        return relative_name(path, self._roots)


def _is_harmless(fault: Complaint) -> bool:
    """Whether the declarations beside the fault are understood all the same."""
    return fault.message.endswith(_MISSING) or fault.message.startswith(_TWICE)


def relative_name(path: str, roots: Sequence[Path]) -> str:
    """The path of a header as an #include names it: below the innermost of the folders it lies in, else as it is."""
    plain = Path(os.path.normpath(path))
    for root in sorted(roots, key=lambda item: len(item.parts), reverse=True):
        if root in plain.parents:
            return plain.relative_to(root).as_posix()
    return plain.as_posix()


def _touched(parsed: Any, headers: Sequence[str], found: Sequence[Complaint], name_of: Any) -> set[str]:
    """The headers on the list that complaints lie in, or in what they include; all that were not found."""
    bad = {item.message.split("'")[1] for item in found if item.path == _PROBE and item.message.endswith(_MISSING)}
    files = {item.path for item in found}
    includer = {str(item.include): str(item.source) for item in parsed.get_includes()}
    for path in files:
        while path in includer and includer[path] != _PROBE:
            path = includer[path]
        bad.add(name_of(path))
    return bad & set(headers)
