"""__CUDA_ARCH__: thresholds are carried over by a table of feature tiers, or left and reported.

`>= 800` asks for what came with sm_80, so the first MUSA architecture that has it takes its place. `> 800` is
`>=` the next CUDA architecture, `<=` likewise. A test for one exact architecture has no counterpart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from musify.checks._guards import branch_taken, conditions, macro_uses, taken_on, tokens_around
from musify.languages.cuda.names import rename_edit
from musify.languages.cuda.references import Scope, scope_of
from musify.languages.cuda.unit import Unit
from musify.model import Applicability, Edit, Finding, Span
from musify.rules.book import RuleBook
from musify.source.conditions import COMPARISONS, LOGICAL, Binary, Expression, Name, evaluate, integer, walk
from musify.source.outline import Directive

THRESHOLD = "architecture-threshold"
_MIRRORED = {b"<": b">", b">": b"<", b"<=": b">=", b">=": b"<=", b"==": b"==", b"!=": b"!="}


class _Comparison(NamedTuple):
    """`name sign value`, wherever it was written; spans of the whole, the sign and the number."""

    name: Span
    whole: Span
    sign: bytes
    sign_span: Span
    value: int | None
    value_span: Span
    mirrored: bool


class _Carried(NamedTuple):
    sign: bytes
    value: int
    reason: str
    reason_zh: str


def run(unit: Unit) -> Iterator[Edit | Finding]:
    """Edits and findings for every use of the architecture macro."""
    uses = macro_uses(unit, unit.book.is_architecture_macro)
    yield from uses.own
    for word in uses.in_code:
        yield from _in_code(unit, word)
    for directive, expression in conditions(unit, uses.in_conditions):
        yield from _condition(unit, directive, expression, uses.in_conditions[directive.start])


def _condition(
    unit: Unit, directive: Directive, expression: Expression | None, words: list[Span]
) -> Iterator[Edit | Finding]:
    branch = branch_taken(unit, directive, expression, {unit.text(words[0]): None})
    if expression is None:
        reason = ("the condition could not be parsed", "无法解析该条件")
        yield _left(unit, words[0], Span(directive.start, directive.end), reason, branch)
        return
    comparisons = {item.name.start: item for item in _comparisons(unit, expression)}
    in_arithmetic = {node.span.start for node in _operands(expression)} - comparisons.keys()
    carried = {start: _carry(unit.book, item) for start, item in comparisons.items()}
    edits = [edit for start, item in comparisons.items() for edit in _edits(unit, item, carried[start])]
    taken = taken_on(
        unit,
        directive,
        [*edits, *(_rename(unit, word, Applicability.SAFE) for word in words if word.start not in comparisons)],
    )
    any_left = bool(in_arithmetic) or None in carried.values()
    any_carried = any(item is not None for item in carried.values())
    for word in words:
        comparison = comparisons.get(word.start)
        if comparison is not None:
            yield from _comparison(unit, comparison, carried[word.start], branch, taken)
        elif word.start in in_arithmetic:
            yield _left(unit, word, word, ("it is part of a calculation", "它参与了计算"), branch)
        elif any_carried or not any_left:
            yield _rename(unit, word, Applicability.SAFE)


def _comparison(
    unit: Unit, item: _Comparison, carried: _Carried | None, branch: tuple[str, str], taken: tuple[str, str]
) -> Iterator[Edit | Finding]:
    before = unit.text(item.whole).decode("utf-8", "replace")
    if carried is None:
        yield _left(unit, item.name, item.whole, _why_not(unit, item), branch)
        return
    yield from _edits(unit, item, carried)
    name = unit.text(item.name)
    rule = unit.book.name(name)
    target = rule.target.decode() if rule else "__MUSA_ARCH__"
    arguments = {
        "before": before,
        "after": f"{target} {carried.sign.decode()} {carried.value}",
        "reason": carried.reason,
        "reason_zh": carried.reason_zh,
        "taken": taken[0],
        "taken_zh": taken[1],
        "architectures": ", ".join(unit.settings.target.architectures),
    }
    yield Finding("MUS301", item.whole, name.decode(), arguments)


def _edits(unit: Unit, item: _Comparison, carried: _Carried | None) -> Iterator[Edit]:
    """What carrying a comparison over changes: the name, the sign and the number."""
    if carried is None:
        return
    yield _rename(unit, item.name, Applicability.REVIEW)
    sign = _MIRRORED[carried.sign] if item.mirrored else carried.sign
    if sign != unit.text(item.sign_span):
        yield Edit(item.sign_span, sign, THRESHOLD, Applicability.REVIEW)
    if carried.value != item.value:
        yield Edit(item.value_span, str(carried.value).encode(), THRESHOLD, Applicability.REVIEW)


def _carry(book: RuleBook, item: _Comparison) -> _Carried | None:
    """The comparison on MUSA's scale, None where a person must decide."""
    value, sign = item.value, item.sign
    if value is None or sign in (b"==", b"!="):
        return None
    if value <= 0:
        return _Carried(sign, value, "it asks whether device code is compiled at all", "它只询问是否在编译设备代码")
    if sign in (b">", b"<="):
        later = [known for known in book.known_architectures if known > value]
        if not later:
            return None
        value, sign = later[0], b">=" if sign == b">" else b"<"
    tier = next((tier for tier in book.tiers if value <= tier.upto), None)
    return None if tier is None else _Carried(sign, tier.architecture, tier.reason, tier.reason_zh)


def _why_not(unit: Unit, item: _Comparison) -> tuple[str, str]:
    if item.value is None:
        return _symbolic(unit, unit.text(item.value_span))
    if item.sign in (b"==", b"!="):
        return "it tests for one exact CUDA architecture", "它只针对某个特定的 CUDA 架构"
    return "no MUSA card offers what this architecture introduced", "没有 MUSA 卡提供该架构引入的特性"


def _symbolic(unit: Unit, threshold: bytes) -> tuple[str, str]:
    """The reason for a threshold that is a name, with its value where the file defines it."""
    for directive in unit.outline.directives:
        if directive.name == threshold and directive.parameters is None:
            value = unit.data[directive.body : directive.end].split(b"//")[0].strip().decode("utf-8", "replace")
            return f"the threshold is a macro, {value} here", f"阈值是宏，此处为 {value}"
    return "the threshold is no plain number", "阈值不是普通数字"


def _comparisons(unit: Unit, expression: Expression) -> Iterator[_Comparison]:
    for node in walk(expression):
        if not isinstance(node, Binary) or node.operator not in COMPARISONS:
            continue
        for name, other, mirrored in ((node.left, node.right, False), (node.right, node.left, True)):
            if isinstance(name, Name) and unit.book.is_architecture_macro(name.name):
                yield _described(unit, node, name, other, mirrored)


def _described(unit: Unit, node: Binary, name: Name, other: Expression, mirrored: bool) -> _Comparison:
    sign_start = unit.data.index(node.operator, node.left.span.end)
    return _Comparison(
        name.span,
        node.span,
        _MIRRORED[node.operator] if mirrored else node.operator,
        Span(sign_start, sign_start + len(node.operator)),
        evaluate(other, {}),
        other.span,
        mirrored,
    )


def _operands(expression: Expression) -> Iterator[Name]:
    """Names that stand in arithmetic or comparisons."""
    for node in walk(expression):
        if isinstance(node, Binary) and node.operator not in LOGICAL:
            for side in (node.left, node.right):
                yield from (item for item in walk(side) if isinstance(item, Name))


def _in_code(unit: Unit, word: Span) -> Iterator[Edit | Finding]:
    if scope_of(unit.outline, unit.neighbours(word)) not in (Scope.PLAIN, Scope.GLOBAL):
        return
    around = tokens_around(unit.outline, word)
    if not around.compared:
        yield _rename(unit, word, Applicability.REVIEW)
        if not around.tested:
            yield Finding("MUS305", word, unit.text(word).decode())
        return
    value = integer(unit.text(around.other)) if around.other_is_number else None
    whole = Span(min(word.start, around.other.start), max(word.end, around.other.end))
    sign = unit.text(around.sign)
    item = _Comparison(
        word,
        whole,
        _MIRRORED[sign] if around.mirrored else sign,
        around.sign,
        value,
        around.other,
        around.mirrored,
    )
    branch = ("without it the macro is undefined under mcc", "否则该宏在 mcc 下未定义")
    taken = ("it decides in code", "由代码判断")
    yield from _comparison(unit, item, _carry(unit.book, item), branch, taken)


def _rename(unit: Unit, word: Span, applicability: Applicability) -> Edit:
    rule = unit.book.name(unit.text(word))
    assert rule is not None
    return rename_edit(rule, word, applicability)


def _left(unit: Unit, word: Span, place: Span, reason: tuple[str, str], branch: tuple[str, str]) -> Finding:
    arguments = {
        "comparison": unit.text(place).decode("utf-8", "replace"),
        "reason": reason[0],
        "reason_zh": reason[1],
        "branch": branch[0],
        "branch_zh": branch[1],
    }
    return Finding("MUS302", place, unit.text(word).decode(), arguments)
