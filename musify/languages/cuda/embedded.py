"""CUDA source in a string of a program, C++ or Python: its changes carried over to where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from musify.model import Applicability, Edit, Finding, Span
from musify.ptx.statement import REWRITE, left_in_literals
from musify.source.embedding import EmbeddedText

_REWRITTEN = "MUS202"
# How much of a source its summary is shown at.
_SHOWN = 40

Holds = Callable[[bytes], bool]


def carried_over(
    text: EmbeddedText, holds: Holds, edits: Sequence[Edit], findings: Iterable[Finding]
) -> Iterator[Edit | Finding]:
    """Edits and findings of a source at their places in the file that holds it, and a finding that counts the edits.

    `holds` says whether the string can hold new text as it is. A change that the string cannot take becomes a finding.
    """
    findings = list(findings)
    fits = {edit: holds(edit.new_text) and text.locate(*edit.span) is not None for edit in edits}
    # A statement is rewritten as a whole or not at all.
    torn = [item.span for item in findings if item.rule_id == _REWRITTEN and not all(_of(item.span, fits))]
    refused: list[Span] = []
    made = 0
    for edit in edits:
        place = text.locate(*edit.span)
        if place is not None and fits[edit] and not any(_within(edit.span, span) for span in torn):
            made += 1
            sure = Applicability.REVIEW if edit.applicability is Applicability.SAFE else edit.applicability
            yield edit._replace(span=place, applicability=sure)
        elif edit.rule_id != REWRITE:
            refused.append(edit.span)
            yield _refused(text, edit)
    for finding in (item for item in findings if not any(_within(item.span, span) for span in refused)):
        is_torn = finding.rule_id == _REWRITTEN and finding.span in torn
        finding = left_in_literals(finding) if is_torn else finding
        yield finding._replace(span=text.around(*finding.span))
    if made:
        yield Finding("MUS109", text.around(0, min(len(text.text), _SHOWN)), "", {"count": str(made)})


def _of(statement: Span, fits: Mapping[Edit, bool]) -> Iterator[bool]:
    """Whether they fit, for the edits that rewrite a statement."""
    return (fit for edit, fit in fits.items() if edit.rule_id == REWRITE and _within(edit.span, statement))


def _within(span: Span, around: Span) -> bool:
    return around.start <= span.start and span.end <= around.end


def _refused(text: EmbeddedText, edit: Edit) -> Finding:
    """The finding for a change that its string cannot hold."""
    old = text.text[slice(*edit.span)].decode("utf-8", "replace")
    return Finding(
        "MUS122", text.around(*edit.span), edit.name or old, {"target": edit.new_text.decode("utf-8", "replace")}
    )
