"""Version macros of CUDA and its libraries: MUSA's run on another scale, so comparisons stay and are reported."""

from __future__ import annotations

from collections.abc import Iterator

from musify.checks._guards import CONDITION_KEYWORDS, branch_taken, conditions, defines, own_macro, tokens_around
from musify.languages.cuda.names import RENAME, kept_finding
from musify.languages.cuda.references import Scope, scope_of
from musify.languages.cuda.unit import Unit
from musify.model import Applicability, Edit, Finding, Span
from musify.rules.model import Action, NameRule
from musify.source.conditions import LOGICAL, Binary, Choice, Defined, Expression, Name, Unary
from musify.source.outline import Directive


def run(unit: Unit) -> Iterator[Edit | Finding]:
    """Edits and findings for every use of a version macro."""
    if not any(unit.book.is_version_macro(name) for name in unit.names):
        return
    words = [word for word in unit.words if unit.book.is_version_macro(unit.text(word))]
    own = {name for name in {unit.text(word) for word in words} if defines(unit, name)}
    if own:
        yield from (own_macro(unit, word) for word in words if unit.text(word) in own)
        words = [word for word in words if unit.text(word) not in own]
    in_conditions: dict[int, list[Span]] = {}
    for word in words:
        directive = unit.outline.directive_at(word.start)
        if directive is not None and directive.keyword in CONDITION_KEYWORDS:
            in_conditions.setdefault(directive.start, []).append(word)
        elif directive is None or directive.name_start != word.start:
            yield from _value(unit, word)
    for directive, expression in conditions(unit, in_conditions):
        yield from _condition(unit, directive, expression, in_conditions[directive.start])


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
        yield _rename(word, rule, Applicability.SAFE)
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
    yield _rename(word, rule, Applicability.REVIEW)
    yield Finding("MUS304", word, rule.name.decode(), {"target": rule.target.decode()})


def _rename(word: Span, rule: NameRule, applicability: Applicability) -> Edit:
    return Edit(word, rule.target, RENAME, applicability, rule.name.decode(), rule.library.id, rule.evidence.value)


def _finding(unit: Unit, word: Span, branch: tuple[str, str]) -> Finding:
    rule = unit.book.name(unit.text(word))
    target = rule.target.decode() if rule is not None and rule.action is Action.RENAME else "MUSA_VERSION"
    return Finding(
        "MUS303",
        word,
        unit.text(word).decode(),
        {"target": target, "branch": branch[0], "branch_zh": branch[1]},
    )
