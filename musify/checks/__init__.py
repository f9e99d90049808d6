"""Rules that need code, one module a rule; found by walking this package.

A check module has a function `run(unit)` that yields edits and findings for one C, C++ or CUDA source. It may name
`TRIGGERS`, byte strings one of which a source must hold for the check to have anything to do there; they are looked
for together with the words, so that a source without them costs nothing. A trigger must not begin with a prefix of
API names (`cu`, `nccl` ...), for those are found as words.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from musify.languages.cuda.unit import Unit
    from musify.model import Edit, Finding


class Check(NamedTuple):
    """A check, and what a source must hold for it to run (empty: anything)."""

    run: Callable[[Unit], Iterator[Edit | Finding]]
    triggers: frozenset[bytes]


@lru_cache(maxsize=1)
def all_checks() -> tuple[Check, ...]:
    """All check modules, in the order of their names."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return tuple(Check(module.run, frozenset(getattr(module, "TRIGGERS", ()))) for module in modules)


@lru_cache(maxsize=1)
def all_triggers() -> frozenset[bytes]:
    """What any check looks for."""
    return frozenset[bytes]().union(*(check.triggers for check in all_checks()))
