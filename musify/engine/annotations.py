"""Findings as comments above their lines, put in and taken out again as they come and go."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from musify.model import Edit, Finding, Severity, Span
from musify.rules import findings as catalogue
from musify.source.document import Document
from musify.source.outline import OpaqueKind, Outline

ANNOTATION = "annotation"
# At the start of a line, or behind the mark that a file begins with.
_MINE = re.compile(rb"(?:^|(?<=\xef\xbb\xbf))[ \t]*// musify: MUS\d{3}: [^\n]*\n?", re.M)
_INDENT = re.compile(rb"[ \t]*")


def annotation_edits(document: Document, outline: Outline, findings: Sequence[Finding]) -> list[Edit]:
    """Edits that leave exactly the comments that `findings` call for; none where they stand already.

    Notes and suppressed findings get no comment. A finding inside a macro, a continued line or a literal gets its
    comment above the first line of it.
    """
    wanted: dict[int, list[bytes]] = defaultdict(list)
    for finding in findings:
        if finding.suppressed or catalogue.severity(finding) is Severity.NOTE:
            continue
        line = _line_for(document, outline, finding.span.start)
        text = _comment(document, line, finding)
        if text not in wanted[line]:
            wanted[line].append(text)
    present = _present(document)
    edits = [Edit(span, b"", ANNOTATION) for line, found in present.items() for span, _ in found
             if [text for _, text in found] != wanted.get(line)]  # fmt: skip
    for line, texts in wanted.items():
        if [text for _, text in present.get(line, ())] != texts:
            start = document.text_span(line)[0]
            edits.append(Edit(Span(start, start), b"".join(texts), ANNOTATION))
    return edits


def _comment(document: Document, line: int, finding: Finding) -> bytes:
    start, end = document.text_span(line)
    indent = _INDENT.match(document.data, start, end)
    newline = b"\r\n" if document.data[start:end].endswith(b"\r\n") else b"\n"
    message = " ".join(catalogue.message(finding).split()).replace("\\", "/")
    return (indent.group() if indent else b"") + f"// musify: {finding.rule_id}: {message}".encode() + newline


def _present(document: Document) -> dict[int, list[tuple[Span, bytes]]]:
    """Comments of ours by the line that follows them."""
    found: dict[int, list[tuple[Span, bytes]]] = {}
    waiting: list[tuple[Span, bytes]] = []
    next_line = -1
    for match in _MINE.finditer(document.data):
        line = document.line_index(match.start())
        if line != next_line and waiting:
            found[next_line] = waiting
            waiting = []
        waiting.append((Span(*match.span()), match.group()))
        next_line = line + 1
    if waiting:
        found[next_line] = waiting
    return found


def _line_for(document: Document, outline: Outline, offset: int) -> int:
    """The line above which a comment about `offset` can stand."""
    directive = outline.directive_at(offset)
    if directive is not None:
        offset = directive.start
    opaque = outline.opaque_at(offset)
    if opaque is not None and opaque.kind in (OpaqueKind.RAW_STRING, OpaqueKind.STRING, OpaqueKind.COMMENT):
        offset = opaque.start
    line = document.line_index(offset)
    while line > 0 and _is_continued(document, line - 1):
        line -= 1
    return line


def _is_continued(document: Document, line: int) -> bool:
    start, end = document.line_span(line)
    return document.data[start:end].rstrip(b"\r\n").endswith(b"\\")
