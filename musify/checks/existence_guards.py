"""Conditions that ask whether a macro exists which MUSA may not have: a wrong name there is false, and no error."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._guards import CONDITION_KEYWORDS
from musify.languages.cuda.unit import Unit
from musify.model import Evidence, Finding, Span
from musify.rules.model import Action
from musify.source.outline import Directive

# Include guards of the toolkit's headers: CUBLAS_API_H_, _CUFFT_H_, __CUDA_RUNTIME_H__, __DRIVER_TYPES_H__ ...
_HEADER_GUARD = re.compile(
    rb"\b_*(?:CUDA|CUBLAS|CUFFT|CURAND|CUSPARSE|CUSOLVER|CUDNN|CUPTI|CUTENSOR|NCCL|NVRTC|NVML|NVJPEG|NV_NPP|NPP|DRIVER_TYPES|"
    rb"VECTOR_TYPES|DEVICE_FUNCTIONS)(?:[A-Z0-9_]*_)?H_*\b"
)


def run(unit: Unit) -> Iterator[Finding]:
    """A finding for every renamed macro that is only inferred, and for every include guard of a toolkit header."""
    defined = {directive.name for directive in unit.outline.directives}
    for directive in unit.outline.directives:
        if directive.keyword in CONDITION_KEYWORDS:
            for match in _HEADER_GUARD.finditer(unit.data, directive.body, directive.end):
                if match.group() not in defined and unit.book.name(match.group()) is None:
                    yield Finding("MUS309", Span(*match.span()), match.group().decode())
    for word in unit.words:
        inside = unit.outline.directive_at(word.start)
        if inside is not None and inside.keyword in CONDITION_KEYWORDS:
            yield from _inferred(unit, word, inside)


def _inferred(unit: Unit, word: Span, directive: Directive) -> Iterator[Finding]:
    rule = unit.book.name(unit.text(word))
    if rule is None or rule.action is not Action.RENAME or rule.evidence not in (Evidence.TABLE, Evidence.NONE):
        return
    if unit.book.is_version_macro(rule.name) and len(unit.data[directive.body : directive.end].split()) > 1:
        return  # version_guards.py speaks of comparisons
    yield Finding("MUS308", word, rule.name.decode(), {"target": rule.target.decode(), "evidence": rule.evidence.value})
