"""What is verified and how, and what the checks of all files share."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from musify.clang.database import Database
from musify.headers.shim import ShimNames, cached_shim, choices, shim_names
from musify.languages.cuda.macros import PASTED
from musify.rules.book import RuleBook
from musify.source.document import NotText, read
from musify.source.edits import EditConflict
from musify.verify.compilers import Compiler, Source
from musify.verify.flags import Flags, from_database
from musify.verify.lines import Way
from musify.verify.model import Depth
from musify.verify.preprocessed import Same
from musify.verify.records import Record, RecordMismatch, edits_of
from musify.verify.reverted import Twin

_WORD = re.compile(rb"[A-Za-z_]\w*")


@dataclass
class Plan:
    """What to verify and how.

    `original` and `converted` are the roots, absolute. `flags` hold for every file, besides those of the `database`.
    `seconds` is the longest that one command may take.
    """

    records: Sequence[Record]
    original: Path
    converted: Path
    book: RuleBook
    depth: Depth
    flags: Flags = field(default_factory=Flags)
    database: Database | None = None
    preprocessor: Compiler | None = None
    compiler: Compiler | None = None
    language: str = "en"
    seconds: float = 600.0
    chosen: Collection[str] | None = None


class Workshop:
    """What the checks of all files share; everything costly is made once, on first use."""

    def __init__(self, plan: Plan, temporary: Path) -> None:
        self.plan = plan
        self.temporary = temporary
        self._lock = threading.Lock()
        self._by_path = {record.file.relative: record for record in plan.records}
        self._by_converted = {self._below(record): record for record in plan.records}
        self.way = lru_cache(maxsize=512)(self._way)

    def _below(self, record: Record) -> str:
        return record.converted.relative_to(self.plan.converted).as_posix()

    def original_record(self, path: str) -> Record | None:
        """The record of a file by its path below the original root."""
        return self._by_path.get(path)

    def converted_record(self, path: str) -> Record | None:
        """The record of a file by its path below the converted root (or that of the twin)."""
        return self._by_converted.get(path)

    def _way(self, record: Record) -> Way | None:
        """How a file got from original to converted; None where either cannot be read or the edits do not fit."""
        try:
            original = read(record.file.path)
            return Way(original, read(record.converted), edits_of(record, original))
        except (OSError, NotText, RecordMismatch, EditConflict):
            return None

    @cached_property
    def names(self) -> ShimNames:
        """The names of the shim, without those that the original holds already and the conversion did not write."""
        names = shim_names(self.plan.book)
        known = frozenset([*names.plain, *names.macros, *names.architecture])
        return names.without(self._words_of_originals(known) - self._written(known))

    def _words_of_originals(self, wanted: frozenset[bytes]) -> frozenset[bytes]:
        found: set[bytes] = set()
        for record in self.plan.records:
            if record.is_source:
                with contextlib.suppress(OSError, NotText):
                    found |= wanted.intersection(_WORD.findall(read(record.file.path).data))
        return frozenset(found)

    def _written(self, wanted: frozenset[bytes]) -> frozenset[bytes]:
        """The names that recorded edits wrote; of a beginning that macros paste, all that begin so."""
        edits = [edit for record in self.plan.records if record.is_source for edit in record.edits]
        words = {word for edit in edits for word in _WORD.findall(edit.new_text.encode())}
        beginnings = tuple({edit.new_text.encode() for edit in edits if edit.rule_id == PASTED})
        return frozenset(name for name in wanted if name in words or (beginnings and name.startswith(beginnings)))

    @cached_property
    def shim(self) -> Path:
        """The folder of the shim headers."""
        return cached_shim(self.plan.book, self.names)

    @property
    def twin(self) -> Twin:
        """The converted tree with only its renames."""
        with self._lock:
            return self._twin

    @cached_property
    def _twin(self) -> Twin:
        folder = self.temporary / "twin"
        return Twin(folder, self.plan.records, self.plan.converted, self.way, self.plan.book)

    @cached_property
    def same(self) -> Same:
        """What makes two tokens the same."""
        paths: dict[str, str] = {}
        for record in self.plan.records:
            original = str(record.file.path.absolute())
            paths[original] = paths[str(record.converted.absolute())] = original
            paths[str(self.temporary / "twin" / self._below(record))] = original
        return Same.of(self.names, paths)

    def original(self, record: Record) -> Source:
        """The original of a file, with its flags."""
        path = record.file.path.absolute()
        return Source(path, self._flags(path), self.plan.original, self.plan.original)

    def converted(self, record: Record, *, shim: bool = True) -> Source:
        """The converted file."""
        return self._after(record, record.converted.absolute(), self.plan.converted, shim=shim)

    def reverted(self, record: Record) -> Source:
        """The twin's version of the converted file."""
        root = self.twin.root
        return self._after(record, root / self._below(record), root, shim=True)

    def _after(self, record: Record, path: Path, root: Path, *, shim: bool) -> Source:
        flags = self._flags(record.file.path.absolute())
        defines = tuple(choices(self.plan.book, self.names, self._used(record))) if shim else ()
        return Source(path, flags, self.plan.original, root, self.shim if shim else None, defines)

    def _flags(self, path: Path) -> Flags:
        plan = self.plan
        return plan.flags if plan.database is None else from_database(plan.database, path).with_more(plan.flags.words)

    def _used(self, record: Record) -> frozenset[bytes]:
        """The CUDA names that the conversion changed in a file; where it has none of the kind, in all files."""
        own = {edit.name.encode() for edit in record.edits}
        return frozenset(own | {name for name in self._used_anywhere if not self._rivals(name) & own})

    def _rivals(self, name: bytes) -> frozenset[bytes]:
        return self._groups.get(name, frozenset())

    @cached_property
    def _groups(self) -> Mapping[bytes, frozenset[bytes]]:
        """Names that share a MUSA name, by each of them."""
        return {name: frozenset(group) for group in self.names.shared.values() for name in group}

    @cached_property
    def _used_anywhere(self) -> frozenset[bytes]:
        return frozenset(
            edit.name.encode()
            for record in self.plan.records
            for edit in record.edits
            if edit.name.encode() in self._groups
        )
