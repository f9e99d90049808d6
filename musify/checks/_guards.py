"""What the checks of preprocessor guards share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from musify.languages.cuda.references import is_identifier
from musify.languages.cuda.unit import Unit
from musify.model import Edit, Finding, Span
from musify.source.conditions import COMPARISONS, Expression, NotAnExpression, condition_of, evaluate
from musify.source.edits import apply
from musify.source.outline import Directive, Outline

CONDITION_KEYWORDS = frozenset({b"if", b"elif", b"ifdef", b"ifndef", b"elifdef", b"elifndef"})
_ARCHITECTURE_TARGETS = (b"__MUSA_ARCH__",)
_ARITHMETIC = frozenset({b"+", b"-", b"*", b"/", b"%", b"<<", b">>", b"&", b"|", b"^"})


class Around(NamedTuple):
    """What stands around a macro name in code: whether it is compared, with what, and on which side.

    `tested`: only its truth is asked for (`!X`, `X && ...`).
    """

    compared: bool
    tested: bool
    sign: Span
    other: Span
    other_is_number: bool
    mirrored: bool


class MacroUses(NamedTuple):
    """Where a source uses macros of CUDA's: in conditions (by the start of the directive), and in code."""

    in_conditions: dict[int, list[Span]]
    in_code: list[Span]
    own: list[Finding]


def macro_uses(unit: Unit, is_wanted: Callable[[bytes], bool]) -> MacroUses:
    """The uses of the macros that `is_wanted` names; one that the file defines itself is its own, which `own` says."""
    uses = MacroUses({}, [], [])
    wanted = {name for name in unit.names if is_wanted(name)}
    own = {directive.name for directive in unit.outline.directives if directive.name in wanted} if wanted else set()
    for word in unit.words if wanted else ():
        name = unit.text(word)
        if name in own:
            uses.own.append(_own_macro(word, name))
        elif name in wanted:
            directive = unit.outline.directive_at(word.start)
            if directive is not None and directive.keyword in CONDITION_KEYWORDS:
                uses.in_conditions.setdefault(directive.start, []).append(word)
            elif directive is None or directive.name_start != word.start:
                uses.in_code.append(word)
    return uses


def _own_macro(word: Span, name: bytes) -> Finding:
    reason = {"reason": "this file defines it", "reason_zh": "本文件自行定义了它"}
    return Finding("MUS117", word, name.decode(), reason)


def conditions(unit: Unit, starts: Collection[int]) -> Iterator[tuple[Directive, Expression | None]]:
    """The directives that start at `starts` with what they test; None where that cannot be parsed."""
    for directive in unit.outline.directives:
        if directive.start in starts:
            try:
                yield directive, condition_of(unit.outline, directive)
            except NotAnExpression:
                yield directive, None


def branch_taken(
    unit: Unit, directive: Directive, expression: Expression | None, values: Mapping[bytes, int | None]
) -> tuple[str, str]:
    """Which branch is compiled when the names in `values` have these values, in English and Chinese."""
    value = None if expression is None else evaluate(expression, values)
    if value is None:
        return "whether this branch is taken depends on other macros", "是否采用该分支取决于其他宏"
    if value:
        return "MUSA takes this branch", "MUSA 会采用该分支"
    following = unit.conditionals.following.get(directive.start)
    if following is None:
        return "MUSA skips this branch", "MUSA 会跳过该分支"
    line = unit.data.count(b"\n", 0, following.start) + 1
    keyword = following.keyword.decode()
    return (
        f"MUSA skips this branch for the #{keyword} in line {line}",
        f"MUSA 会跳过该分支，转到第 {line} 行的 #{keyword}",
    )


def taken_on(unit: Unit, directive: Directive, edits: Sequence[Edit]) -> tuple[str, str]:
    """On which target architectures the branch of a directive is compiled once `edits` are made, in two languages."""
    start = directive.start
    moved = [edit._replace(span=Span(edit.span.start - start, edit.span.end - start)) for edit in edits]
    converted = Outline(apply(unit.data[start : directive.end], moved))
    try:
        expression = condition_of(converted, converted.directives[0]) if converted.directives else None
    except NotAnExpression:
        expression = None
    names = [name for name in _ARCHITECTURE_TARGETS if name in converted.data]
    known = unit.book.musa_architectures
    taken = {}
    for architecture in unit.settings.target.architectures:
        values = dict.fromkeys(names, known[architecture].value)
        taken[architecture] = None if expression is None else evaluate(expression, values)
    return _listed(taken)


def _listed(taken: Mapping[str, int | None]) -> tuple[str, str]:
    yes = [name for name, value in taken.items() if value]
    open_ = [name for name, value in taken.items() if value is None]
    if open_:
        return "whether it is taken depends on other macros too", "是否采用还取决于其他宏"
    if not yes:
        return "taken on no target", "没有目标架构采用该分支"
    if len(yes) == len(taken):
        return f"taken on every target ({', '.join(yes)})", f"所有目标架构都采用该分支（{'、'.join(yes)}）"
    others = [name for name in taken if name not in yes]
    return (
        f"taken on {', '.join(yes)}, not on {', '.join(others)}",
        f"{'、'.join(yes)} 采用该分支，{'、'.join(others)} 不采用",
    )


def tokens_around(outline: Outline, word: Span) -> Around:
    """Whether the name at `word` is compared, told from the tokens beside it."""
    before, after = outline.before(word.start), outline.after(word.end)
    not_compared = Around(False, False, after, after, False, mirrored=False)
    if outline.text(after) == b">" and outline.text(before) in (b"<", b",", b"="):
        return not_compared  # a template argument, or its default
    if outline.text(before) == b"<" and is_identifier(outline.text(outline.before(before.start))):
        return not_compared  # the first template argument
    if outline.text(after) in COMPARISONS:
        other = outline.after(after.end)
        beyond = outline.text(outline.after(other.end))
        plain = outline.text(other)[:1].isdigit() and beyond not in _ARITHMETIC
        return Around(True, False, after, other, plain, mirrored=False)
    if outline.text(before) in COMPARISONS:
        other = outline.before(before.start)
        beyond = outline.text(outline.before(other.start))
        plain = outline.text(other)[:1].isdigit() and beyond not in _ARITHMETIC
        return Around(True, False, before, other, plain, mirrored=True)
    tested = outline.text(before) == b"!" or outline.text(after) in (b"&&", b"||")
    return Around(False, tested, after, after, False, mirrored=False)
