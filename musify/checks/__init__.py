"""Rules that need code, one module a rule; found by walking this package.

A check module has a function `run(unit)` that yields edits and findings for one C, C++ or CUDA source.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from musify.languages.cuda.unit import Unit
    from musify.model import Edit, Finding

    Check = Callable[[Unit], Iterator[Edit | Finding]]


@lru_cache(maxsize=1)
def all_checks() -> tuple[Check, ...]:
    """The `run` functions of all check modules, in the order of their names."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    return tuple(importlib.import_module(f"{__name__}.{name}").run for name in names)
