"""Python packages that are built for CUDA, wherever a file names them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from musify.rules.shipped import shipped_tables


class Requirement(NamedTuple):
    """Names of distributions, and what there is on MUSA instead."""

    names: re.Pattern[bytes]
    instead: Mapping[str, str]


def requirement_of(text: bytes) -> Mapping[str, str] | None:
    """What there is instead of a package for CUDA; None where a word is not the name of one."""
    return next((item.instead for item in _requirements() if item.names.fullmatch(text)), None)


@cache
def _requirements() -> Sequence[Requirement]:
    return tuple(
        Requirement(
            re.compile(table["names"].encode()), {"instead": table["instead"], "instead_zh": table["instead_zh"]}
        )
        for table in shipped_tables("build")["python.toml"]["requirement"]
    )
