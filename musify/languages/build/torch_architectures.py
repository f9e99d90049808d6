"""PyTorch's list of architectures to build for, in any language: `TORCH_CUDA_ARCH_LIST="8.0;9.0+PTX"`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from musify.languages.build.unit import BuildUnit, TokenKind
from musify.model import Applicability, Edit, Finding, Severity, Span
from musify.rules.shipped import shipped_tables

TORCH_ARCHITECTURES = "torch-architectures"
_ARCHITECTURE = rb"(?:\d{1,2}\.\d[af]?|Kepler|Maxwell|Pascal|Volta|Turing|Ampere|Ada|Hopper|Blackwell)(?:\+\w+)?"
# What stands between the name and a value that follows it: an assignment, a key, an argument, a default.
_VALUE = re.compile(
    rb"[\"'\])}]*[ \t]*(?::?=|:-|:|,|[ \t])[ \t]*[\"']?(?P<value>(?:"
    + _ARCHITECTURE
    + rb"[;, ]?[ ]?)*"
    + _ARCHITECTURE
    + rb")(?=[\"'\s)},#;]|\Z)"
)


class ListVariable(NamedTuple):
    """The variable of PyTorch and that of torch_musa."""

    cuda: bytes
    musa: bytes
    evidence: str


def find_torch_architectures(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Edits for the variable, and for a list that it is given; a finding where the list stands elsewhere."""
    variable = _variable()
    if variable.cuda not in unit.data:
        return
    for token in unit.tokens:
        if token.kind in (TokenKind.COMMENT, TokenKind.NAME):
            continue
        for match in _pattern().finditer(unit.data, token.start, token.end):
            yield from _results(unit, Span(*match.span()))


def _results(unit: BuildUnit, span: Span) -> Iterator[Edit | Finding]:
    variable = _variable()
    yield _edit(span, variable.musa, Applicability.SAFE, variable.cuda)
    value = _VALUE.match(unit.data, span.end)
    if value is None:
        severity = Severity.NOTE if _is_emptied(unit.data, span.end) else None
        yield Finding("MUS545", span, variable.cuda.decode(), severity=severity)
        return
    numbers = (name.removeprefix("mp_") for name in unit.settings.target.architectures)
    yield _edit(Span(*value.span("value")), ";".join(numbers).encode(), Applicability.REVIEW, value.group("value"))


def _is_emptied(data: bytes, offset: int) -> bool:
    """Whether the list is only taken away or asked for, so that its form does not matter."""
    return re.match(rb"[\"'\])]*[ \t]*(?:=|,)[ \t]*(?:\"\"|''|None\b)", data[offset : offset + 40]) is not None


def _edit(span: Span, text: bytes, applicability: Applicability, name: bytes) -> Edit:
    shown = name.decode("utf-8", "replace")
    return Edit(span, text, TORCH_ARCHITECTURES, applicability, shown, "", _variable().evidence)


@cache
def _variable() -> ListVariable:
    table = shipped_tables("build")["python.toml"]["architecture_list"]
    return ListVariable(table["cuda"].encode(), table["musa"].encode(), table["evidence"])


@cache
def _pattern() -> re.Pattern[bytes]:
    return re.compile(rb"(?<!\w)" + re.escape(_variable().cuda) + rb"(?!\w)")
