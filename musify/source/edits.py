"""The one applier of edits: sorts, refuses overlaps, makes the new bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from musify.model import Applicability, Edit, Span


class EditConflict(Exception):
    """Two edits want the same bytes, or an edit lies outside the file."""


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """Edits sorted by place, exact repetitions once.

    Raises EditConflict where two edits overlap.
    """
    ordered: list[Edit] = []
    for edit in sorted(edits, key=lambda item: (item.span, item.new_text)):
        if ordered:
            last = ordered[-1]
            if last.span == edit.span and last.new_text == edit.new_text:
                continue
            if edit.span.start < last.span.end or edit.span == last.span:
                raise EditConflict(f"{last.rule_id} and {edit.rule_id} both change byte {edit.span.start}")
        ordered.append(edit)
    return ordered


def apply(data: bytes, edits: Sequence[Edit]) -> bytes:
    """`data` with the edits made, except those that are only to be reported (`manual`).

    Raises EditConflict where two edits overlap or one lies outside `data`.
    """
    parts = []
    position = 0
    for edit in in_order(edit for edit in edits if edit.applicability is not Applicability.MANUAL):
        start, end = edit.span
        if not 0 <= start <= end <= len(data):
            raise EditConflict(f"{edit.rule_id} changes bytes {start} to {end} of {len(data)}")
        parts.append(data[position:start])
        parts.append(edit.new_text)
        position = end
    parts.append(data[position:])
    return b"".join(parts)


def inverse(data: bytes, edits: Sequence[Edit]) -> list[Edit]:
    """The edits that lead from `apply(data, edits)` back to `data`; what was removed in one place comes back as one."""
    backwards: list[Edit] = []
    shift = 0
    for edit in in_order(edit for edit in edits if edit.applicability is not Applicability.MANUAL):
        start = edit.span.start + shift
        span, text = Span(start, start + len(edit.new_text)), data[edit.span.start : edit.span.end]
        shift += len(edit.new_text) - (edit.span.end - edit.span.start)
        if backwards and backwards[-1].span.end == start and start in (backwards[-1].span.start, span.end):
            last = backwards.pop()
            span, text = Span(last.span.start, span.end), last.new_text + text
        backwards.append(Edit(span, text, edit.rule_id))
    return backwards
