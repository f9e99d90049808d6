"""A matrix of a workflow that goes through GPU architectures: its list becomes the architectures of the target."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from musify.languages.build.architectures import ARCHITECTURE_VALUE
from musify.languages.build.unit import BuildUnit
from musify.languages.build.variables import is_architecture_value
from musify.languages.yaml.structure import Scalar
from musify.model import Applicability, Edit, Span

_USE = rb"\$\{\{\s*matrix\.([\w-]+)\s*\}\}"
_NAMED = re.compile(rb"(?:(?<![\w-])-(?:arch|-gpu-architecture|code)[= ]|\bcode=|\bARCH=)" + _USE)
_NUMBERED = re.compile(rb"(?:sm|compute|lto)_" + _USE)


def matrix_edits(unit: BuildUnit, scalars: Sequence[Scalar]) -> Iterator[tuple[bytes, Edit]]:
    """Names and edits for lists of `matrix` whose items nvcc gets as an architecture, or as what follows `sm_`."""
    kinds = dict.fromkeys(_NUMBERED.findall(unit.data), True) | dict.fromkeys(_NAMED.findall(unit.data), False)
    lists: dict[tuple[bytes, ...], list[Scalar]] = defaultdict(list)
    for scalar in scalars:
        if len(scalar.path) > 1 and scalar.path[-2] == b"matrix" and scalar.path[-1] in kinds:
            lists[scalar.path].append(scalar)
    for path, items in lists.items():
        numbers = kinds[path[-1]]
        texts = [unit.text(item.span) for item in items]
        if len({item.style for item in items}) == 1 and is_architecture_value(texts, numbers=numbers):
            yield path[-1], _edit(unit, items, numbers)


def _edit(unit: BuildUnit, items: Sequence[Scalar], numbers: bool) -> Edit:
    first, last = items[0].span, items[-1].span
    names = [name.removeprefix("mp_") if numbers else name for name in unit.settings.target.architectures]
    between = unit.data[first.end : items[1].span.start] if len(items) > 1 else _separator(unit.data, first)
    old = unit.data[first.start : last.end].decode("utf-8", "replace")
    new = between.join(name.encode() for name in names)
    return Edit(Span(first.start, last.end), new, ARCHITECTURE_VALUE, Applicability.REVIEW, old, "", "code")


def _separator(data: bytes, only: Span) -> bytes:
    """What stands between the items of a list that has only one so far."""
    line = data.rfind(b"\n", 0, only.start) + 1
    before = data[line : only.start]
    if before.lstrip().startswith(b"-"):
        return b"\n" + before
    quote = before[-1:] if before[-1:] in (b"'", b'"') else b""
    return quote + b", " + quote
