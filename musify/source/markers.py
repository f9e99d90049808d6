"""Marks in comments that people leave for the tool.

`MUSIFY_EXCL_LINE` on a line, or `MUSIFY_EXCL_START` to `MUSIFY_EXCL_STOP`: nothing there is changed or reported.
`musify: ignore[MUS101, MUS301] reason`: findings of these ids on the line are suppressed; in a comment that
stands alone on its line, those of the next line. The marks work in any comment style, since only comments
are searched and the caller says where these are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from musify.model import Edit, Finding, Span
from musify.source.document import Document

_MARK = re.compile(rb"MUSIFY_EXCL_(LINE|START|STOP)\b|musify:[ \t]*ignore\[([A-Za-z0-9_, \t]*)\]", re.ASCII)
UNUSED_SUPPRESSION = "MUS904"
UNCLOSED_EXCLUSION = "MUS906"
_SAID_ELSEWHERE = ("MUS7",)  # findings of `musify header`: a conversion does not make them


@dataclass(frozen=True)
class _Ignore:
    identifiers: frozenset[str]
    line: int
    span: Span


@dataclass(frozen=True)
class Markers:
    """The exclusions and suppressions of one file."""

    excluded: tuple[Span, ...] = ()
    ignores: tuple[_Ignore, ...] = ()
    findings: tuple[Finding, ...] = ()

    def excludes(self, span: Span) -> bool:
        """Whether `span` touches an excluded stretch."""
        return any(start < max(span.end, span.start + 1) and span.start < end for start, end in self.excluded)

    def filter(
        self, document: Document, edits: Iterable[Edit], findings: Iterable[Finding]
    ) -> tuple[list[Edit], list[Finding]]:
        """Edits and findings outside the exclusions; suppressed findings stay, marked; unused marks are findings."""
        kept_edits = [edit for edit in edits if not self.excludes(edit.span)]
        kept: list[Finding] = []
        used: set[tuple[int, str]] = set()
        for finding in findings:
            if self.excludes(finding.span):
                continue
            line = document.line_index(finding.span.start)
            hit = next((i for i in self.ignores if i.line == line and finding.rule_id in i.identifiers), None)
            if hit is not None:
                used.add((hit.span.start, finding.rule_id))
                finding = finding._replace(suppressed=True)
            kept.append(finding)
        for ignore in self.ignores:
            for identifier in sorted(ignore.identifiers):
                if (ignore.span.start, identifier) not in used and not identifier.startswith(_SAID_ELSEWHERE):
                    kept.append(Finding(UNUSED_SUPPRESSION, ignore.span, identifier, {"id": identifier}))
        return kept_edits, [*kept, *self.findings]


def read_markers(document: Document, comments: Iterable[Span]) -> Markers:
    """The marks in `comments`, which are in order of place; these are not looked at where no mark can be."""
    data = document.data
    if b"MUSIFY_EXCL" not in data and b"musify:" not in data:
        return Markers()
    excluded: list[Span] = []
    ignores: list[_Ignore] = []
    opened: Span | None = None
    for comment in comments:
        for match in _MARK.finditer(data, comment.start, comment.end):
            span = Span(match.start(), match.end())
            what = match.group(1)
            if what is None:
                ignores.append(_ignore(document, comment, match.group(2), span))
            elif what == b"START":
                opened = opened or span
            elif what == b"STOP":
                if opened is not None:
                    excluded.append(Span(opened.start, match.end()))
                opened = None
            else:
                excluded.append(Span(*document.line_span(document.line_index(match.start()))))
    findings: tuple[Finding, ...] = ()
    if opened is not None:
        excluded.append(Span(opened.start, len(data)))
        findings = (Finding(UNCLOSED_EXCLUSION, opened, "MUSIFY_EXCL_START"),)
    return Markers(tuple(excluded), tuple(ignores), findings)


def _ignore(document: Document, comment: Span, identifiers: bytes, span: Span) -> _Ignore:
    line = document.line_index(comment.start)
    start, end = document.line_span(line)
    alone = not document.data[start : comment.start].strip() and not document.data[comment.end : end].strip()
    names = frozenset(part.strip().decode() for part in identifiers.split(b",") if part.strip())
    return _Ignore(names, line + 1 if alone else line, span)
