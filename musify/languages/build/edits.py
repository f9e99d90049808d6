"""Edits of one file put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from musify.model import Edit, Finding, Span


def without_inner(found: Iterable[Edit | Finding]) -> Iterator[Edit | Finding]:
    """All findings, and the edits that touch no earlier edit."""
    taken: list[Span] = []
    for item in found:
        if isinstance(item, Edit):
            if any(span.start < item.span.end and item.span.start < span.end for span in taken):
                continue
            taken.append(item.span)
        yield item
