"""Reads mappings in JSON, `{"old": "new"}`, as text replacers take them, and makes rules of them.

A mapping says nothing but texts, so what an entry is about is told from its text: an identifier, the path of a header,
or another word, which only build files have.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from musify.model import Evidence, MusifyError

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*", re.A)
_HEADER = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*\.(?:h|hh|hpp|hxx|h\+\+|cuh|muh|inl|inc)|[\w.+-]+(?:/[\w.+-]+)+", re.A)
_WORD = re.compile(r"[\w.+:/@=-]*\w", re.A)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?')
_LIBRARY = {"id": "project", "name": "project rules", "target": "MUSA", "policy": "rename"}


class Entry(NamedTuple):
    """One line of a mapping, with its 1-based line."""

    old: str
    new: str
    line: int


def add_mapping(tables: dict[str, Any], path: Path, data: bytes, target_of: Callable[[bytes], bytes]) -> None:
    """Put a mapping over `tables`: what it says of a name wins. Odd entries go to the warnings.

    `target_of` says what the tables make of a name. Raises MusifyError, with file and line, for what is no mapping, and
    for entries that contradict each other.
    """
    groups = _Groups(tables)
    for entry in _entries(tables, path, data):
        _add(tables, path, entry, groups, target_of)


class _Groups:
    """The groups of names that a mapping makes: the project's own, or of the library that has the name already."""

    def __init__(self, tables: dict[str, Any]) -> None:
        self._tables = tables
        self._made: dict[tuple[int, str], int] = {}
        known = [index for index, item in enumerate(tables["libraries"]) if item["id"] == _LIBRARY["id"]]
        if not known:
            tables["libraries"].append(dict(_LIBRARY))
        self._own = known[0] if known else len(tables["libraries"]) - 1

    def of_name(self, name: bytes) -> int:
        """The group of a name: one of its library's, where that is one whose names are changed."""
        known = self._tables["names"].get(name)
        if known is None:
            return self._group(self._own, "name")
        library, kind, _, _ = self._tables["groups"][known]
        keeps = self._tables["libraries"][library]["policy"] == "keep"
        return self._group(self._own if keeps else library, kind)

    def of_headers(self) -> int:
        """The group of headers."""
        return self._group(self._own, "header")

    def _group(self, library: int, kind: str) -> int:
        if (library, kind) not in self._made:
            self._tables["groups"].append((library, kind, Evidence.PROJECT.value, ""))
            self._made[library, kind] = len(self._tables["groups"]) - 1
        return self._made[library, kind]


def _add(
    tables: dict[str, Any], path: Path, entry: Entry, groups: _Groups, target_of: Callable[[bytes], bytes]
) -> None:
    old, new = entry.old.encode(), entry.new.encode()
    earlier = tables["own_words"].get(old)
    if earlier not in (None, new):
        _warn(tables, path, entry.line, f"{entry.old} was {earlier.decode()} in a mapping before; {entry.new} wins")
    if _HEADER.fullmatch(entry.old):
        if tables["headers"].get(old, (b"",))[0] != new:
            tables["headers"][old] = (new, groups.of_headers())
    elif _IDENTIFIER.fullmatch(entry.old):
        if old == new and old not in tables["names"]:
            _warn(tables, path, entry.line, f"{entry.old} becomes itself, and no other rule changes it: no effect")
            return
        if old == new or target_of(old) != new or old in tables["unsupported"]:
            tables["names"][old] = groups.of_name(old)
            tables["renames"][old] = new
    elif not _WORD.fullmatch(entry.old):
        what = "is no identifier, header path or word, so it can never match: entries name whole ones"
        _warn(tables, path, entry.line, f"{entry.old!r} {what}")
        return
    for key in ("unsupported", "absent", "changed", "known_issues"):
        tables[key].pop(old, None)
    tables["own_words"][old] = new


def _warn(tables: dict[str, Any], path: Path, line: int, message: str) -> None:
    tables["warnings"].append(f"{path}:{line}: {message}")


def _entries(tables: dict[str, Any], path: Path, data: bytes) -> list[Entry]:
    text = _decoded(path, data)
    lines = _Lines(text)
    found: dict[str, Entry] = {}
    for old, new in _pairs(path, text):
        entry = Entry(old, new, lines.of_key(old))
        if not isinstance(new, str):
            raise MusifyError(f"{path}:{entry.line}: {old} must be given a text, not {json.dumps(new)[:40]}")
        if not new.strip() or "\n" in new or not old.strip():
            raise MusifyError(f"{path}:{entry.line}: {old!r} becomes {new!r}: both must be words of one line")
        if old in found and found[old].new != new:
            raise MusifyError(
                f"{path}:{entry.line}: {old} becomes {new} here and {found[old].new} in line {found[old].line}: "
                "keep one of them"
            )
        if old in found:
            _warn(tables, path, entry.line, f"{old} stands in line {found[old].line} already")
            continue
        found[old] = entry
    return list(found.values())


def _decoded(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise MusifyError(f"{path}:{line}: not valid UTF-8; save the mapping as UTF-8") from error


def _pairs(path: Path, text: str) -> list[tuple[str, Any]]:
    try:
        content = json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise MusifyError(f"{path}:{error.lineno}: not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise MusifyError(f"{path}: not a mapping: its values are nested too deeply") from error
    if not isinstance(content, _Pairs):
        raise MusifyError(f'{path}:1: not a mapping: write one object, {{"old": "new", ...}}')
    return list(content)


class _Pairs(list[tuple[str, Any]]):
    """An object with its keys as often as they stand in it."""


class _Lines:
    """The lines of the keys of a JSON text, each key's places in their order."""

    def __init__(self, text: str) -> None:
        starts = [match.end() for match in re.finditer("\n", text)]
        self._places: dict[str, list[int]] = {}
        for match in _STRING.finditer(text):
            if match.group(2):
                key = json.loads(f'"{match.group(1)}"', strict=False)
                self._places.setdefault(key, []).append(bisect_right(starts, match.start()) + 1)

    def of_key(self, key: str) -> int:
        """The line of the next place of `key`."""
        places = self._places.get(key, [1])
        return places.pop(0) if len(places) > 1 else places[0]
