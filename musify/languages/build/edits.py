"""Edits of one file put together."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator

from musify.model import Edit, Finding, Span


def without_inner(found: Iterable[Edit | Finding]) -> Iterator[Edit | Finding]:
    """All findings, and the edits that touch no earlier edit."""
    taken: list[Span] = []  # in order, of their starts and of their ends, for none overlaps another
    for item in found:
        if isinstance(item, Edit):
            before = bisect_left(taken, Span(item.span.end, -1))
            if before and taken[before - 1].end > item.span.start:
                continue
            insort(taken, item.span)
        yield item
