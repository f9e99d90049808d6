"""Build files that end in the middle of something, or miss a bracket or a quote: they are read, never a fault."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from musify.engine.document import convert_build
from musify.languages.recognition import language_of
from musify.languages.registry import Language
from musify.languages.surroundings import BuildSurroundings, IncludeTarget, Settings
from musify.rules import book
from musify.rules.book import RuleBook
from musify.source.document import Document
from tests.commands import ROOT

TREES = ROOT / "fixtures" / "build"
FILES = [
    path
    for path in sorted(TREES.glob("*/*/before/**/*"))
    if path.is_file() and language_of(path.relative_to(TREES).as_posix()) not in (None, Language.CUDA)
]
RENAMED = {name: [IncludeTarget(name.decode(), name.decode()[:-2] + "mu")] for name in (b"a.cu", b"x.cu", b"kernel.cu")}


@cache
def rules() -> RuleBook:
    return book.load()


def convert(path: Path, data: bytes) -> bytes:
    language = language_of(path.relative_to(TREES).as_posix())
    assert language is not None
    surroundings = BuildSurroundings(path=path.name, renamed=RENAMED)
    return convert_build(Document(data), language, rules(), Settings(), surroundings).new_data


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(TREES).as_posix())
def test_a_file_that_ends_early(path: Path) -> None:
    data = path.read_bytes()
    for end in range(0, len(data), max(1, len(data) // 12)):
        convert(path, data[:end])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(TREES).as_posix())
def test_a_file_that_misses_its_brackets_and_quotes(path: Path) -> None:
    data = path.read_bytes()
    for missing in (b"(", b")", b"[", b"]", b"{", b"}", b'"', b"'", b","):
        convert(path, data.replace(missing, b""))
        convert(path, data.replace(missing, b"", 1))
