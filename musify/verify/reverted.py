"""The converted tree with only its renames: what it would be had nothing but names, headers and file names changed.

Where a converted file differs from its original after preprocessing, this twin tells why. Where the twin is equal to
the original, the edits that it lacks account for the whole difference: thresholds of architecture guards, rewritten
inline assembly, edits by hand. Where it is not, a rename was wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from musify.engine.annotations import ANNOTATION
from musify.languages.cuda.includes import HEADER, MERGED_HEADER, RENAMED_FILE
from musify.languages.cuda.macros import PASTED
from musify.languages.cuda.names import RENAME, UNATTESTED_RENAME
from musify.model import Edit
from musify.rules.book import RuleBook
from musify.source.edits import apply
from musify.source.outline import OpaqueKind, Outline
from musify.verify.lines import Way
from musify.verify.records import Record

# Rules whose edits the shim undoes. Whatever is not named here changes more than a name.
_UNDONE = frozenset({RENAME, UNATTESTED_RENAME, PASTED, HEADER, MERGED_HEADER, RENAMED_FILE, ANNOTATION})

Ways = Callable[[Record], Way | None]


def structural(way: Way, book: RuleBook) -> list[Edit]:
    """The edits that change more than a name in code: text in literals, and the architecture macro for its values."""
    outline = Outline(way.original.data)
    return [
        edit
        for edit in way.edits
        if edit.rule_id not in _UNDONE
        or book.is_architecture_macro(edit.name.encode())
        or _in_literal(outline, edit.span.start)
    ]


def _in_literal(outline: Outline, offset: int) -> bool:
    opaque = outline.opaque_at(offset)
    return opaque is not None and opaque.kind in (OpaqueKind.STRING, OpaqueKind.RAW_STRING)


class Twin:
    """The twin of a converted tree in a folder of its own: files where it differs, and links to all the rest.

    Folders with files of the conversion are folders here too, so that `../x.h` stays inside.
    """

    def __init__(self, folder: Path, records: Sequence[Record], root: Path, ways: Ways, book: RuleBook) -> None:
        self.root = folder
        self.differs = False
        folders = {"."}
        for record in records:
            below = os.path.relpath(record.converted, root)
            folders.update(os.fspath(part) for part in Path(below).parents)
            content = self._content(record, ways, book)
            if content is not None:
                goal = folder / below
                goal.parent.mkdir(parents=True, exist_ok=True)
                goal.write_bytes(content)
                self.differs = True
        if self.differs:
            for below in folders:
                (folder / below).mkdir(parents=True, exist_ok=True)
            for below in folders:
                self._link(root / below, folder / below)

    @staticmethod
    def _link(real: Path, folder: Path) -> None:
        """Give a folder of the twin what its own has: links for all that is not there yet."""
        entries = os.scandir(real) if real.is_dir() else ()
        for entry in entries:
            goal = folder / entry.name
            if not os.path.lexists(goal):
                goal.symlink_to(entry.path)

    @staticmethod
    def _content(record: Record, ways: Ways, book: RuleBook) -> bytes | None:
        """The text that the twin has instead of the converted file; None where it has the same."""
        way = ways(record) if record.is_source else None
        if way is None:
            return None
        dropped = structural(way, book)
        if not dropped and way.is_exact:
            return None
        return way.original.encode(apply(way.original.data, [edit for edit in way.edits if edit not in dropped]))
