"""Lists of CUDA architectures, each a word of its own: they become the target's, as a set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from musify.languages.build.flags import FlagWord
from musify.languages.build.unit import BuildUnit
from musify.model import Applicability, Edit, Finding, Span

ARCHITECTURE_LIST = "architecture-list"
_ARCHITECTURE = re.compile(rb"(?:sm|compute|lto)_\d{2,3}[af]?")


def architecture_list(unit: BuildUnit, words: Sequence[FlagWord], separator: bytes) -> Iterator[Edit | Finding]:
    """Edits where every word of a list is a CUDA architecture; `separator` is written between two words.

    The words stand in order; the first gives the quotes. Comments between them stop the rewrite.
    """
    if not words or not all(_ARCHITECTURE.fullmatch(word.text) for word in words):
        return
    span = Span(words[0].span.start, words[-1].span.end)
    names = unit.settings.target.architectures
    shown = ", ".join(names)
    name = unit.text(span).decode("utf-8", "replace")
    if b"#" in unit.text(span) or b"--" in unit.text(span):
        yield Finding("MUS526", span, name)
        return
    before, _, after = unit.text(words[0].span).partition(words[0].text)
    new = separator.join(before + name.encode() + after for name in names)
    yield Edit(span, new, ARCHITECTURE_LIST, Applicability.REVIEW, "", "", "code")
    yield Finding("MUS553", span, name, {"target": shown})
