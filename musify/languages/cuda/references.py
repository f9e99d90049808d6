"""What an identifier refers to, told from the tokens around it."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from musify.model import Span
from musify.source.outline import Outline

# Words after which an expression or a declaration starts anew: what follows them is not being declared.
OPERATOR_KEYWORDS = frozenset(
    b"return else case do goto throw new delete sizeof alignof typeid co_return co_yield co_await and or not "
    b"xor if while for switch operator decltype noexcept alignas static_assert __alignof__ typeof __typeof__ defined "
    b"public private protected default".split()
)
# Words that can stand before a type without being one.
DECLARATION_KEYWORDS = frozenset(
    b"const volatile static extern inline constexpr consteval constinit register thread_local mutable virtual explicit "
    b"friend typedef typename struct class union enum signed unsigned __restrict__ __restrict restrict "
    b"__global__ __device__ __host__ __shared__ __constant__ __managed__ __forceinline__ __noinline__ __inline__ "
    b"__inline using namespace".split()
)
_HEAD_ENDS = frozenset({b")", b"const", b"noexcept", b"mutable", b"override", b"volatile"})
_IDENTIFIER = re.compile(rb"[A-Za-z_$\x80-\xff]")


class Scope(Enum):
    """How a name is qualified."""

    PLAIN = "plain"
    GLOBAL = "global"
    MEMBER = "member"
    QUALIFIED = "qualified"
    PASTED = "pasted"
    LABEL = "label"
    TRAILING = "trailing return type, or a member of what a call returns"


class Neighbours(NamedTuple):
    """The tokens before and after a name."""

    before: Span
    before_text: bytes
    after: Span
    after_text: bytes


def is_identifier(text: bytes) -> bool:
    """Whether a token is an identifier or keyword."""
    return _IDENTIFIER.match(text) is not None


def neighbours(outline: Outline, word: Span) -> Neighbours:
    """The tokens around `word`."""
    before, after = outline.before(word.start), outline.after(word.end)
    return Neighbours(before, outline.text(before), after, outline.text(after))


def scope_of(outline: Outline, around: Neighbours) -> Scope:
    """Whether a name is a plain one, `::name`, a member (`x.name`, `p->name`), `other::name` or part of a paste."""
    before, place = around.before_text, around.before
    if before == b"##" or around.after_text == b"##":
        return Scope.PASTED
    if before == b"goto" or (around.after_text == b":" and before in (b";", b"{", b"}")):
        return Scope.LABEL
    if before == b"template":  # x.template name<int>()
        place = outline.before(place.start)
        before = outline.text(place)
    if before == b"->":
        return Scope.TRAILING if _ends_a_declarator(outline, place) else Scope.MEMBER
    if before == b".":
        # An ellipsis is no member access.
        return Scope.PLAIN if outline.data[place.start - 1 : place.start] == b"." else Scope.MEMBER
    if before != b"::":
        return Scope.PLAIN
    left = outline.before(place.start)
    qualifier = outline.text(left)
    if (qualifier.endswith(b">") and left.end == place.start) or (
        is_identifier(qualifier) and qualifier not in OPERATOR_KEYWORDS | DECLARATION_KEYWORDS
    ):
        return Scope.QUALIFIED
    return Scope.GLOBAL


def _ends_a_declarator(outline: Outline, arrow: Span) -> bool:
    """Whether `-> type` may end a function's head: it follows a parenthesis or a word that stands there only."""
    return outline.text(outline.before(arrow.start)) in _HEAD_ENDS


def qualifier_of(outline: Outline, around: Neighbours) -> bytes:
    """The last name before a qualified one: `b` for `a::b::name`."""
    return outline.text(outline.before(around.before.start))


def qualified_chain(outline: Outline, head: Span) -> list[Span]:
    """The parts of `a::b::c` from its first name on, one entry where nothing follows."""
    parts = [head]
    end = head.end
    while True:
        colons = outline.after(end)
        if outline.text(colons) != b"::":
            return parts
        part = outline.after(colons.end)
        if not is_identifier(outline.text(part)) or outline.text(part) == b"template":
            return parts
        parts.append(part)
        end = part.end


def enclosing_call(outline: Outline, offset: int, reach: int = 2000) -> bytes:
    """The name of the function or macro whose argument list holds the byte at `offset`; empty where there is none."""
    position = offset
    depth = 0
    floor = max(0, offset - reach)
    while position > floor:
        token = outline.before(position)
        text = outline.text(token)
        if not text or text in (b";", b"{", b"}"):
            return b""
        if text in (b")", b"]"):
            depth += 1
        elif text in (b"(", b"["):
            if depth == 0:
                callee = outline.text(outline.before(token.start))
                if text == b"(" and is_identifier(callee) and callee not in OPERATOR_KEYWORDS:
                    return callee
            else:
                depth -= 1
        position = token.start
    return b""
