"""Places in a source that a compatibility header has to do with: what stands there, and who sees it."""

from __future__ import annotations

import re
from functools import cached_property

from musify.checks._guards import CONDITION_KEYWORDS
from musify.engine.document import Conversion
from musify.model import Span
from musify.source import edits as applier
from musify.source.conditions import Conditionals
from musify.source.outline import Directive, OpaqueKind, Outline

_EXISTENCE = frozenset({b"ifdef", b"ifndef", b"elifdef", b"elifndef"})
_DEFINED = re.compile(rb"\bdefined[ \t]*\(?[ \t]*\Z")
_TEXT_SHOWN = 160


class Places:
    """Questions about places of one conversion's source. `marks` are what conditions name that speak of MUSA."""

    def __init__(self, conversion: Conversion, marks: tuple[bytes, ...]) -> None:
        self._data = conversion.document.data
        self._edits = conversion.edits
        self._marks = marks
        self.outline = Outline(self._data)

    def text(self, span: Span) -> bytes:
        """The bytes of `span`."""
        return self._data[span.start : span.end]

    def converted(self, span: Span) -> bytes:
        """The text of `span` as `convert` makes it."""
        inside = [
            edit._replace(span=Span(edit.span.start - span.start, edit.span.end - span.start))
            for edit in self._edits
            if span.start <= edit.span.start and edit.span.end <= span.end
        ]
        return applier.apply(self.text(span), inside)

    def in_literal(self, span: Span) -> bool:
        """Whether the place lies in a string."""
        opaque = self.outline.opaque_at(span.start)
        return opaque is not None and opaque.kind in (OpaqueKind.STRING, OpaqueKind.RAW_STRING)

    def asks_existence(self, directive: Directive, span: Span) -> bool:
        """Whether the directive only asks if the name at `span` is defined."""
        if directive.keyword in _EXISTENCE:
            return True
        return directive.keyword in CONDITION_KEYWORDS and bool(
            _DEFINED.search(self._data, directive.start, span.start)
        )

    def is_settled(self, offset: int) -> bool:
        """Whether a condition around the place, or the condition itself, speaks of MUSA: somebody has seen to it."""
        directive = self.outline.directive_at(offset)
        inside = directive.end if directive is not None and directive.keyword in CONDITION_KEYWORDS else offset
        groups = [branch.group for branch in self._conditionals.branches_around(inside)]
        lines = (branch.directive for group in groups for branch in group.branches)
        return any(mark in self._data[line.start : line.end] for line in lines for mark in self._marks)

    @cached_property
    def _conditionals(self) -> Conditionals:
        return Conditionals(self.outline)


def redefines(directive: Directive, span: Span) -> bool:
    """Whether the directive defines or undefines the name at `span`."""
    return directive.keyword == b"undef" or (directive.keyword == b"define" and directive.name_start == span.start)


def shown(text: bytes) -> str:
    """Source text on one line, as a message shows it."""
    line = " ".join(text.replace(b"\\\n", b" ").decode("utf-8", "replace").split())
    return line if len(line) <= _TEXT_SHOWN else line[:_TEXT_SHOWN] + " ..."
