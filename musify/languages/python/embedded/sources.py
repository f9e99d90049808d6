"""Source in strings that Python hands to a compiler at run time, converted where it stands."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from musify.languages.build.files import RENAMED_FILE, is_renamed
from musify.languages.build.unit import BuildUnit, Token, TokenKind
from musify.languages.cuda.source import convert_string
from musify.languages.python.embedded.literals import source_literals
from musify.languages.python.module import PythonModule
from musify.languages.python.strings import StringLiteral, prefix_of
from musify.languages.surroundings import IncludeTarget, Surroundings
from musify.model import Edit, Finding, Span
from musify.source.outline import Outline

_INCLUDED = re.compile(rb"#[ \t]*include[ \t]*\"([^\"\n]+)\"")
# Marks of text that is formatted later, where braces (or percent signs) mean something.
_FORMATTED = re.compile(rb"\{\{|\}\}|\{[A-Za-z_]?\w*\}|%\(\w+\)|%[sd]")

# Places that are filled in later and may go on or begin a word; `a %s` may be the rest of a division.
_PLACEHOLDER = re.compile(
    rb"%\(\w+\)[sdifr]|(?<=\w)%[sd](?!\w)|%[sd](?=[A-Za-z_])(?<!\w%[sd])|\$\{\w+\}|(?<!\w)\$[A-Za-z_]\w*"
    rb"|(?<=\w)\{\w*\}(?=\w)|(?<=[A-Za-z]_)\{\w*\}"
)


def find_sources(unit: BuildUnit, module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits and findings inside the literals that hold source."""
    for literal in source_literals(module):
        text = shown_text(literal)
        surroundings = Surroundings(unit.surroundings.path, includes=_includes(unit, text))
        holds = _Holder(literal).holds
        for item in convert_string(literal.embedded, holds, unit.book, unit.settings, surroundings, shown=text):
            yield _suffix_only(unit, item) if isinstance(item, Edit) and item.rule_id == RENAMED_FILE else item


def _suffix_only(unit: BuildUnit, edit: Edit) -> Edit:
    """The change of a file's name without what stays of it."""
    same = edit.new_text.rfind(b".")
    if same < 0 or not unit.text(edit.span).startswith(edit.new_text[:same]):
        return edit
    return edit._replace(span=Span(edit.span.start + same, edit.span.end), new_text=edit.new_text[same:])


def source_comments(module: PythonModule) -> Iterator[Span]:
    """Comments of the source in strings, in order, where each stands in the file in one piece."""
    for literal in source_literals(module):
        for comment in Outline(shown_text(literal)).comments():
            place = literal.locate(comment.start, comment.end)
            if place is not None and place.end > place.start:
                yield place


def with_comments(tokens: Iterable[Token], comments: Iterable[Span]) -> Iterator[Token]:
    """The tokens, source in strings cut at the comments in it; an interpolation within a comment stays what it is."""
    remaining = deque(comments)
    for token in tokens:
        start = token.start
        while remaining and remaining[0].end <= start:
            remaining.popleft()
        for comment in remaining if token.kind is TokenKind.SOURCE else ():
            if comment.start >= token.end:
                break
            begin, end = max(comment.start, start), min(comment.end, token.end)
            if begin > start:
                yield Token(token.kind, start, begin)
            yield Token(TokenKind.COMMENT, begin, end)
            start = end
        if start < token.end:
            yield Token(token.kind, start, token.end)


def shown_text(literal: StringLiteral) -> bytes:
    """What the converter sees of a literal: what is put in later could be anything, so it is a name of nobody's."""
    text = bytearray(literal.text)
    for start, end in (*literal.holes, *(match.span() for match in _PLACEHOLDER.finditer(literal.text))):
        text[start:end] = b"_" * (end - start)
    return bytes(text)


class _Holder:
    """What new text a literal can hold as it is written."""

    def __init__(self, literal: StringLiteral) -> None:
        heads = [(piece.children[0].text or b"") if piece.children else b"" for piece in literal.pieces]
        prefixes = [prefix_of(piece) for piece in literal.pieces]
        self._quotes = {head.lstrip(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") for head in heads}
        self._raw = all(b"r" in prefix for prefix in prefixes)
        self._bytes = any(b"b" in prefix for prefix in prefixes)
        formatted = any(b"f" in prefix for prefix in prefixes) or _FORMATTED.search(literal.text) is not None
        self._special = b"{}%" if formatted else b""

    def holds(self, new_text: bytes) -> bool:
        if any(quote in new_text or quote[:1] == new_text[-1:] for quote in self._quotes):
            return False
        if b"\n" in new_text and any(len(quote) < 3 for quote in self._quotes):
            return False
        if (b"\\" in new_text and not self._raw) or (self._bytes and not new_text.isascii()):
            return False
        return not any(bytes([mark]) in new_text for mark in self._special)


def _includes(unit: BuildUnit, text: bytes) -> Mapping[bytes, IncludeTarget]:
    """The files of the run that the source includes."""
    found = {}
    for path in _INCLUDED.findall(text) if unit.surroundings.renamed else ():
        known = unit.surroundings.renamed.get(path.rpartition(b"/")[2], ())
        if known and is_renamed(unit.surroundings, path):
            found[path] = known[0]
    return found
