"""The recorded edits of a conversion: read from its JSON report, or made again from the original."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from musify.engine import tree
from musify.engine.results import EditRecord
from musify.languages.registry import Language
from musify.model import Applicability, Edit, MusifyError, Span
from musify.project.files import SourceFile
from musify.source.document import Document, Position


@dataclass(frozen=True)
class Record:
    """One file of the original, the file that it became, and the edits between them as they were recorded."""

    file: SourceFile
    converted: Path
    output_path: str
    edits: tuple[EditRecord, ...] = ()

    @property
    def is_source(self) -> bool:
        """Whether it is C, C++ or CUDA source."""
        return self.file.language is Language.CUDA


class RecordMismatch(Exception):
    """A recorded edit does not fit the text of the original: that is another version of the file."""


def edits_of(record: Record, original: Document) -> list[Edit]:
    """The recorded edits as edits of the original's bytes. Raises RecordMismatch."""
    return [_edit(item, original) for item in record.edits]


def _edit(item: EditRecord, original: Document) -> Edit:
    try:
        start = original.offset(Position(item.line, item.column))
        end = original.offset(Position(item.end_line, item.end_column))
    except ValueError as error:
        raise RecordMismatch(str(error)) from error
    if original.data[start:end].decode("utf-8", "replace") != item.old_text:
        raise RecordMismatch(f"line {item.line} does not hold {item.old_text!r}")
    span = Span(start, end)
    new_text = item.new_text.encode("utf-8", "surrogateescape")
    return Edit(span, new_text, item.rule_id, Applicability(item.applicability), item.name, item.library, item.evidence)


def made_again(plan: tree.Plan, converted: Path, jobs: int) -> list[Record]:
    """Convert the original in memory: a plan with details that writes nothing. `converted` is a file or folder."""
    result = tree.run(plan, jobs)
    records = []
    for file, outcome in zip(plan.files, result.files, strict=True):
        # A file that could not be read as text keeps its name.
        new = file.relative if outcome.output_path == outcome.path else plan.layout.new_paths[file.relative]
        records.append(_record(file, new, converted, alone=len(plan.files) == 1, edits=outcome.edits))
    return records


def from_report(path: Path, files: Sequence[SourceFile], converted: Path) -> list[Record]:
    """The edits that a JSON report tells of. Raises MusifyError where it is no report of these files."""
    entries = _entries(path)
    prefix = _prefix(entries, files)
    if prefix is None:
        raise MusifyError(f"{path}: reports none of the files of the original; give the report of its conversion")
    records = []
    for file in files:
        entry = entries.get(prefix + file.relative)
        new = file.relative if entry is None else str(entry["output_path"]).removeprefix(prefix)
        edits = () if entry is None else entry["edits"]
        records.append(_record(file, new, converted, alone=len(files) == 1, edits=edits))
    return records


def _record(file: SourceFile, new: str, converted: Path, *, alone: bool, edits: Iterable[EditRecord]) -> Record:
    path = converted if alone and not converted.is_dir() else converted / new
    return Record(file, path.absolute(), str(path), tuple(edits))


def _entries(path: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {
            entry["path"]: {**entry, "edits": [EditRecord(**edit) for edit in entry["edits"]]}
            for entry in content["files"]
        }
    except OSError as error:
        raise MusifyError(f"{path}: cannot read the report: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MusifyError(f"{path}: not a JSON report of `musify convert`") from error


def _prefix(entries: Iterable[str], files: Sequence[SourceFile]) -> str | None:
    """What the report puts before the paths of the files: it may have been made from another folder."""
    known = {file.relative for file in files}
    prefixes: Counter[str] = Counter()
    for entry in entries:
        parts = entry.split("/")
        for count in range(len(parts)):
            if "/".join(parts[count:]) in known:
                prefixes["".join(part + "/" for part in parts[:count])] += 1
                break
    return max(prefixes, key=lambda item: prefixes[item]) if prefixes else None
