"""Labels of CUDA's repositories in Bazel files: what MUSA has for each."""

from __future__ import annotations

from collections.abc import Iterator

from musify.languages.bazel.calls import brings_cuda
from musify.languages.bazel.facts import Label, known, read_label
from musify.languages.build.unit import BuildUnit
from musify.languages.python.module import PythonModule
from musify.model import Finding, Span


def find_labels(unit: BuildUnit, module: PythonModule) -> Iterator[Finding]:
    """A finding for each label; one in a call that brings in CUDA's rules has one already."""
    loads = [call.span for call in module.calls if brings_cuda(module, call)]
    for literal in module.strings:
        span = Span(literal.node.start_byte, literal.node.end_byte)
        if literal.text.startswith(b"@") and not any(a <= span.start and span.end <= b for a, b in loads):
            label = read_label(literal.text.decode("utf-8", "replace"), unit.book)
            if label is not None:
                yield label_finding(label, span)


def label_finding(label: Label, span: Span) -> Finding:
    """What to put in the place of a label of CUDA's."""
    if label.library is not None and not label.target:
        shown = {"library": label.written, "instead": label.library.instead, "instead_zh": label.library.instead_zh}
        return Finding("MUS525", span, label.written, shown)
    if not label.target:
        return known()["label"].at(span, label.written)
    target = "include/" if label.target == "headers" else f"lib/lib{label.target}.so"
    return Finding("MUS552", span, label.written, {"target": target, "instead": f"@local_musa//:{label.target}"})
