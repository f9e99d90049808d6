"""Text that stands within a file in another form, as in a string literal: what it says, and where each byte stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from musify.model import Span


class Stretch(NamedTuple):
    """A run of the text: where it begins in the text, and the bytes of the file that say it.

    `verbatim`: byte for byte the same; otherwise an escape.
    """

    start: int
    text: bytes
    span: Span
    verbatim: bool


class EmbeddedText:
    """Text in runs, in order. `contents` are the places of the file within which its bytes stand together."""

    def __init__(self, runs: Sequence[tuple[Span, bytes, bool]], contents: Sequence[Span]) -> None:
        self.contents = tuple(contents)
        found: list[Stretch] = []
        start = 0
        for span, text, verbatim in runs:
            found.append(Stretch(start, text, span, verbatim))
            start += len(text)
        self.stretches = tuple(found)
        self.text = b"".join(stretch.text for stretch in found)
        self._starts = [stretch.start for stretch in found]

    def locate(self, start: int, end: int) -> Span | None:
        """The bytes of the file that say `text[start:end]`.

        None where they do not stand together (two literals), or where an end falls inside an escape.
        """
        if start == end:
            place = self._place(start, opening=True)
            place = self._place(start, opening=False) if place is None else place
            return None if place is None else Span(place, place)
        first, last = self._place(start, opening=True), self._place(end, opening=False)
        if first is None or last is None:
            return None
        together = any(content.start <= first and last <= content.end for content in self.contents)
        return Span(first, last) if together else None

    def around(self, start: int, end: int) -> Span:
        """The smallest place of the file that holds all of `text[start:end]`, whatever stands between its parts."""
        if not self.stretches:
            return self.contents[0] if self.contents else Span(0, 0)
        first = self.stretches[max(0, bisect_right(self._starts, start) - 1)]
        begin = first.span.start + (min(start - first.start, len(first.text)) if first.verbatim else 0)
        if end <= start:
            return Span(begin, begin)
        last = self.stretches[max(0, bisect_right(self._starts, end - 1) - 1)]
        return Span(begin, last.span.start + end - last.start if last.verbatim else last.span.end)

    def _place(self, position: int, *, opening: bool) -> int | None:
        """The offset in the file of a range that begins (or ends) at `position` of the text."""
        # Runs without text (a line that goes on) may stand at the same position: the last one begins a range there.
        index = bisect_right(self._starts, position if opening else position - 1) - 1
        if index < 0:
            return self.contents[0].start if position == 0 and not self.text and self.contents else None
        run = self.stretches[index]
        within = position - run.start
        inside = 0 <= within < len(run.text) if opening else 0 < within <= len(run.text)
        if inside and run.verbatim:
            return run.span.start + within
        if inside and within == (0 if opening else len(run.text)):
            return run.span.start if opening else run.span.end
        return self.contents[0].start if position == 0 and not self.text and self.contents else None

    def runs(self, start: int, end: int) -> Iterator[tuple[Span, bytes, bool]]:
        """The runs that say `text[start:end]`; an escape whose text is cut comes with what is left of that."""
        for run in self.stretches:
            first, last = max(start, run.start), min(end, run.start + len(run.text))
            if first < last or (run.start >= start and not run.text and run.start < end):
                within = run.text[first - run.start : last - run.start]
                begin = run.span.start + (first - run.start if run.verbatim else 0)
                yield Span(begin, begin + len(within)) if run.verbatim else run.span, within, run.verbatim
