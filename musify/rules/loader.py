"""Reads rule files and refuses bad ones: unknown keys, duplicate names, rules that can never match.

The result is made of plain built-in types, so that it can be cached with `marshal`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from musify.model import ARCHITECTURES, Evidence, MusifyError, Severity
from musify.rules.model import Policy

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Table = dict[str, Any]

_NAME = re.compile(r"[A-Za-z_][\w.+-]*(?:(?:::|/)[\w.+-]+)*\Z")
_TOP = {"library", "headers", "names", "rename", "unsupported", "known_issue", "absent", "changed"}
_LIBRARY_KEYS = {
    "id": str, "name": str, "target": str, "policy": str, "convention": list, "link": dict, "lookalike": str,
    "min_sdk": str, "finding": str, "instead": str, "instead_zh": str, "version_macros": str,
    "architecture_macros": str, "owners": str, "owner_map": dict, "needs": str, "inside": list, "one_way": str,
}  # fmt: skip
_NAMES_KEYS = {"kind": str, "evidence": str, "since": str, "list": str, "library": str}
_HEADER_KEYS = {"evidence": str, "since": str, "same": str, "map": dict, "library": str}
_NOTE_KEYS = {
    "names": str, "why": str, "why_zh": str, "source": str, "architectures": list, "below_sdk": str, "severity": str,
}  # fmt: skip
# Where the notes of a file go: by key of the file, the table, and whether it holds several notes a name.
_NOTES = {
    "unsupported": ("unsupported", False), "known_issue": ("known_issues", True),
    "absent": ("absent", False), "changed": ("changed", True),
}  # fmt: skip


def empty_tables() -> Table:
    """The compiled form of no rules at all."""
    return {
        "libraries": [], "groups": [], "names": {}, "renames": {}, "headers": {}, "notes": [],
        "unsupported": {}, "known_issues": {}, "absent": {}, "changed": {},
        "version_macros": {}, "architecture_macros": {}, "own_words": {}, "warnings": [],
    }  # fmt: skip


def load_api_rules(files: Iterable[Path]) -> Table:
    """Compile the rule files of the API families. Raises MusifyError at the first mistake, with file and line."""
    tables = empty_tables()
    for path in files:
        _RuleFile(path, read_toml(path)).add_to(tables, own=False)
    return tables


def add_user_rules(tables: Table, path: Path) -> None:
    """Put a user's rule file over `tables`: what it says of a name wins. Raises MusifyError."""
    _RuleFile(path, read_toml(path)).add_to(tables, own=True)


def read_toml(path: Path) -> Table:
    """A TOML file as a table. Raises MusifyError with file and line where it cannot be read."""
    data = read_rules(path)
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = str(error)
        line = re.search(r"at line (\d+)", message)
        place = f"{path}:{line.group(1)}" if line else f"{path}"
        raise MusifyError(f"{place}: not valid TOML: {message}") from error
    except RecursionError as error:
        raise MusifyError(f"{path}: not valid TOML: its values are nested too deeply") from error


def read_rules(path: Path) -> bytes:
    """What stands in a rule file. Raises MusifyError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise MusifyError(f"{path}: cannot read the rule file: {error.strerror or error}") from error


class _RuleFile:
    """One rule file on its way into the tables."""

    def __init__(self, path: Path, content: Table) -> None:
        self.path = path
        self.content = content
        self._text: str | None = None

    def add_to(self, tables: Table, *, own: bool) -> None:
        self._keys(self.content, dict.fromkeys(_TOP, object), "the file")
        library = self._library(tables, own)
        claimed: dict[bytes, str] = {}
        self._names(tables, library, claimed, own)
        self._headers(tables, library, claimed, own)
        self._renames(tables, library, own)
        for key in _NOTES:
            self._notes(tables, key, own)

    def _library(self, tables: Table, own: bool) -> int:
        table = self.content.get("library")
        if table is None:
            if not own:
                raise self._error("", "the file has no [library] table")
            table = {"id": "project", "name": "project rules", "target": "MUSA", "policy": "rename"}
        self._keys(table, _LIBRARY_KEYS, "[library]")
        for key in ("id", "name", "target", "policy"):
            if key not in table:
                raise self._error("[library]", f"[library] lacks the key {key!r}")
        if table["policy"] not in [policy.value for policy in Policy]:
            raise self._error(table["policy"], f"policy {table['policy']!r} is neither 'rename' nor 'keep'")
        for pair in table.get("convention", []):
            if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(item, str) for item in pair)):
                raise self._error("convention", "a convention is a list of [CUDA prefix, MUSA prefix] pairs")
        identifier = table["id"]
        existing = [index for index, item in enumerate(tables["libraries"]) if item["id"] == identifier]
        if existing and not own:
            raise self._error(identifier, f"library {identifier!r} is defined twice")
        if existing:
            return existing[0]
        tables["libraries"].append(table)
        index = len(tables["libraries"]) - 1
        for key in ("version_macros", "architecture_macros"):
            for name in table.get(key, "").split():
                tables[key][name.encode()] = index
        return index

    def _group(self, tables: Table, library: int, table: Table, kind: str, own: bool) -> int:
        named = table.get("library")
        if named is not None:
            known = [index for index, item in enumerate(tables["libraries"]) if item["id"] == named]
            if not own or not known:
                raise self._error(named, f"library {named!r} is not one of ours" if own else "one library a file")
            library = known[0]
        tables["groups"].append((library, kind, self._evidence(table), table.get("since", "")))
        return len(tables["groups"]) - 1

    def _evidence(self, table: Table) -> str:
        evidence = str(table.get("evidence"))
        if evidence not in [item.value for item in Evidence]:
            raise self._error(evidence, f"evidence {evidence!r} is none of code, documented, table, none, sdk")
        return evidence

    def _names(self, tables: Table, library: int, claimed: dict[bytes, str], own: bool) -> None:
        for table in self._array("names"):
            self._keys(table, _NAMES_KEYS, "[[names]]")
            if "list" not in table or ("kind" not in table and not own):
                raise self._error("[[names]]", "[[names]] needs the keys 'kind' and 'list'")
            if "kind" not in table:
                self._attest(tables, table, claimed)
                continue
            group = self._group(tables, library, table, table["kind"], own)
            for name in table["list"].split():
                self._claim(name, claimed)
                encoded = name.encode()
                if encoded in tables["names"] and not own:
                    raise self._error(name, f"{name} is already listed by another library")
                tables["names"][encoded] = group

    def _attest(self, tables: Table, table: Table, claimed: dict[bytes, str]) -> None:
        """Names and headers that other files list: only their evidence becomes another."""
        evidence = self._evidence(table)
        groups: dict[int, int] = {}

        def attested(group: int) -> int:
            if group not in groups:
                library, kind, _, since = tables["groups"][group]
                tables["groups"].append((library, kind, evidence, since))
                groups[group] = len(tables["groups"]) - 1
            return groups[group]

        for name in table["list"].split():
            self._claim(name, claimed)
            encoded = name.encode()
            if encoded in tables["names"]:
                tables["names"][encoded] = attested(tables["names"][encoded])
            elif encoded in tables["headers"]:
                target, group = tables["headers"][encoded]
                tables["headers"][encoded] = (target, attested(group))
            else:
                raise self._error(name, f"{name} is on no list of names: give its kind and library")

    def _headers(self, tables: Table, library: int, claimed: dict[bytes, str], own: bool) -> None:
        for table in self._array("headers"):
            self._keys(table, _HEADER_KEYS, "[[headers]]")
            group = self._group(tables, library, table, "header", own)
            entries = {name: name for name in table.get("same", "").split()}
            for name, target in table.get("map", {}).items():
                if not isinstance(target, str) or name == target:
                    raise self._error(name, f"header {name} must map to another name; use 'same' where it stays")
                entries[name] = target
            for name, target in entries.items():
                self._claim(name, claimed)
                if name.encode() in tables["headers"] and not own:
                    raise self._error(name, f"header {name} is already listed by another library")
                tables["headers"][name.encode()] = (target.encode(), group)

    def _renames(self, tables: Table, library: int, own: bool) -> None:
        group = -1
        renames = self.content.get("rename", {})
        if not isinstance(renames, dict):
            raise self._error("rename", "write [rename], a table of CUDA names with their MUSA names")
        for name, target in renames.items():
            if not isinstance(target, str) or not _NAME.match(target):
                raise self._error(name, f"{name} must be given a MUSA name, not {target!r}")
            if name == target:
                raise self._error(name, f"{name} is renamed to itself: the rule can never match")
            encoded = name.encode()
            if encoded not in tables["names"] and not own:
                raise self._error(name, f"{name} is on no list of names: the rule can never match")
            if own:
                if group < 0:
                    tables["groups"].append((library, "name", Evidence.PROJECT.value, ""))
                    group = len(tables["groups"]) - 1
                self._claim(name, {})
                tables["names"][encoded] = group
            tables["renames"][encoded] = target.encode()
            if own:
                for key in ("unsupported", "absent", "changed"):
                    tables[key].pop(encoded, None)

    def _notes(self, tables: Table, key: str, own: bool) -> None:
        goal, several = tables[_NOTES[key][0]], _NOTES[key][1]
        for table in self._array(key):
            self._keys(table, _NOTE_KEYS, f"[[{key}]]")
            self._gates(table)
            for needed in ("names", "why", "source"):
                if needed not in table:
                    raise self._error(f"[[{key}]]", f"[[{key}]] lacks the key {needed!r}")
            tables["notes"].append(
                (
                    table["why"], table.get("why_zh", table["why"]), table["source"],
                    tuple(table.get("architectures", ())), table.get("below_sdk", ""), table.get("severity", ""),
                )
            )  # fmt: skip
            index = len(tables["notes"]) - 1
            for name in table["names"].split():
                encoded = name.encode()
                known = encoded in tables["names"] or encoded in tables["headers"] or "::" in name
                if not known and not own:
                    raise self._error(name, f"{name} is on no list of names: the rule can never match")
                if several:
                    goal.setdefault(encoded, []).append(index)
                else:
                    goal[encoded] = index

    def _gates(self, table: Table) -> None:
        for architecture in table.get("architectures", ()):
            if architecture not in ARCHITECTURES:
                raise self._error(str(architecture), f"{architecture!r} is none of {', '.join(ARCHITECTURES)}")
        if not re.fullmatch(r"(\d+(\.\d+)*)?", table.get("below_sdk", "")):
            raise self._error(table["below_sdk"], f"below_sdk {table['below_sdk']!r} is no version, such as 5.1")
        if table.get("severity", "error") not in [item.value for item in Severity]:
            raise self._error(table["severity"], f"severity {table['severity']!r} is none of error, warning, note")

    def _array(self, key: str) -> list[Table]:
        tables = self.content.get(key, [])
        if not isinstance(tables, list) or not all(isinstance(item, dict) for item in tables):
            raise self._error(key, f"write [[{key}]], with two brackets")
        return tables

    def _claim(self, name: str, claimed: dict[bytes, str]) -> None:
        if not _NAME.match(name):
            raise self._error(name, f"{name!r} is no name")
        if name.encode() in claimed:
            raise self._error(name, f"{name} is listed twice", last=True)
        claimed[name.encode()] = name

    def _keys(self, table: Mapping[str, Any], allowed: Mapping[str, type], where: str) -> None:
        for key, value in table.items():
            if key not in allowed:
                known = ", ".join(sorted(allowed))
                raise self._error(key, f"unknown key {key!r} in {where}; known are {known}")
            if not isinstance(value, allowed[key]):
                raise self._error(key, f"{key} in {where} must be a {allowed[key].__name__}")

    def _error(self, word: str, message: str, *, last: bool = False) -> MusifyError:
        line = self._line_of(word, last)
        return MusifyError(f"{self.path}:{line}: {message}" if line else f"{self.path}: {message}")

    def _line_of(self, word: str, last: bool) -> int | None:
        if not word:
            return None
        if self._text is None:
            self._text = self.path.read_text(encoding="utf-8", errors="replace")
        found = list(re.finditer(rf"(?<![\w]){re.escape(word)}(?![\w])", self._text))
        if not found:
            return None
        match = found[-1] if last else found[0]
        return self._text.count("\n", 0, match.start()) + 1
