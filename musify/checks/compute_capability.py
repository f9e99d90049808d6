"""Tests of the compute capability on the host: MUSA's numbers are 2.1, 2.2 and 3.1."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator

from musify.languages.cuda.unit import Unit
from musify.model import Finding, Severity, Span
from musify.source.conditions import COMPARISONS, integer

_PROPERTIES = re.compile(rb"cudaDeviceProp|[gG]etDeviceProperties|getCurrentDeviceProperties")
_MAJOR = re.compile(rb"\bmajor\b")
_ARITHMETIC = frozenset({b"*", b"<<", b"+", b"-"})
_COMPARE = {
    b"<": operator.lt,
    b"<=": operator.le,
    b">": operator.gt,
    b">=": operator.ge,
    b"==": operator.eq,
    b"!=": operator.ne,
}
# What every CUDA card that is still supported answers to a test of its major number.
_CURRENT_CUDA_MAJORS = (7, 8, 9, 10, 12)
_STATEMENT_ENDS = frozenset(b";{}")
TRIGGERS = (b"major",)


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a statement that compares the major number of a device, or calculates with it."""
    if not _PROPERTIES.search(unit.data):
        return
    reported = -1
    for word in unit.outline.words(_MAJOR):
        before = unit.outline.before(word.start)
        if unit.text(before) not in (b".", b"->") or word.start < reported:
            continue
        finding = _judge(unit, word, Span(_start_of(unit, before), word.end))
        if finding is not None:
            yield finding
            reported = _end_of_statement(unit, word.end)


def _judge(unit: Unit, word: Span, member: Span) -> Finding | None:
    outline = unit.outline
    after = outline.after(word.end)
    sign = unit.text(after)
    capabilities = _capabilities(unit)
    if sign in COMPARISONS:
        number = outline.after(after.end)
        value = integer(unit.text(number))
        if value is None:
            return None
        whole = Span(member.start, number.end)
        return _comparison(unit, whole, sign, value, capabilities)
    if sign in _ARITHMETIC or unit.text(outline.before(member.start)) in _ARITHMETIC:
        arguments = {"expression": _shown(unit, member), "capabilities": capabilities}
        return Finding("MUS307", member, "major", arguments)
    return None


def _comparison(unit: Unit, whole: Span, sign: bytes, value: int, capabilities: str) -> Finding:
    known = unit.book.musa_architectures
    answers = {name: _COMPARE[sign](known[name].major, value) for name in unit.settings.target.architectures}
    on_cuda = {_COMPARE[sign](major, value) for major in _CURRENT_CUDA_MAJORS}
    as_on_cuda = on_cuda == set(answers.values()) and len(on_cuda) == 1
    arguments = {
        "expression": _shown(unit, whole),
        "capabilities": capabilities,
        "outcome": _outcome(answers, "true", "false", "true on {yes} and false on {no}", ", "),
        "outcome_zh": _outcome(answers, "恒为真", "恒为假", "在 {yes} 上为真，在 {no} 上为假", "、"),
    }
    return Finding("MUS306", whole, "major", arguments, Severity.NOTE if as_on_cuda else None)


def _outcome(answers: dict[str, bool], yes: str, no: str, mixed: str, comma: str) -> str:
    if len(set(answers.values())) == 1:
        return yes if all(answers.values()) else no
    parts = {answer: comma.join(name for name, given in answers.items() if given is answer) for answer in (True, False)}
    return mixed.format(yes=parts[True], no=parts[False])


def _capabilities(unit: Unit) -> str:
    known = unit.book.musa_architectures
    return ", ".join(f"{known[name].major}.{known[name].minor} ({name})" for name in unit.settings.target.architectures)


def _start_of(unit: Unit, operator_span: Span) -> int:
    """Where the object of a member access starts, as far as it is a plain name, an index or a call."""
    token = unit.outline.before(operator_span.start)
    depth = 0
    while token.end > token.start:
        text = unit.text(token)
        depth += {b")": 1, b"]": 1, b"(": -1, b"[": -1}.get(text, 0)
        if depth == 0 and text not in (b"(", b"["):
            return token.start
        token = unit.outline.before(token.start)
    return operator_span.start


def _end_of_statement(unit: Unit, offset: int) -> int:
    data = unit.data
    while offset < len(data) and data[offset] not in _STATEMENT_ENDS:
        offset += 1
    return offset


def _shown(unit: Unit, span: Span) -> str:
    return unit.text(span).decode("utf-8", "replace")
