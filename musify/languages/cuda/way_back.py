"""The way back, from MUSA to CUDA: the same passes over rules that are turned round, and what differs.

Where MUSA has one name for several of CUDA's, and where a counterpart is only inferred, the edit is marked `review` and
reported. Numbers of MUSA's scales (versions, architectures) are never carried over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from musify.checks import version_guards
from musify.languages.cuda.unit import Unit
from musify.model import Applicability, Edit, Evidence, Finding, Span
from musify.rules.book import RuleBook
from musify.rules.shipped import shipped_tables
from musify.source.outline import OpaqueKind

TORCH_DEVICE = "torch-device"
TRIGGERS = frozenset({b"PrivateUse1", b"privateuseone"})
# What a finding is called on the way back, where it says something else there.
_IDS = {"MUS101": "MUS132", "MUS102": "MUS131", "MUS114": "MUS133", "MUS303": "MUS134", "MUS304": "MUS134"}
_LEFT = {"outcome": "left as it is", "outcome_zh": "保持原样"}
_CARRIED = {"outcome": "renamed all the same", "outcome_zh": "仍已改名"}
_HEADER_LETTERS = re.compile(rb"[a-z]{4,}\Z")
_DEVICE_STRING = re.compile(rb'(?:\bDevice\s*[({]|\bDevice\s+\w+\s*[({=]|\.\s*to\s*\()\s*"(musa)(?::\d+)?"')


def checked(unit: Unit) -> Iterator[Edit | Finding]:
    """What stands for the checks: macros of versions and architectures, and PyTorch's device."""
    yield from version_guards.run(unit)
    if any(library.id == "torch" and unit.mentions(library) for library in unit.book.libraries):
        yield from _torch_devices(unit)


def settled(unit: Unit, edits: Iterable[Edit], findings: Iterable[Finding]) -> tuple[list[Edit], list[Finding]]:
    """Edits and findings as the way back means them: doubtful edits are marked, and findings say so."""
    marked: list[Edit] = []
    reported = [_renamed(item) for item in findings]
    for edit in edits:
        every = unit.book.all_of(edit.name.encode())
        marked.append(edit._replace(applicability=Applicability.REVIEW) if every else edit)
        if every:
            names = [name.decode() for name in every]
            arguments = {"names": ", ".join(names), "names_zh": "、".join(names), "target": edit.new_text.decode()}
            reported.append(Finding("MUS130", edit.span, edit.name, arguments))
    return marked, reported


def looks_like_musa(book: RuleBook) -> re.Pattern[bytes]:
    """What the path of a header looks like that is MUSA's; `book` holds the rules turned round."""
    beginnings = b"|".join(sorted(header_beginnings(book)))
    return re.compile(rb"(?:" + (beginnings or rb"(?!)") + rb")[^/]*\Z|(?:.*/)?(?:musa|mudnn\w*|torch_musa)/")


def header_beginnings(book: RuleBook) -> frozenset[bytes]:
    """What names of MUSA's headers and files begin with; `book` holds the rules turned round."""
    every = (prefix for library in book.libraries for prefix in library.lookalike)
    return frozenset(prefix for prefix in every if _HEADER_LETTERS.match(prefix))


def _renamed(finding: Finding) -> Finding:
    identifier = _IDS.get(finding.rule_id, finding.rule_id)
    arguments = dict(finding.arguments)
    if identifier == "MUS134":
        arguments.update(_LEFT if finding.rule_id == "MUS303" else _CARRIED)
    return finding._replace(rule_id=identifier, arguments=arguments)


@cache
def _devices() -> dict[bytes, bytes]:
    table = shipped_tables("torch")["devices.toml"]["counterparts"]
    return {musa.encode(): cuda.encode() for cuda, musa in table.items()}


@cache
def _device_names() -> re.Pattern[bytes]:
    names = sorted(_devices().keys() - {b"musa"}, reverse=True)
    return re.compile(rb"\b(?:" + b"|".join(names) + rb")\b")


def _torch_devices(unit: Unit) -> Iterator[Edit | Finding]:
    """The device that torch_musa registers as: another backend may have taken it, so every change is reported."""
    names = (Span(*match.span()) for match in _device_names().finditer(unit.data))
    for place in unit.outline.in_code(names):
        yield from _device(unit, place)
    for match in _DEVICE_STRING.finditer(unit.data):
        literal = unit.outline.opaque_at(match.start(1))
        if unit.outline.opaque_at(match.start()) is None and literal and literal.kind is OpaqueKind.STRING:
            yield _device_edit(unit, Span(*match.span(1)), Applicability.SAFE)


def _device(unit: Unit, place: Span) -> Iterator[Edit | Finding]:
    edit = _device_edit(unit, place, Applicability.REVIEW)
    yield edit
    target = edit.new_text.decode()
    arguments = {
        "target": target, "library": "torch_musa",
        "outcome": f"changed to {target}", "outcome_zh": f"已改为 {target}",
    }  # fmt: skip
    yield Finding("MUS131", place, edit.name, arguments)


def _device_edit(unit: Unit, place: Span, applicability: Applicability) -> Edit:
    name = unit.text(place)
    return Edit(place, _devices()[name], TORCH_DEVICE, applicability, name.decode(), "torch", Evidence.DOCUMENTED.value)
