"""THC's state, which its functions took and PyTorch no longer has: `THCState_getCurrentStream(state)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from musify.checks.torch_devices import TRIGGERS, mentions_torch
from musify.languages.cuda.names import is_left_unattested
from musify.languages.cuda.unit import Unit
from musify.model import Applicability, Edit, Span
from musify.rules.shipped import shipped_tables

__all__ = ["TRIGGERS", "run"]

ARGUMENT = "torch-state-argument"
_ONE_NAME = re.compile(rb"\s*\(\s*(\w+)\s*\)")


@lru_cache(maxsize=1)
def _functions() -> frozenset[bytes]:
    return frozenset(shipped_tables("torch")["devices.toml"]["state"]["functions"].encode().split())


def run(unit: Unit) -> Iterator[Edit]:
    """Edits that take the argument out, where it is a name."""
    if not mentions_torch(unit):
        return
    for word in unit.words:
        name = unit.text(word)
        rule = unit.book.name(name) if name in _functions() else None
        match = _ONE_NAME.match(unit.data, word.end) if rule is not None else None
        if rule is not None and match is not None and not is_left_unattested(rule, unit.settings):
            place = Span(*match.span(1))
            yield Edit(place, b"", ARGUMENT, Applicability.SAFE, name.decode(), "torch", rule.evidence.value)
