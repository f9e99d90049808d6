"""A baseline: what a project accepts for now, so that `check` reports only what is new.

Entries are known by path, id and fingerprint (id, name, text of the line), so they survive moved lines; two alike in
one file are counted. The file is JSON, sorted, one entry a line, made to be committed.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from musify.engine.results import FileResult, RunResult
from musify.model import MusifyError
from musify.source.writing import write_atomically

VERSION = 1
_EDIT = "edit"


class Entry(NamedTuple):
    """One accepted finding or pending edit."""

    path: str
    id: str
    name: str
    fingerprint: str


class Comparison(NamedTuple):
    """How a run stands to a baseline: findings and edits that it covers, and entries that no longer occur."""

    covered: int
    gone: list[Entry]


def write(path: Path, result: RunResult) -> int:
    """Make everything that `result` holds the baseline; how many entries. Raises MusifyError."""
    counts = Counter(entry for file in result.files for entry in _entries(file))
    lines = [json.dumps([*entry, count], ensure_ascii=False) for entry, count in sorted(counts.items())]
    text = f'{{"version": {VERSION}, "entries": [\n' + ",\n".join(lines) + "\n]}\n"
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise MusifyError(f"{path}: cannot write the baseline: {error.strerror}") from error
    return sum(counts.values())


def read(path: Path) -> Counter[Entry]:
    """The entries of a baseline. Raises MusifyError where it cannot be read or is of another version."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version = content["version"]
        entries = Counter({Entry(*row[:4]): int(row[4]) for row in content["entries"]})
    except OSError as error:
        raise MusifyError(f"{path}: cannot read the baseline: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise MusifyError(f"{path}: not a baseline of musify; make one with --update-baseline") from error
    if version != VERSION:
        raise MusifyError(f"{path}: baseline of version {version}, this musify reads {VERSION}; use --update-baseline")
    return entries


def subtract(result: RunResult, baseline: Counter[Entry]) -> Comparison:
    """Take what the baseline covers out of `result`; a file whose edits it all covers counts as unchanged."""
    left = baseline.copy()
    covered = 0
    for file in result.files:
        findings = [
            item for item in file.findings if not _take(left, _entry(file, item.id, item.name, item.fingerprint))
        ]
        edits = [item for item in file.edits if not _take(left, _entry(file, _EDIT, item.name, item.fingerprint))]
        covered += len(file.findings) - len(findings) + len(file.edits) - len(edits)
        file.findings, file.edits = findings, edits
        file.changed = file.changed and bool(edits)
        file.edit_count = len(edits)
    return Comparison(covered, sorted(left.elements()))


def _entries(file: FileResult) -> list[Entry]:
    return [_entry(file, item.id, item.name, item.fingerprint) for item in file.findings] + [
        _entry(file, _EDIT, item.name, item.fingerprint) for item in file.edits
    ]


def _entry(file: FileResult, identifier: str, name: str, fingerprint: str) -> Entry:
    return Entry(file.path, identifier, name, fingerprint)


def _take(left: Counter[Entry], entry: Entry) -> bool:
    if left[entry] <= 0:
        return False
    left[entry] -= 1
    return True
