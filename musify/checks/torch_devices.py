"""The device in PyTorch's C++: `x.is_cuda()`, `DeviceType::CUDA`, dispatch keys, device strings.

torch_musa's device is PyTorch's PrivateUse1 under the name "musa"; there is no DeviceType::MUSA and no dispatch key of
that name. What each becomes is said in rules/torch/devices.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from musify.languages.cuda.unit import Unit
from musify.model import Applicability, Edit, Evidence, Finding, Span
from musify.rules.book import RuleBook
from musify.rules.shipped import shipped_tables
from musify.source.outline import OpaqueKind

RENAME = "torch-device"
_LIBRARY = "torch"
TRIGGERS = (b"is_c", b"DeviceType", b"DispatchKey", b"Backend", b"TORCH_LIBRARY_IMPL", b"Device", b".to(")
_TEST = re.compile(rb"is_cuda\b(?=\s*\()")
_ENUMERATOR = re.compile(rb"\b(?:DeviceType|DispatchKey|Backend)\s*::\s*(\w*CUDA\w*)\b")
_REGISTRATION = re.compile(rb"\bTORCH_LIBRARY_IMPL\s*\(\s*[\w.]+\s*,\s*(\w*CUDA\w*)\s*,")
_DEVICE_STRING = re.compile(rb'(?:\bDevice\s*[({]|\bDevice\s+\w+\s*[({=]|\.\s*to\s*\()\s*"(cuda)(?::\d+)?"')


@lru_cache(maxsize=1)
def _counterparts() -> dict[bytes, bytes]:
    table = shipped_tables("torch")["devices.toml"]["counterparts"]
    return {cuda.encode(): musa.encode() for cuda, musa in table.items()}


def run(unit: Unit) -> Iterator[Edit | Finding]:
    """Edits for devices that have a counterpart, findings for the others; only in a file that mentions PyTorch."""
    if not any(text in unit.data for text in _mentions(unit.book)):
        return
    for word in unit.outline.in_code(Span(*match.span()) for match in _TEST.finditer(unit.data)):
        if unit.text(unit.outline.before(word.start)) in (b".", b"->"):
            yield _edit(unit, word)
    for pattern in (_ENUMERATOR, _REGISTRATION):
        for match in pattern.finditer(unit.data):
            place = Span(*match.span(1))
            if unit.outline.opaque_at(match.start()) is None:
                yield _edit(unit, place) if unit.text(place) in _counterparts() else _unknown(unit, place)
    for match in _DEVICE_STRING.finditer(unit.data):
        literal = unit.outline.opaque_at(match.start(1))
        if unit.outline.opaque_at(match.start()) is None and literal and literal.kind is OpaqueKind.STRING:
            yield _edit(unit, Span(*match.span(1)))


def _mentions(book: RuleBook) -> tuple[bytes, ...]:
    return next((library.needs for library in book.libraries if library.id == _LIBRARY), ())


def _edit(unit: Unit, place: Span) -> Edit:
    name = unit.text(place)
    return Edit(
        place, _counterparts()[name], RENAME, Applicability.SAFE, name.decode(), "torch", Evidence.DOCUMENTED.value
    )


def _unknown(unit: Unit, place: Span) -> Finding:
    return Finding("MUS601", place, unit.text(place).decode())
