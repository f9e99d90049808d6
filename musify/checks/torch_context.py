"""What asks PyTorch for its CUDA backend in C++: `at::hasCUDA()`, `at::globalContext().lazyInitCUDA()`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from musify.checks.torch_devices import TRIGGERS, mentions_torch
from musify.languages.cuda.owners import qualifiers
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span
from musify.rules.shipped import shipped_tables

__all__ = ["TRIGGERS", "run"]

_NAME = re.compile(rb"(?<![\w#])\w*(?:CUDA|Cuda|CuDNN|cudnn|CuBLAS|CuSOLVER|NCCL)\w*(?=\s*(?:\(|<|::))")
_NAMESPACES = frozenset({b"at", b"c10", b"torch", b"detail"})
_UNKNOWN = {
    "why": "no counterpart in torch_musa is known", "why_zh": "未知 torch_musa 中的对应物",
    "instead": "see what your torch_musa has", "instead_zh": "请查看所用 torch_musa 的支持情况",
}  # fmt: skip


@lru_cache(maxsize=1)
def _known() -> Mapping[bytes, Mapping[str, str]]:
    tables: list[dict[str, Any]] = shipped_tables("torch")["devices.toml"]["without"]
    return {name.encode(): {key: table[key] for key in _UNKNOWN} for table in tables for name in table["names"].split()}


def run(unit: Unit) -> Iterator[Finding]:
    """A finding for each such call: of a name that is known, or of any in PyTorch's namespaces that is on no list."""
    if not mentions_torch(unit):
        return
    for word in unit.outline.in_code(Span(*match.span()) for match in _NAME.finditer(unit.data)):
        name = unit.text(word)
        if name == b"CUDA":
            continue  # a device: torch_devices.py
        before = qualifiers(unit, word)
        if unit.book.name(name) is not None or b"::".join(map(unit.text, [*before[-1:], word])) in unit.book.owners:
            continue
        dotted = unit.text(unit.outline.before(word.start)) in (b".", b"->")
        qualified = bool(before) and unit.text(before[0]) in _NAMESPACES and unit.text(before[-1]) in _NAMESPACES
        if qualified or (dotted and name in _known()):
            yield Finding("MUS602", word, name.decode(), _known().get(name, _UNKNOWN))
