"""Preprocessor conditions: the nesting of #if groups, and the expressions they test.

Expressions are parsed whole (defined, !, &&, ||, ?:, comparison, bits, shifts, arithmetic, parentheses) and can be
evaluated with some names known and the others unknown.
"""

from __future__ import annotations

import operator
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from musify.model import Span
from musify.source.lexer import Token, TokenKind, significant
from musify.source.outline import Directive, Outline


@dataclass
class Branch:
    """One branch of a group: from its directive to the next one of the group."""

    directive: Directive
    span: Span
    group: Group


@dataclass
class Group:
    """An #if with its #elif and #else branches. `parent` is the branch it lies in."""

    parent: Branch | None
    branches: list[Branch] = field(default_factory=list)
    is_include_guard: bool = False


class Conditionals:
    """All #if groups of a file."""

    def __init__(self, outline: Outline) -> None:
        self.groups: list[Group] = []
        stack: list[Group] = []
        for directive in outline.directives:
            keyword = directive.keyword
            if keyword in (b"if", b"ifdef", b"ifndef"):
                group = Group(stack[-1].branches[-1] if stack else None)
                group.branches.append(Branch(directive, Span(directive.end, len(outline.data)), group))
                stack.append(group)
                self.groups.append(group)
            elif keyword in (b"elif", b"else", b"elifdef", b"elifndef", b"endif") and stack:
                last = stack[-1].branches[-1]
                last.span = Span(last.span.start, directive.start)
                if keyword == b"endif":
                    stack.pop()
                else:
                    stack[-1].branches.append(Branch(directive, Span(directive.end, len(outline.data)), stack[-1]))
        self._mark_include_guard(outline)
        # For each directive of a group, by where it starts, the next one of the group.
        self.following = {
            branch.directive.start: after.directive
            for group in self.groups
            for branch, after in zip(group.branches, group.branches[1:], strict=False)
        }
        self._branches = sorted(
            (branch for group in self.groups for branch in group.branches),
            key=lambda branch: branch.span.start,
        )
        self._starts = [branch.span.start for branch in self._branches]

    def branches_around(self, offset: int) -> list[Branch]:
        """The branches that hold the byte at `offset`, the innermost first."""
        index = bisect_right(self._starts, offset) - 1
        while index >= 0 and self._branches[index].span.end <= offset:
            index -= 1
        around: list[Branch] = []
        branch: Branch | None = self._branches[index] if index >= 0 else None
        while branch is not None:
            around.append(branch)
            branch = branch.group.parent
        return around

    def is_conditional(self, offset: int) -> bool:
        """Whether some configurations do not see the byte at `offset`; an include guard does not count."""
        return bool(self._choices_around(offset))

    def _choices_around(self, offset: int) -> list[Branch]:
        """The branches that hold the byte at `offset`, include guards apart, the innermost first."""
        return [branch for branch in self.branches_around(offset) if not branch.group.is_include_guard]

    def always_one(self, offsets: Iterable[int]) -> bool:
        """Whether every configuration sees one of these places: each branch of an #if with #else may hold another."""
        around = [self._choices_around(offset) for offset in offsets]
        if not all(around):
            return True
        pending = [branches[0] for branches in around]
        reached = {id(branch) for branch in pending}
        while pending:
            group = pending.pop().group
            complete = group.branches[-1].directive.keyword == b"else" and all(id(b) in reached for b in group.branches)
            outer = group.parent
            if complete and (outer is None or outer.group.is_include_guard):
                return True
            if complete and outer is not None and id(outer) not in reached:
                reached.add(id(outer))
                pending.append(outer)
        return False

    def _mark_include_guard(self, outline: Outline) -> None:
        directives = outline.directives
        if not self.groups or len(self.groups[0].branches) != 1 or len(directives) < 3:
            return
        first = self.groups[0].branches[0]
        text = outline.data[first.directive.body : first.directive.end]
        name = re.search(rb"[A-Za-z_]\w*(?=\W*\)?\s*\Z)", text)
        position = directives.index(first.directive)
        following = directives[position + 1] if position + 1 < len(directives) else None
        if name and following and following.keyword == b"define" and following.name == name.group():
            negated = first.directive.keyword == b"ifndef" or b"!" in text
            # A macro that is given only where it is missing guards nothing but itself.
            holds_more = outline.data[following.end : first.span.end].strip() != b""
            closed = first.span.end < len(outline.data)
            self.groups[0].is_include_guard = negated and holds_more and closed and position <= 1


@dataclass(frozen=True)
class Number:
    """A literal."""

    value: int
    span: Span


@dataclass(frozen=True)
class Name:
    """A macro name, with its arguments where it is called."""

    name: bytes
    span: Span
    called: bool = False


@dataclass(frozen=True)
class Defined:
    """`defined X`, and what #ifdef tests."""

    name: bytes
    span: Span


@dataclass(frozen=True)
class Unary:
    """A prefix operator."""

    operator: bytes
    operand: Expression
    span: Span


@dataclass(frozen=True)
class Binary:
    """An infix operator."""

    operator: bytes
    left: Expression
    right: Expression
    span: Span


@dataclass(frozen=True)
class Choice:
    """`a ? b : c`."""

    condition: Expression
    yes: Expression
    no: Expression
    span: Span


Expression = Number | Name | Defined | Unary | Binary | Choice
COMPARISONS = frozenset({b"<", b"<=", b">", b">=", b"==", b"!="})
LOGICAL = frozenset({b"&&", b"||"})
_LEVELS = (
    (b"||",), (b"&&",), (b"|",), (b"^",), (b"&",), (b"==", b"!="), (b"<", b"<=", b">", b">="),
    (b"<<", b">>"), (b"+", b"-"), (b"*", b"/", b"%"),
)  # fmt: skip
_CALCULATIONS: dict[bytes, Callable[[int, int], int]] = {
    b"|": operator.or_, b"^": operator.xor, b"&": operator.and_, b"==": operator.eq, b"!=": operator.ne,
    b"<": operator.lt, b"<=": operator.le, b">": operator.gt, b">=": operator.ge,
    b"+": operator.add, b"-": operator.sub, b"*": operator.mul,
}  # fmt: skip


# An expression is walked by functions that call themselves for its parts; `a && b && c ...` has a level for every two
# tokens.
_LONGEST = 1200


class NotAnExpression(ValueError):
    """The text is no expression that the preprocessor would take."""


def condition_of(outline: Outline, directive: Directive) -> Expression:
    """The condition of an #if, #elif, #ifdef or #ifndef. Raises NotAnExpression."""
    tokens = significant(outline.data, directive.body, directive.end)
    if directive.keyword in (b"ifdef", b"ifndef", b"elifdef", b"elifndef"):
        if not tokens or tokens[0].kind is not TokenKind.IDENTIFIER:
            raise NotAnExpression("no name after the directive")
        span = Span(tokens[0].start, tokens[0].end)
        test = Defined(outline.text(span), span)
        return test if directive.keyword in (b"ifdef", b"elifdef") else Unary(b"!", test, span)
    return parse(outline.data, tokens)


def parse(data: bytes, tokens: list[Token]) -> Expression:
    """The expression that `tokens` of `data` spell. Raises NotAnExpression."""
    if len(tokens) > _LONGEST:
        raise NotAnExpression("the condition is too long")
    try:
        return _Parser(data, tokens).whole()
    except RecursionError as error:
        raise NotAnExpression("the condition is nested too deeply") from error


def evaluate(node: Expression, values: Mapping[bytes, int | None]) -> int | None:
    """The value of an expression, None where it depends on a name that `values` does not hold.

    A name that maps to None in `values` is known to be undefined: 0 as a number, false for `defined`.
    """
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return None if node.called or node.name not in values else values[node.name] or 0
    if isinstance(node, Defined):
        return None if node.name not in values else int(values[node.name] is not None)
    if isinstance(node, Unary):
        return _unary(node.operator, evaluate(node.operand, values))
    if isinstance(node, Choice):
        chosen = evaluate(node.condition, values)
        return None if chosen is None else evaluate(node.yes if chosen else node.no, values)
    left, right = evaluate(node.left, values), evaluate(node.right, values)
    if node.operator in LOGICAL:
        decisive = node.operator == b"||"
        if any(side is not None and bool(side) == decisive for side in (left, right)):
            return int(decisive)
        return None if left is None or right is None else int(not decisive)
    return None if left is None or right is None else _calculate(node.operator, left, right)


def walk(node: Expression) -> Iterator[Expression]:
    """The node and everything below it."""
    yield node
    if isinstance(node, Unary):
        yield from walk(node.operand)
    elif isinstance(node, Binary):
        yield from walk(node.left)
        yield from walk(node.right)
    elif isinstance(node, Choice):
        for part in (node.condition, node.yes, node.no):
            yield from walk(part)


def integer(text: bytes) -> int | None:
    """The value of an integer literal (decimal, hexadecimal, octal, binary; suffixes and separators allowed)."""
    digits = text.replace(b"'", b"").rstrip(b"uUlLzZ")
    try:
        if re.fullmatch(rb"0[0-7]+", digits):
            return int(digits, 8)
        return int(digits, 0)
    except ValueError:
        return None


def _unary(sign: bytes, value: int | None) -> int | None:
    if value is None:
        return None
    if sign == b"!":
        return int(not value)
    return {b"-": -value, b"+": value, b"~": ~value}[sign]


def _calculate(sign: bytes, left: int, right: int) -> int | None:
    if sign in (b"/", b"%"):
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if sign == b"/" else left - quotient * right
    if sign in (b"<<", b">>"):
        if not 0 <= right < 64:
            return None
        return left << right if sign == b"<<" else left >> right
    return int(_CALCULATIONS[sign](left, right))


class _Parser:
    def __init__(self, data: bytes, tokens: list[Token]) -> None:
        self._data = data
        self._tokens = tokens
        self._next = 0

    def whole(self) -> Expression:
        node = self._choice()
        if self._next < len(self._tokens):
            raise NotAnExpression(f"unexpected {self._peek()!r}")
        return node

    def _choice(self) -> Expression:
        condition = self._binary(0)
        if self._peek() != b"?":
            return condition
        self._take()
        yes = self._choice()
        self._expect(b":")
        no = self._choice()
        return Choice(condition, yes, no, Span(condition.span.start, no.span.end))

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._prefix()
        left = self._binary(level + 1)
        while self._peek() in _LEVELS[level]:
            sign = self._text(self._take())
            right = self._binary(level + 1)
            left = Binary(sign, left, right, Span(left.span.start, right.span.end))
        return left

    def _prefix(self) -> Expression:
        token = self._take()
        text = self._text(token)
        if text in (b"!", b"-", b"+", b"~"):
            operand = self._prefix()
            return Unary(text, operand, Span(token.start, operand.span.end))
        if text == b"(":
            node = self._choice()
            self._expect(b")")
            return node
        if token.kind is TokenKind.NUMBER:
            value = integer(text)
            if value is None:
                raise NotAnExpression(f"{text!r} is no integer")
            return Number(value, Span(token.start, token.end))
        if token.kind is TokenKind.CHARACTER:
            return Number(ord(text[1:2]), Span(token.start, token.end))
        if token.kind is not TokenKind.IDENTIFIER:
            raise NotAnExpression(f"unexpected {text!r}")
        return self._name(token, text)

    def _name(self, token: Token, text: bytes) -> Expression:
        if text == b"defined":
            bracketed = self._peek() == b"("
            if bracketed:
                self._take()
            name = self._take()
            end = self._expect(b")").end if bracketed else name.end
            return Defined(self._text(name), Span(token.start, end))
        if self._peek() == b"(":
            return Name(text, Span(token.start, self._arguments_end()), called=True)
        return Name(text, Span(token.start, token.end))

    def _arguments_end(self) -> int:
        depth = 0
        while True:
            token = self._take()
            depth += {b"(": 1, b")": -1}.get(self._text(token), 0)
            if depth == 0:
                return token.end

    def _peek(self) -> bytes:
        return self._text(self._tokens[self._next]) if self._next < len(self._tokens) else b""

    def _take(self) -> Token:
        if self._next >= len(self._tokens):
            raise NotAnExpression("the condition ends too early")
        self._next += 1
        return self._tokens[self._next - 1]

    def _expect(self, text: bytes) -> Token:
        token = self._take()
        if self._text(token) != text:
            raise NotAnExpression(f"expected {text!r}, found {self._text(token)!r}")
        return token

    def _text(self, token: Token) -> bytes:
        return self._data[token.start : token.end]
