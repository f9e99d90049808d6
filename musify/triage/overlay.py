"""The rule file that a triage writes: names that the SDK lacks, that differ, that are spelled otherwise.

A file that is there is only added to: what it holds stays byte for byte, whoever wrote it, and a name that it mentions
anywhere, in a comment too, is not added again.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from musify.model import MusifyError
from musify.rules import book
from musify.source.writing import write_atomically
from musify.triage.steps import Overlay

_OPENING = """\
# Rules of this project, from build logs, by `musify triage --write-rules`, which only adds to this file.
# A proposal that needs a decision is a comment; take the number sign away to use it. Form: rules/README.md of musify.
"""
_RENAME = re.compile(r"^[ \t]*\[rename\][^\n]*\n", re.M)
_TABLES = {"absent": "[[absent]]", "changed": "[[changed]]"}


class Entry(NamedTuple):
    """A rule, how many errors it is about, and the name of the log."""

    overlay: Overlay
    errors: int
    log: str


class Written(NamedTuple):
    """What a rule file gained: rules that hold, proposals that are comments."""

    active: int
    proposed: int


def write(path: Path, entries: Iterable[Entry]) -> Written:
    """Add rules to the file at `path`, which is made where it is missing.

    Raises MusifyError where the file cannot be read or written, and where the rules would not load; nothing is written
    then.
    """
    old = _read(path)
    added = [item for item in _chosen(entries) if not _mentions(old, item.overlay.cuda)]
    if not added:
        return Written(0, 0)
    new = old or _OPENING
    for item in added:
        new = _with_rename(new, item) if item.overlay.table == "rename" else _with(new, item)
    _check(path, new)
    try:
        write_atomically(path, new.encode())
    except OSError as error:
        raise MusifyError(f"{path}: cannot write the rule file: {error.strerror or error}") from error
    active = sum(item.overlay.active for item in added)
    return Written(active, len(added) - active)


def _chosen(entries: Iterable[Entry]) -> Iterable[Entry]:
    """One rule a name: one that holds before one that is only proposed, then the first that was proposed."""
    found: dict[str, Entry] = {}
    for item in entries:
        known = found.get(item.overlay.cuda)
        if known is None or (item.overlay.active and not known.overlay.active):
            found[item.overlay.cuda] = item
    return found.values()


def _with(text: str, item: Entry) -> str:
    """The file with a table of its own for a rule, or with the rule as a comment."""
    lines = (f"{_sign(item)}{line}\n" for line in _lines(item.overlay, item.log))
    return f"{_ended(text)}\n{_head(item)}{''.join(lines)}"


def _with_rename(text: str, item: Entry) -> str:
    """The file with a line in its [rename], which a file has once."""
    overlay = item.overlay
    line = f"{_head(item)}{_sign(item)}{overlay.cuda} = {_quoted(overlay.musa or 'musa...')}  # {_line(overlay.why)}\n"
    table = _RENAME.search(text)
    if table is None:
        return f"{_ended(text)}\n[rename]\n{line}"
    return text[: table.end()] + line + text[table.end() :]


def _sign(item: Entry) -> str:
    return "" if item.overlay.active else "# "


def _head(item: Entry) -> str:
    return f"# {item.overlay.cuda}: {item.errors} {'error' if item.errors == 1 else 'errors'} in {_line(item.log)}\n"


def _lines(overlay: Overlay, log: str) -> Iterator[str]:
    if overlay.table == "header":
        yield "[[headers]]"
        yield 'evidence = "project"'
        yield f"map = {{ {_quoted(overlay.cuda)} = {_quoted(overlay.musa)} }}"
    else:
        yield _TABLES[overlay.table]
        yield f"names = {_quoted(overlay.cuda)}"
        yield f"why = {_quoted(_line(overlay.why))}"
        yield f"source = {_quoted(f'build log {_line(log)}')}"


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text) is not None


def _check(path: Path, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(text.encode())
        try:
            book.load([copy])
        except MusifyError as error:
            raise MusifyError(f"{str(error).replace(str(copy), str(path))} (nothing was written)") from error


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode() if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise MusifyError(f"{path}: cannot read the rule file: {error}") from error


def _quoted(text: str) -> str:
    """A text as a TOML string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _line(text: str) -> str:
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
