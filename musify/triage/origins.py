"""Where a place in converted source comes from: the CUDA line, the edit that made it, what was found there.

Read from the JSON report of the conversion, or from the original tree, converted again in memory.
"""

from __future__ import annotations

import json
import posixpath
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from musify.engine.results import EditRecord, FindingRecord
from musify.model import MusifyError
from musify.report.json_report import SCHEMA_VERSION
from musify.source.document import read
from musify.source.positions import LineMap, TextPosition
from musify.triage.log import Diagnostic, candidates

_TEXT_SHOWN = 120


class Definition(NamedTuple):
    """Where the project declares a name. `guard` is the finding about a condition around it, if there is one."""

    name: str
    path: str
    line: int
    guard: FindingRecord | None


@dataclass
class ConvertedFile:
    """One file of the conversion. `lines` are those of the original, empty where they are not at hand."""

    path: str
    output_path: str
    edits: Sequence[EditRecord] = ()
    findings: Sequence[FindingRecord] = ()
    lines: Sequence[str] = ()
    definitions: Sequence[Definition] = ()

    @cached_property
    def map(self) -> LineMap:
        """Where converted places come from."""
        return LineMap(
            (TextPosition(edit.line, edit.column), TextPosition(edit.end_line, edit.end_column), edit.new_text)
            for edit in self.applied
        )

    @cached_property
    def applied(self) -> list[EditRecord]:
        """The edits that changed the text."""
        return [edit for edit in self.edits if edit.applicability != "manual"]

    @cached_property
    def by_line(self) -> dict[int, list[EditRecord]]:
        """The edits by the line that they start on."""
        found: dict[int, list[EditRecord]] = defaultdict(list)
        for edit in self.applied:
            found[edit.line].append(edit)
        return found


class Origin(NamedTuple):
    """A place in the original: 1-based line, its text where it is at hand, the edit behind it, the findings there."""

    path: str
    line: int
    text: str
    edit: EditRecord | None
    findings: tuple[FindingRecord, ...]


@dataclass
class Origins:
    """The files of a conversion, found by the paths that build logs use."""

    files: Sequence[ConvertedFile] = ()
    _by_name: dict[str, list[ConvertedFile]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for file in self.files:
            for path in {file.output_path, file.path}:
                self._by_name.setdefault(posixpath.basename(path), []).append(file)

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """Where the project declares names, those that a condition guards first."""
        found: dict[str, Definition] = {}
        for item in (item for file in self.files for item in file.definitions):
            known = found.get(item.name)
            if known is None or (known.guard is None and item.guard is not None):
                found[item.name] = item
        return found

    def renamed(self, path: str) -> ConvertedFile | None:
        """The file that was called `path` and has another name now."""
        found = self._match(path, original=True)
        return found if found is not None and found.path != found.output_path else None

    def file(self, path: str, folders: Sequence[str] = ()) -> ConvertedFile | None:
        """The file that a log calls `path`: by its converted name, else by its original one."""
        paths = list(candidates(path, folders)) if path else []
        for original in (False, True):
            for path in paths:
                found = self._match(path, original=original)
                if found is not None:
                    return found
        return None

    def origin(self, item: Diagnostic, subject: str) -> Origin | None:
        """Where an error about `subject` comes from; None where it lies in no file of the conversion."""
        file = self.file(item.path, item.folders)
        if file is None or not item.line:
            return None
        converted = _common_tail(file.output_path, item.path) >= _common_tail(file.path, item.path)
        place = TextPosition(item.line, item.column or 1)
        line = file.map.original(place).line if converted else item.line
        text = file.lines[line - 1].strip() if line <= len(file.lines) else ""
        edits = file.by_line.get(line, ())
        findings = tuple(found for found in file.findings if found.line <= line <= found.end_line)
        return Origin(file.path, line, text[:_TEXT_SHOWN], _edit(file, edits, place, subject), findings)

    def _match(self, path: str, *, original: bool) -> ConvertedFile | None:
        """The file whose path ends like `path`; None where several do equally well."""
        best: list[ConvertedFile] = []
        length = 0
        for file in self._by_name.get(posixpath.basename(path), ()):
            common = _common_tail(file.path if original else file.output_path, path)
            if common > length:
                best, length = [file], common
            elif common == length and common:
                best.append(file)
        return best[0] if len(best) == 1 else None


def from_report(path: Path) -> Origins:
    """The conversion that a JSON report tells of. Raises MusifyError where it cannot be read or is no report."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["schema_version"] != SCHEMA_VERSION:
            raise MusifyError(f"{path}: a report of another version; convert again with this musify")
        files = [_from_report(entry, path.parent) for entry in content["files"]]
    except OSError as error:
        raise MusifyError(f"{path}: cannot read the report: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise MusifyError(f"{path}: no report of a conversion; make one with --report json:FILE") from error
    return Origins(files)


def _from_report(entry: dict[str, object], folder: Path) -> ConvertedFile:
    edits, findings = entry["edits"], entry["findings"]
    if not isinstance(edits, list) or not isinstance(findings, list):
        raise TypeError
    path = str(entry["path"])
    return ConvertedFile(
        path,
        str(entry["output_path"]),
        [EditRecord(**edit) for edit in edits],
        [FindingRecord(**finding) for finding in findings],
        _lines(path, folder) if edits or findings else (),
    )


def _lines(path: str, folder: Path) -> Sequence[str]:
    """The lines of an original, where it still lies where the report says: seen from here, or from the report."""
    for candidate in (Path(path), folder / path):
        try:
            return lines_of(read(candidate).data)
        except (OSError, ValueError):
            continue
    return ()


def lines_of(data: bytes) -> Sequence[str]:
    """The lines of a source as text."""
    return data.decode("utf-8", "replace").split("\n")


def _edit(file: ConvertedFile, edits: Iterable[EditRecord], place: TextPosition, subject: str) -> EditRecord | None:
    """The edit behind an error: the one that made its subject, else the one at its place, else the only one."""
    on_line = list(edits)
    for edit in on_line:
        if subject and subject in (edit.new_text, edit.name):
            return edit
    number = file.map.edit_at(place)
    if number is not None:
        return file.applied[number]
    return None


def _common_tail(first: str, second: str) -> int:
    """How many parts two paths have in common at their ends."""
    count = 0
    for one, other in zip(reversed(first.split("/")), reversed(second.split("/")), strict=False):
        if one != other:
            break
        count += 1
    return count
