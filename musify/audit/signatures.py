"""Whether a function of MUSA's can be called as CUDA's is: number of arguments, types, and that it is a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from musify.audit.headers import Declared, Reading
from musify.clang.public import Call
from musify.model import Severity

Translate = Callable[[str], str]

_FUNCTIONS = frozenset({"function", "function-alias", "macro-fn", "method"})
_TYPES = frozenset({"struct", "enum", "typedef", "using"})
_VALUES = frozenset({"enumerator", "variable"})
_WORDS = (
    (_FUNCTIONS, "a function", "函数"), (_TYPES, "a type", "类型"), (_VALUES, "a value", "值"),
)  # fmt: skip
_ALIAS = re.compile(r"[A-Za-z_]\w*\Z")
_MOST_ALIASES = 4


class Difference(NamedTuple):
    """What differs, in English and Chinese, and how grave that is."""

    why: str
    why_zh: str
    severity: Severity


class Callables(NamedTuple):
    """What a name can be called as: functions that were understood, and how many arguments macros take."""

    functions: tuple[Call, ...]
    macros: tuple[int, ...]


def difference_of_kind(kind: str, declared: Sequence[Declared]) -> Difference | None:
    """Whether MUSA's name is another sort of thing than `kind` (as in rules/api) says of CUDA's."""
    wanted = next((item for item in _WORDS if kind in item[0]), None)
    kinds = {item.item.kind for item in declared}
    # An object-like macro may stand for anything, a variable may be a pointer to a function.
    if wanted is None or kinds & wanted[0] or "macro" in kinds:
        return None
    if wanted[0] is _FUNCTIONS and any("(*" in item.item.signature for item in declared):
        return None
    found = next((item for item in _WORDS if kinds & item[0]), None)
    if found is None:
        return None
    return Difference(f"it is {found[1]}, not {wanted[1]}", f"它是{found[2]}，而不是{wanted[2]}", Severity.ERROR)


def callables(name: str, reading: Reading) -> Callables:
    """What `name` can be called as; a macro for a versioned function counts as that function."""
    for _ in range(_MOST_ALIASES):
        body = next((item.item.signature for item in reading.declared.get(name, ()) if item.item.kind == "macro"), "")
        if not _ALIAS.match(body) or body == name or body not in reading.declared:
            break
        name = body
    declared = reading.declared.get(name, ())
    functions = tuple(item.item.call for item in declared if item.item.call is not None and item.certain)
    macros = tuple(_parameters(item.item.signature) for item in declared if item.item.kind == "macro-fn")
    return Callables(_merged(functions), macros)


def _merged(functions: Sequence[Call]) -> tuple[Call, ...]:
    """Each form once: a second declaration of it may bring the defaults."""
    forms: dict[tuple[str, ...], Call] = {}
    for call in functions:
        known = forms.get(call.canonical)
        if known is None or call.required < known.required:
            forms[call.canonical] = call
    return tuple(forms.values())


def difference_of_calls(cuda: Callables, musa: Callables, translate: Translate) -> Difference | None:
    """How a call of CUDA's function fails with MUSA's; None where it does not, or too little is known.

    `translate` gives a type of CUDA's its names on MUSA. Where only some forms of an overloaded function fail the
    difference is a note: whoever calls may use another.
    """
    if not cuda.functions or not (musa.functions or musa.macros):
        return None
    plain = [call for call in cuda.functions if not call.template]
    found = [_difference(call, musa, translate) for call in plain or cuda.functions]
    wrong = [item for item in found if item is not None]
    if not wrong or len(wrong) == len(found):
        return wrong[0] if wrong else None
    return Difference(f"in one of its forms {wrong[0].why}", f"其中一种形式：{wrong[0].why_zh}", Severity.NOTE)


def _difference(call: Call, musa: Callables, translate: Translate) -> Difference | None:
    """What is wrong with the form of MUSA's that fits the call best; None where one fits."""
    most = len(call.types) - 1
    fitting = [other for other in musa.functions if other.required <= most <= _most(other)]
    if not fitting and not _macro_takes_one(most, musa):
        return _other_count(most, musa)
    differences = [_other_types(call, other, translate) for other in fitting if not other.template]
    if differences and None not in differences:
        return differences[0]
    if any(other.required <= call.required for other in musa.functions) or _macro_takes_one(call.required, musa):
        return None
    fewest = min((other.required for other in musa.functions), default=most)
    return Difference(
        f"CUDA's can be called with fewer arguments ({call.required}; here {fewest})",
        f"CUDA 的函数可用更少的参数调用（{call.required} 个；此处 {fewest} 个）",
        Severity.WARNING,
    )


def _other_count(most: int, musa: Callables) -> Difference:
    counts = sorted({len(other.types) - 1 for other in musa.functions} | {count for count in musa.macros if count >= 0})
    takes, takes_zh = " or ".join(map(str, counts)), "或 ".join(map(str, counts))
    return Difference(
        f"it takes {takes} arguments, not {most}", f"它需要 {takes_zh} 个参数，而不是 {most} 个", Severity.ERROR
    )


def _other_types(call: Call, other: Call, translate: Translate) -> Difference | None:
    if call.template or other.template:
        return None
    for number, (ours, theirs) in enumerate(zip(call.types, other.types, strict=False)):
        if _same(ours, theirs, translate) or _same(call.canonical[number], other.canonical[number], translate):
            continue
        wanted, got = _tidy(translate(ours)), _tidy(theirs)
        if number == 0:
            return Difference(f"it returns {got}, not {wanted}", f"它返回 {got}，而不是 {wanted}", Severity.WARNING)
        return Difference(
            f"argument {number} is {got}, not {wanted}",
            f"第 {number} 个参数是 {got}，而不是 {wanted}",
            Severity.WARNING,
        )
    return None


def _same(ours: str, theirs: str, translate: Translate) -> bool:
    return _tidy(translate(ours)) == _tidy(theirs)


def _tidy(spelling: str) -> str:
    """A type without what makes no difference to a caller: struct and enum, const of the argument itself, sizes."""
    text = re.sub(r"\b(?:struct|enum|union|class) ", "", spelling).replace("_Bool", "bool")
    text = re.sub(r"\s*\[[^]]*\]\Z", " *", text)
    text = re.sub(r"\s*(?:const|__restrict|restrict)\Z", "", text)
    if not re.search(r"[*&(]", text):
        text = re.sub(r"\bconst\b\s*", "", text)
    return re.sub(r"\s*([*&])\s*", r" \1", text).replace("* *", "**").strip()


def _most(call: Call) -> int:
    return 1000 if call.variadic else len(call.types) - 1


def _macro_takes(count: int, arguments: int) -> bool:
    """Whether a macro with `count` parameters (negative: and any number more) takes so many arguments."""
    return arguments == count if count >= 0 else arguments >= -count - 1


def _macro_takes_one(arguments: int, musa: Callables) -> bool:
    return any(_macro_takes(count, arguments) for count in musa.macros)


def _parameters(signature: str) -> int:
    """How many arguments a macro takes; -1 - n for n of them and any number of others."""
    names = [part.strip() for part in signature[1 : signature.index(")")].split(",")] if ")" in signature else []
    names = [name for name in names if name]
    return -len(names) if names and names[-1].endswith("...") else len(names)
