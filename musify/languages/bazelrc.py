"""Settings of Bazel (.bazelrc): labels of CUDA's rules in them have findings; paths and variables are changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.bazel.facts import read_label
from musify.languages.bazel.labels import label_finding
from musify.languages.build.unit import BuildUnit, TokenKind
from musify.languages.plain import tokens
from musify.model import Edit, Finding, Span

__all__ = ["convert", "tokens"]
_LABEL = re.compile(rb"@+[\w.+~-]+//[\w./+-]*(?::[\w./+-]+)?")


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """A finding for each label of CUDA's repositories."""
    for token in unit.tokens:
        if token.kind is not TokenKind.COMMENT:
            for match in _LABEL.finditer(unit.data, token.start, token.end):
                label = read_label(match.group().decode(), unit.book)
                if label is not None:
                    yield label_finding(label, Span(*match.span()))
