"""What rules/build says, ready to look up: words with a counterpart, words that are CUDA's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from musify.model import Evidence
from musify.rules.shipped import shipped_tables
from musify.source.words import TextFinder


class BuildWord(NamedTuple):
    """A word of build files and its counterpart (empty: none is known).

    `kind`: variable (of the environment), path, tool (a program), package (of a distribution), image (of a container).
    """

    cuda: bytes
    musa: bytes
    kind: str
    evidence: Evidence
    source: str
    note: str
    note_zh: str


@cache
def words() -> Mapping[bytes, BuildWord]:
    """The words of rules/build/words.toml, by the CUDA word."""
    found = {}
    for table in shipped_tables("build")["words.toml"]["word"]:
        for cuda, musa in table["map"].items():
            found[cuda.encode()] = BuildWord(
                cuda.encode(),
                musa.encode(),
                table["kind"],
                Evidence(table["evidence"]),
                table.get("source", ""),
                table.get("note", ""),
                table.get("note_zh", ""),
            )
    return found


@cache
def named(kind: str) -> Mapping[bytes, BuildWord]:
    """The words of one kind."""
    return {name: word for name, word in words().items() if word.kind == kind}


@cache
def cuda_literals() -> tuple[bytes, ...]:
    """Lower-case text of which every CUDA word holds some: quick to look for, and enough to pass a file over."""
    table = shipped_tables("build")["words.toml"]["cuda_words"]
    return tuple(text.encode() for text in (*table["stems"].split(), *table["literals"].split()))


@cache
def cuda_literal_finder() -> TextFinder:
    """Finds what `cuda_literals` holds in a file in lower case."""
    return TextFinder(cuda_literals())


@cache
def cuda_words() -> re.Pattern[bytes]:
    """Finds what makes a word CUDA's, anywhere in it and in any case."""
    stems = shipped_tables("build")["words.toml"]["cuda_words"]["stems"].split()
    exact = shipped_tables("build")["words.toml"]["cuda_words"]["patterns"]
    return re.compile(b"(?i:" + b"|".join(re.escape(stem.encode()) for stem in stems) + b")|" + exact.encode())
