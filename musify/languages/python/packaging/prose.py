"""Text for people in string literals: what it says of CUDA has no effect on a build."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.build.facts import cuda_words
from musify.languages.build.settings import is_sentence
from musify.languages.build.unit import BuildUnit
from musify.languages.build.words import word_edits
from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import span_of
from musify.languages.python.strings import StringLiteral, content_span
from musify.model import Finding, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_CODE = re.compile(rb"__global__|__device__|#include|\bvoid\b|;\s*\n|\bimport \w|^\s*-|^\s*(?:\S*/)?nvcc\s", re.M)
# Files may be renamed, and the list of architectures is another pass's.
_FILE = re.compile(rb"\.cuh?\Z|TORCH_CUDA_ARCH_LIST")
_WORD = re.compile(rb"[\w.+-]+")


def find_prose(unit: BuildUnit, module: PythonModule) -> Iterator[Finding]:
    """A note for each CUDA word in text."""
    for literal in module.strings:
        if cuda_words().search(literal.text) and is_prose(literal):
            expressions = [span_of(node) for node in literal.interpolations]
            for content in literal.contents:
                yield from (note for note in _notes(unit.data, content) if not _lies_in(note.span, expressions))


def is_prose(literal: StringLiteral) -> bool:
    """Whether a literal is text for people."""
    return is_sentence(literal.text) and _CODE.search(literal.text) is None


def _lies_in(place: Span, expressions: list[Span]) -> bool:
    """Whether a word stands in an interpolation, which is code."""
    return any(span.start <= place.start < span.end for span in expressions)


def _texts(piece: Node) -> Iterator[Span]:
    """The text of a string between its interpolations, which are code."""
    content = content_span(piece)
    start = content.start
    for child in piece.children:
        if child.type == "interpolation":
            yield Span(start, child.start_byte)
            start = child.end_byte
    yield Span(start, content.end)


def _notes(data: bytes, span: Span) -> Iterator[Finding]:
    changed = [edit.span for edit in word_edits(data, span)]
    for word in _WORD.finditer(data, *span):
        if any(edit.start < word.end() and word.start() < edit.end for edit in changed):
            continue
        if cuda_words().search(data, *word.span()) and not _FILE.search(word.group()):
            yield Finding("MUS546", Span(*word.span()), word.group().decode("utf-8", "replace"))
