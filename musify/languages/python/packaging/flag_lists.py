"""Flags of compilers in Python lists: nvcc's become mcc's, in the form that the list is written in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from musify.languages.build.flag_changes import FlagChange, flag_changes
from musify.languages.build.flag_values import linked
from musify.languages.build.flags import BUILD_FLAG, FlagForm, flag_edits
from musify.languages.build.unit import BuildUnit
from musify.languages.python.module import PythonModule
from musify.languages.python.packaging.branches import exclusive, path_of
from musify.languages.python.packaging.flag_flow import FlagFlow
from musify.languages.python.packaging.flag_words import Role, Run, Slot
from musify.languages.python.packaging.flag_writing import FlagWriter, Rewritten
from musify.languages.shell.quoting import words_of as shell_words
from musify.model import Applicability, Edit, Finding, Span

_ARCHITECTURE = re.compile(rb"--offload-arch=mp_\d+")
_HOLE = b"{"


class _Changed(NamedTuple):
    """A run with the changes to its words. `owners` says which slot each word belongs to."""

    run: Run
    words: Sequence[bytes]
    owners: Sequence[int]
    changes: list[FlagChange]


def find_flags(unit: BuildUnit, module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits and findings for the flags and libraries of a file."""
    flow = FlagFlow(module)
    runs = flow.runs()
    changed = [_changed(unit, run) for run in runs if run.role is not Role.LIBRARIES]
    writer = FlagWriter(unit.data)
    for item in _once(changed):
        yield from _written(item, writer)
    yield from writer.edits()
    for text in flow.texts:
        words = shell_words(unit.data, text.literal.contents[0])
        yield from flag_edits(unit, words, FlagForm(host=text.role is Role.HOST))
    for run in runs:
        if run.role is Role.LIBRARIES:
            yield from _libraries(unit, run)


def _changed(unit: BuildUnit, run: Run) -> _Changed:
    words: list[bytes] = []
    owners: list[int] = []
    for number, slot in enumerate(run.slots):
        parts = words_of(slot)
        words += parts
        owners += [number] * len(parts)
    changes = flag_changes(words, unit.book, unit.settings, host=run.role is Role.HOST)
    return _Changed(run, words, owners, list(changes))


def words_of(slot: Slot) -> list[bytes]:
    """The words of one expression: several where flags stand in one literal, `"-gencode arch=..."`."""
    text = slot.text.strip()
    if text.startswith(b"-") and b" " in text and not any(mark in text for mark in (b'"', b"'", b"{", b"\\")):
        return text.split()
    return [slot.text]


def _once(changed: Sequence[_Changed]) -> Iterator[_Changed]:
    """The runs, with architectures written once in each list: where they are wanted most generally."""
    kept: dict[object, list[_Changed]] = {}
    for item in changed:
        if any(map(_is_architecture, item.changes)):
            kept.setdefault(item.run.group, []).append(item)
    for item in changed:
        others = kept.get(item.run.group, [])
        chosen = _chosen(others)
        if item not in others or item in chosen:
            conditional = len(others) > 1 and item in chosen and not _covers_all(item, others)
            yield _about_conditions(item) if conditional else item
        else:
            changes = [_without_text(change) if _is_architecture(change) else change for change in item.changes]
            yield item._replace(changes=changes)


def _chosen(items: Sequence[_Changed]) -> list[_Changed]:
    """Of runs that ask for architectures: the one that all others depend on, else the first and those it excludes."""
    general = next((item for item in items if _covers_all(item, items)), None)
    if general is not None:
        return [general]
    chosen: list[_Changed] = []
    for item in items:
        if all(exclusive(path_of(item.run.place), path_of(other.run.place)) for other in chosen):
            chosen.append(item)
    return chosen


def _covers_all(item: _Changed, others: Sequence[_Changed]) -> bool:
    path = path_of(item.run.place)
    return all(path_of(other.run.place)[: len(path)] == path for other in others)


def _is_architecture(change: FlagChange) -> bool:
    return bool(change.new) and all(_ARCHITECTURE.fullmatch(word) for word in change.new or ())


def _without_text(change: FlagChange) -> FlagChange:
    return change._replace(new=())


def _about_conditions(item: _Changed) -> _Changed:
    names = " ".join(w.decode() for change in item.changes if _is_architecture(change) for w in change.new or ())
    changes = [
        change._replace(applicability=Applicability.REVIEW, finding="MUS541", arguments={"architectures": names})
        if _is_architecture(change)
        else change
        for change in item.changes
    ]
    return item._replace(changes=changes)


def _written(item: _Changed, writer: FlagWriter) -> Iterator[Finding]:
    """Hands the changes that can be written to the writer; findings for all that say something."""
    for change in item.changes:
        span = _place(item, change)
        name = change.name.decode("utf-8", "replace")
        if change.new is not None and not _can_be_written(item, change):
            yield Finding("MUS526", span, name)
            continue
        if change.finding:
            yield Finding(change.finding, span, name, change.arguments, change.severity)
    rewritten = _rewritten(item)
    if rewritten:
        writer.add(item.run, rewritten)


def _rewritten(item: _Changed) -> dict[int, Rewritten]:
    """The new words of each slot that changes."""
    new: dict[int, list[bytes]] = {}
    about: dict[int, FlagChange] = {}
    for number, word in enumerate(item.words):
        new.setdefault(item.owners[number], []).append(word)
    starts = [item.owners.index(slot) for slot in range(len(item.run.slots))]
    for change in reversed(item.changes):
        if change.new is None or not _can_be_written(item, change) or _is_same(item, change):
            continue
        for number in range(change.last - 1, change.first - 1, -1):
            slot = item.owners[number]
            about[slot] = change
            at = number - starts[slot]
            new[slot][at : at + 1] = change.new if number == _receiver(item, change) else ()
    return {
        slot: Rewritten(words, len(words_of(item.run.slots[slot])) > 1, change.name, change.applicability,
                        change.library, change.evidence)
        for slot, change in about.items()
        if (words := new[slot]) != words_of(item.run.slots[slot])
    }  # fmt: skip


def _is_same(item: _Changed, change: FlagChange) -> bool:
    return list(change.new or ()) == list(item.words[change.first : change.last])


def _receiver(item: _Changed, change: FlagChange) -> int:
    """The word in whose place the new ones go: one that stays, or holds an expression as they do, or the first."""
    new, numbers = change.new or (), range(change.first, change.last)
    if len(new) == 1 and (same := [number for number in numbers if item.words[number] == new[0]]):
        return same[0]
    if any(_HOLE in word for word in new):
        return next((number for number in numbers if _HOLE in item.words[number]), change.first)
    return change.first


def _can_be_written(item: _Changed, change: FlagChange) -> bool:
    if not (item.run.container is not None or item.run.statements) and len(change.new or ()) != 1:
        return False  # the one word of a comprehension
    number = _receiver(item, change)
    if not change.new or change.new == (item.words[number],):
        return True
    slots = {owner: item.run.slots[owner] for owner in item.owners[change.first : change.last]}
    receiver = slots.pop(item.owners[number])
    known = all(slot.literal is not None for slot in slots.values()) or not any(_HOLE in word for word in change.new)
    return receiver.literal is not None and known


def _place(item: _Changed, change: FlagChange) -> Span:
    first = item.run.slots[item.owners[change.first]].node
    last = item.run.slots[item.owners[change.last - 1]].node
    return Span(first.start_byte, last.end_byte)


def _libraries(unit: BuildUnit, run: Run) -> Iterator[Edit | Finding]:
    """Names of libraries, as `libraries=[...]` has them."""
    for slot in run.slots:
        library = linked(slot.text, unit.book)
        if slot.literal is None or library.library is None:
            continue
        span = slot.literal.locate(0, len(slot.text))
        name = slot.text.decode("utf-8", "replace")
        if not library.target or span is None:
            yield Finding("MUS525", slot.literal.span, name, library.arguments)
        elif library.target != slot.text:
            sure = Applicability.SAFE if library.listed else Applicability.REVIEW
            yield Edit(span, library.target, BUILD_FLAG, sure, name, library.library.id, "code")
