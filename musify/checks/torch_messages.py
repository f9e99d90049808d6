"""What a PyTorch extension tells people of CUDA: messages of TORCH_CHECK, descriptions of a module's functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from musify.checks.torch_devices import TRIGGERS, mentions_torch
from musify.languages.cuda.references import enclosing_call
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span
from musify.rules.shipped import shipped_tables

__all__ = ["TRIGGERS", "run"]

# A word of its own: names such as "scan_cuda" are what Python calls, and stay with it.
_WORD = re.compile(rb"(?i)(?<![\w/.:-])(?:cuda|nccl|cudnn|cublas|nvcc)(?![\w/.-])")


@lru_cache(maxsize=1)
def _functions() -> re.Pattern[bytes]:
    table = shipped_tables("torch")["devices.toml"]["messages"]
    functions, macros = ("|".join(table[key].split()) for key in ("functions", "macros"))
    return re.compile(rf"(?:{functions})|[A-Z0-9_]*(?:{macros})[A-Z0-9_]*".encode())


def run(unit: Unit) -> Iterator[Finding]:
    """A note for each such word in text of several words."""
    if not mentions_torch(unit) or _WORD.search(unit.data) is None:
        return
    for literal in unit.outline.strings():
        text = unit.data[literal.start : literal.end]
        word = _WORD.search(text)
        if (
            word is None
            or b" " not in text
            or _functions().fullmatch(enclosing_call(unit.outline, literal.start)) is None
        ):
            continue
        place = Span(literal.start + word.start(), literal.start + word.end())
        yield Finding("MUS614", place, unit.text(place).decode())
