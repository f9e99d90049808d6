"""The device in PyTorch's C++: `x.is_cuda()`, `x.cuda()`, `DeviceType::CUDA`, dispatch keys, device strings.

torch_musa's device is PyTorch's PrivateUse1 under the name "musa"; there is no DeviceType::MUSA and no dispatch key of
that name. What each becomes is said in rules/torch/devices.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from functools import lru_cache
from typing import Any

from musify.languages.cuda.macros import pasting_macros
from musify.languages.cuda.owners import is_owned
from musify.languages.cuda.references import enclosing_call
from musify.languages.cuda.unit import Unit
from musify.model import Applicability, Edit, Evidence, Finding, Span
from musify.rules.book import RuleBook
from musify.rules.model import Library
from musify.rules.shipped import shipped_tables
from musify.source.outline import OpaqueKind

RENAME = "torch-device"
_LIBRARY = "torch"
# Texts of a file that mentions PyTorch. No part of a name: a mark that overlaps one hides it.
TRIGGERS = (
    b"is_c", b"DeviceType", b"DispatchKey", b"ATen/", b"c10/", b"c10d/", b"torch/", b"THC/",
    b"c10::", b"torch::", b" at::", b"(at::", b"<at::", b"\nat::",
)  # fmt: skip
# `x.type().is_cuda()`: what type() gives has no test for other devices, the tensor itself has.
_TEST = re.compile(rb"(?:(type)\s*\(\s*\)\s*\.\s*)?(?<![\w])(is_cuda)\b(?=\s*\()")
_MOVE = re.compile(rb"(?:\.|->)\s*(cuda\s*\(\s*\))")
_ENUMERATOR = re.compile(rb"\b(?:DeviceType|DispatchKey|Backend|TensorTypeId)\s*::\s*(\w*CUDA\w*)\b")
_REGISTRATION = re.compile(rb"\b\w*TORCH_LIBRARY_IMPL\w*\s*\(\s*(?:\w+\s*\([^()]*\)|[\w.]+)\s*,\s*(\w*CUDA\w*)\s*,")
_DEVICE_STRING = re.compile(rb'(?:\bDevice\s*[({]|\bDevice\s+\w+\s*[({=]|\.\s*to\s*\()\s*"(cuda)(?::\d*)?"')
# A device on its own among the arguments of a macro, or PyTorch's old function of that name.
_ALONE = re.compile(rb"(?<![\w.])CUDA(?!\w)")
# A call with one more level of parentheses and no further one.
_CALL = re.compile(rb"\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
_MACRO = re.compile(rb"[A-Z][A-Z0-9_]*")
_DEVICE_SOURCES = (".cu", ".cuh")


@lru_cache(maxsize=1)
def _facts() -> Mapping[str, Any]:
    table: Mapping[str, Any] = shipped_tables("torch")["devices.toml"]
    return table


@lru_cache(maxsize=1)
def _counterparts() -> dict[bytes, bytes]:
    return {cuda.encode(): musa.encode() for cuda, musa in _facts()["counterparts"].items()}


@lru_cache(maxsize=1)
def _backend() -> re.Pattern[bytes]:
    table = _facts()["backends"]
    spaces, names = ("|".join(table[key].split()) for key in ("enumerations", "names"))
    return re.compile(rf"\b(?:{spaces})\s*::\s*({names})\b".encode())


def run(unit: Unit) -> Iterator[Edit | Finding]:
    """Edits for devices that have a counterpart, findings for the others; only in a file that mentions PyTorch."""
    if not mentions_torch(unit):
        return
    yield from _tests(unit)
    yield from _moves(unit)
    named: set[int] = set()
    for pattern in (_ENUMERATOR, _REGISTRATION):
        for place in _in_code(unit, pattern):
            named.add(place.start)
            yield _edit(unit, place) if unit.text(place) in _counterparts() else _unknown(unit, place)
    yield from (_unknown(unit, place) for place in _in_code(unit, _backend()))
    yield from _alone(unit, named)
    yield from _registrations(unit)
    for match in _DEVICE_STRING.finditer(unit.data):
        literal = unit.outline.opaque_at(match.start(1))
        if unit.outline.opaque_at(match.start()) is None and literal and literal.kind is OpaqueKind.STRING:
            yield _edit(unit, Span(*match.span(1)))


def mentions_torch(unit: Unit) -> bool:
    """Whether the names of PyTorch's libraries count in this file."""
    return unit.mentions(_library(unit.book))


def _library(book: RuleBook) -> Library:
    return next(library for library in book.libraries if library.id == _LIBRARY)


def _in_code(unit: Unit, pattern: re.Pattern[bytes]) -> Iterator[Span]:
    """The first group of each match outside comments and strings."""
    for match in pattern.finditer(unit.data):
        if unit.outline.opaque_at(match.start()) is None:
            yield Span(*match.span(1))


def _tests(unit: Unit) -> Iterator[Edit]:
    for match in _TEST.finditer(unit.data):
        first, word = Span(*match.span()), Span(*match.span(2))
        if unit.outline.opaque_at(word.start) is not None:
            continue
        dot = unit.outline.before(first.start)
        if unit.text(dot) not in (b".", b"->"):
            continue
        yield _edit(unit, Span(first.start, word.end) if match.group(1) else word, b"is_cuda")


def _moves(unit: Unit) -> Iterator[Edit]:
    """`x.cuda()` is short for `x.to(at::kCUDA)`; PyTorch's tensors have no such method for other devices."""
    for place in _in_code(unit, _MOVE):
        yield _with_device(unit, place, b"to(%b)", "cuda()")


def _with_device(unit: Unit, place: Span, form: bytes, name: str) -> Edit:
    """The edit that writes the device, as the rules call it, into a form."""
    rule = unit.book.name(b"kCUDA")
    target = rule.target if rule is not None else b"kPrivateUse1"
    device = target if b"::" in target else b"at::" + target
    evidence = (rule.evidence if rule is not None else Evidence.NONE).value
    return Edit(place, form % device, RENAME, Applicability.REVIEW, name, "torch", evidence)


def _alone(unit: Unit, named: set[int]) -> Iterator[Edit | Finding]:
    """A finding for a bare CUDA that is handed to a macro which the run does not explain, and for `at::CUDA(...)`."""
    explained: Set[bytes] | None = None
    for word in unit.outline.in_code(Span(*match.span()) for match in _ALONE.finditer(unit.data)):
        around = unit.neighbours(word)
        if word.start in named:
            continue
        if around.before_text == b"::":
            if around.after_text == b"(" and is_owned(unit, word, _library(unit.book)):
                yield _options(unit, word) or _unknown(unit, word)
        elif around.before_text in (b"(", b",") and around.after_text in (b",", b")"):
            macro = enclosing_call(unit.outline, word.start)
            if explained is None:
                explained = pasting_macros(unit.outline).keys() | unit.surroundings.macros.keys()
            # One that is explained is looked at where it pastes names.
            if _MACRO.fullmatch(macro) and macro not in explained:
                yield Finding("MUS615", word, unit.text(word).decode(), {"macro": macro.decode()})


def _options(unit: Unit, word: Span) -> Edit | None:
    """`at::CUDA(dtype)` is a tensor's options, `at::device(...).dtype(dtype)`; not where a member of it is used."""
    call = _CALL.match(unit.data, word.end)
    if call is None or unit.text(unit.outline.after(call.end())) in (b".", b"->"):
        return None
    return _with_device(unit, word, b"device(%b).dtype", "CUDA")


def _registrations(unit: Unit) -> Iterator[Edit | Finding]:
    if not unit.surroundings.path.endswith(_DEVICE_SOURCES):
        return
    table = _facts()["registration"]
    name = table["macro"].encode()
    for place in _in_code(unit, re.compile(rb"\b(" + name + rb")(?=\s*\()")):
        text = table["becomes"].encode()
        yield Edit(place, text, RENAME, Applicability.REVIEW, table["macro"], "torch", Evidence.DOCUMENTED.value)
        yield Finding("MUS613", place, table["macro"], {"target": table["becomes"]})


def _edit(unit: Unit, place: Span, name: bytes = b"") -> Edit:
    name = name or unit.text(place)
    return Edit(
        place, _counterparts()[name], RENAME, Applicability.SAFE, name.decode(), "torch", Evidence.DOCUMENTED.value
    )


def _unknown(unit: Unit, place: Span) -> Finding:
    return Finding("MUS601", place, unit.text(place).decode())
