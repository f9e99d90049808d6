"""Where the tokens around a name allow that it is being declared there; syntax settles the rest."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from musify.languages.cuda.references import OPERATOR_KEYWORDS, Neighbours, is_identifier
from musify.model import Span
from musify.source.outline import Outline

_AFTER_DECLARED = frozenset({b";", b"=", b",", b")", b"[", b"{", b":", b"("})
_STATEMENT_STARTS = frozenset({b"", b";", b"{", b"}", b")", b":", b">"})
_TYPE_INTRODUCERS = frozenset({b"struct", b"class", b"union", b"enum"})
_MOST_TOKENS = 40
_ENUM_BODY = re.compile(rb"enum(?<!\wenum)\b[^;{}()]*\{([^{}]*)\}")  # begins with a literal text: quick to find


class EnumBodies:
    """Where enumerators are declared; found on first use."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return [match.span(1) for match in _ENUM_BODY.finditer(self._outline.data)]

    def __contains__(self, offset: int) -> bool:
        index = bisect_right(self._spans, (offset, len(self._outline.data))) - 1
        return index >= 0 and offset < self._spans[index][1]


def may_declare(outline: Outline, around: Neighbours, enums: EnumBodies, word: Span) -> bool:
    """Whether the tokens around a plain name allow that it is being declared there."""
    before, after = around.before_text, around.after_text
    if before in _TYPE_INTRODUCERS:
        return after in (b"{", b":", b"final")
    if before in (b"typename", b"class", b"namespace"):
        return after in (b",", b">", b"=", b"{")
    if before == b"using":
        return after == b"="
    if after not in _AFTER_DECLARED and after != b"}":
        return False
    if before == b"}":
        return after in (b";", b",", b"[")  # typedef enum { ... } name;
    if before in (b",", b"{"):
        if word.start in enums or (before == b"," and after in (b";", b"=", b":")):
            return True
        return (before, after) == (b",", b",") and _continues_declarators(outline, around.before)
    if before == b")":
        return after in (b";", b"=", b",", b"[", b"{") and _after_type_expression(outline, around.before)
    if is_identifier(before):
        return before not in OPERATOR_KEYWORDS and before not in (b"typedef", b"using")
    if before not in (b"*", b"&", b"&&", b">"):
        return False
    return _declarator_prefix(outline, around, after)


def _declarator_prefix(outline: Outline, around: Neighbours, after: bytes) -> bool:
    operand = outline.before(around.before.start)
    text = outline.text(operand)
    while text in (b"*", b"&", b"const"):
        operand = outline.before(operand.start)
        text = outline.text(operand)
    if text == b"(":
        return after == b")"  # a function pointer: (*name)
    if text == b",":
        return after in (b";", b",", b"=")  # int *a, *name;
    if text == b")":
        return _after_type_expression(outline, operand)
    if text == b">" or around.before_text == b">":
        return True
    if not is_identifier(text) or text in OPERATOR_KEYWORDS:
        return False
    start = outline.text(outline.before(operand.start))
    if start in _STATEMENT_STARTS or start == b"::" or (is_identifier(start) and start not in OPERATOR_KEYWORDS):
        return True
    return start in (b"(", b",", b"<") and after != b"("


def _continues_declarators(outline: Outline, comma: Span) -> bool:
    """Whether nothing but a type and declarators stands before a comma in its statement: `int a, *b[2], `."""
    last, token = b"", comma
    for _ in range(_MOST_TOKENS):
        token = outline.before(token.start)
        text = outline.text(token)
        if text in (b"", b";", b"{", b"}", b"(", b")", b"=", b"<") or text in OPERATOR_KEYWORDS:
            return False
        if text == b">" and is_identifier(last):
            return True  # std::vector<int> a,
        if is_identifier(text) and (is_identifier(last) or last in (b"*", b"&")):
            return outline.text(outline.before(token.start)) in _STATEMENT_STARTS
        last = text
    return False


def _after_type_expression(outline: Outline, closing: Span) -> bool:
    """Whether a closing parenthesis ends decltype(...) or typeof(...)."""
    depth = 0
    token = closing
    while token.end > token.start:
        text = outline.text(token)
        depth += {b")": 1, b"(": -1}.get(text, 0)
        if depth == 0:
            return outline.text(outline.before(token.start)) in (b"decltype", b"typeof", b"__typeof__", b"__typeof")
        token = outline.before(token.start)
    return False
