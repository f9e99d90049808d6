"""Library enums and integers mixed: MUSA's enumerators have other values (MUBLAS_OP_N is 111)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from musify.checks._device_code import device_code
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span
from musify.rules.device import enum_arguments, enum_types
from musify.source.conditions import integer

_HINTS = (b"cublas", b"CUBLAS_", b"curand", b"CURAND_RNG", b"cusparse", b"CUSPARSE_", b"cusolver")
_CONSTANT = rb"\b(?:CUBLAS_(?:OP|FILL_MODE|SIDE|DIAG)_[A-Z_]+|CURAND_RNG_\w+|CUSPARSE_(?:OPERATION|INDEX|ORDER)_\w+)\b"
_ENUMERATOR = re.compile(_CONSTANT)
_INTEGER = rb"(?:unsigned\s+)?(?:int|long|char|short|size_t|unsigned|u?int\d+_t)"
# What stands before and after an enumerator that is taken for a number.
_BEFORE = re.compile(
    rb"(?:\(\s*" + _INTEGER + rb"\s*\)|static_cast\s*<\s*" + _INTEGER + rb"\s*>\s*\(|[\w)\]]\s*[-+*/%^]|\[)\s*\Z"
)
_AFTER = re.compile(rb"\s*(?:[-+*/%^](?![-+=])|(?:==|!=)\s*\d)")
_LITERAL = re.compile(rb"-?\d[\w']*")


def run(unit: Unit) -> Iterator[Finding]:
    """Findings for enumerators used as integers and integers used as enumerators."""
    if any(name.startswith(_HINTS) for name in unit.names):
        yield from _constants_as_integers(unit)
        yield from _literal_arguments(unit)
        yield from _casts(unit)


def _constants_as_integers(unit: Unit) -> Iterator[Finding]:
    code = device_code(unit)
    text = code.with_macros
    for match in _ENUMERATOR.finditer(text):
        is_number = _BEFORE.search(text, max(0, match.start() - 60), match.start()) or _AFTER.match(text, match.end())
        if is_number and not code.is_elsewhere(match.start()):
            yield Finding("MUS238", Span(*match.span()), match.group().decode())


@lru_cache(maxsize=1)
def _functions() -> list[tuple[re.Pattern[bytes], dict[int, str]]]:
    return [(re.compile(item.functions.encode()), dict(item.positions)) for item in enum_arguments()]


def _literal_arguments(unit: Unit) -> Iterator[Finding]:
    code = device_code(unit)
    for call in code.calls(re.compile(rb"cu(?:blas|rand|sparse|solver)[A-Z]\w*")):
        name = unit.text(call.name)
        for pattern, positions in _functions():
            if not pattern.fullmatch(name):
                continue
            for position, kind in positions.items():
                argument = call.arguments[position] if position < len(call.arguments) else Span(0, 0)
                if _LITERAL.fullmatch(unit.text(argument)) and not code.is_elsewhere(call.name.start):
                    yield _literal(unit, argument, name.decode(), kind)


def _casts(unit: Unit) -> Iterator[Finding]:
    """`(cublasOperation_t)1`, `static_cast<cublasOperation_t>(trans)`."""
    code = device_code(unit)
    kinds = "|".join(enum_types()).encode()
    text = code.with_macros
    if not any(kind.encode() in text for kind in enum_types()):
        return
    for match in re.finditer(
        rb"\(\s*(" + kinds + rb")\s*\)\s*([\w(][\w.>-]*)|static_cast\s*<\s*(" + kinds + rb")\s*>\s*\(\s*([^()]*)\)"
        rb"|(?<![\w<(,])\b(" + kinds + rb")\s*\(\s*(\d+)\s*\)",
        code.with_macros,
    ):
        kind, value = next((match.span(i), match.span(i + 1)) for i in (1, 3, 5) if match.group(i))
        place, text = Span(kind[0], value[1]), unit.data[value[0] : value[1]]
        if not text.startswith((b"CUBLAS_", b"CURAND_", b"CUSPARSE_")) and not code.is_elsewhere(place.start):
            yield _literal(unit, Span(*value), unit.data[slice(*kind)].decode(), unit.data[slice(*kind)].decode())


def _literal(unit: Unit, place: Span, name: str, kind: str) -> Finding:
    value = unit.text(place).decode("utf-8", "replace")
    meant = enum_types()[kind].get(str(integer(unit.text(place))))
    shown = value if meant is None else f"{value} ({meant})"
    return Finding("MUS239", place, name, {"value": shown, "kind": kind})
