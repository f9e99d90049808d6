"""Version macros of CUDA and its libraries: MUSA's run on another scale, so comparisons stay and are reported."""

from __future__ import annotations

from collections.abc import Iterator

from musify.checks._guards import branch_taken, conditions, macro_uses, tokens_around
from musify.languages.cuda.names import kept_finding, rename_edit
from musify.languages.cuda.references import Scope, scope_of
from musify.languages.cuda.unit import Unit
from musify.model import Applicability, Edit, Finding, Span
from musify.rules.model import Action
from musify.source.conditions import LOGICAL, Binary, Choice, Defined, Expression, Name, Unary
from musify.source.outline import Directive


def run(unit: Unit) -> Iterator[Edit | Finding]:
    """Edits and findings for every use of a version macro."""
    uses = macro_uses(unit, unit.book.is_version_macro)
    yield from uses.own
    for word in uses.in_code:
        yield from _value(unit, word)
    for directive, expression in conditions(unit, uses.in_conditions):
        yield from _condition(unit, directive, expression, uses.in_conditions[directive.start])


def _condition(
    unit: Unit, directive: Directive, expression: Expression | None, words: list[Span]
) -> Iterator[Edit | Finding]:
    compared = {unit.text(word) for word in words} if expression is None else set(_compared(expression, logical=True))
    reported: set[bytes] = set()
    for word in words:
        name = unit.text(word)
        if name in compared:
            if name not in reported:
                reported.add(name)
                yield _finding(unit, word, branch_taken(unit, directive, expression, {name: None}))
        else:
            yield from _existence(unit, word)


def _compared(node: Expression, *, logical: bool) -> Iterator[bytes]:
    """Names whose value matters beyond being zero or not; `logical`: only the truth of `node` is asked for."""
    if isinstance(node, Name):
        if not logical:
            yield node.name
    elif isinstance(node, Unary):
        yield from _compared(node.operand, logical=node.operator == b"!")
    elif isinstance(node, Binary):
        inner = node.operator in LOGICAL
        yield from _compared(node.left, logical=inner)
        yield from _compared(node.right, logical=inner)
    elif isinstance(node, Choice):
        yield from _compared(node.condition, logical=True)
        yield from _compared(node.yes, logical=logical)
        yield from _compared(node.no, logical=logical)
    else:
        assert not isinstance(node, Defined) or node.name


def _existence(unit: Unit, word: Span) -> Iterator[Edit | Finding]:
    rule = unit.book.name(unit.text(word))
    if rule is not None and rule.action is Action.RENAME:
        yield rename_edit(rule, word, Applicability.SAFE)
    elif rule is not None and rule.action is Action.KEEP:
        yield kept_finding(rule.library, word, rule.name.decode())
    else:
        yield _finding(unit, word, ("no branch that asks for it is taken", "要求它的分支不会被采用"))


def _value(unit: Unit, word: Span) -> Iterator[Edit | Finding]:
    if scope_of(unit.outline, unit.neighbours(word)) not in (Scope.PLAIN, Scope.GLOBAL):
        return
    rule = unit.book.name(unit.text(word))
    if rule is None or rule.action is not Action.RENAME or tokens_around(unit.outline, word).compared:
        text = "the condition is 0 in an #if and does not compile elsewhere"
        yield _finding(unit, word, (text, "它在 #if 中为 0，在其他位置无法编译"))
        return
    yield rename_edit(rule, word, Applicability.REVIEW)
    yield Finding("MUS304", word, rule.name.decode(), {"target": rule.target.decode()})


def _finding(unit: Unit, word: Span, branch: tuple[str, str]) -> Finding:
    rule = unit.book.name(unit.text(word))
    target = rule.target.decode() if rule is not None and rule.action is Action.RENAME else "MUSA_VERSION"
    return Finding(
        "MUS303",
        word,
        unit.text(word).decode(),
        {"target": target, "branch": branch[0], "branch_zh": branch[1]},
    )
