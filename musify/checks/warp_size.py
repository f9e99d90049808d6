"""`warpSize` where a constant is needed, and the host's figure of it, which is not the device's on mp_22."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._constants import constants
from musify.checks._device_code import device_code
from musify.checks._warp_code import wide_warps
from musify.languages.cuda.references import enclosing_call
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span

_NO_TYPE = rb"(?!return\b|else\b|case\b|delete\b|goto\b)"
# What stands before warpSize in a statement where it has to be a constant: a bound, a label, a template argument.
_CONSTANT = re.compile(
    rb"(?:(?:^|[\s(,<])" + _NO_TYPE + rb"[A-Za-z_]\w*[\s*>]\s*\b\w+\s*(?:\[[^\]]*\]\s*)*\[[^\]]*"
    rb"|\bconstexpr\b[^()]*=.*|\bcase\s+|\bstatic_assert\s*\(.*|(?P<template>\b\w+<(?:[\w\s:]+,)*\s*))(?<![.>\w])\Z",
    re.S,
)
_OWN = re.compile(rb"\b\w+\s*[&*]?\s+\Z")
_WORD = re.compile(rb"warpSize\b")
_MEMBER = re.compile(rb"(?:\.|->)\s*(warpSize)\b|\b(cudaDevAttrWarpSize|CU_DEVICE_ATTRIBUTE_WARP_SIZE)\b")
_ASSIGNED = re.compile(rb"(?:[\w\])]+(?:\.|->))*\b(\w+)\s*=\s*[\w\[\].>-]*\Z")
_PRINTING = re.compile(rb"(?i)\w*(?:print|log|debug|info|msg|puts|assert|write)\w*")
TRIGGERS = (b"warpSize", b"WarpSize", b"ATTRIBUTE_WARP_SIZE")


def run(unit: Unit) -> Iterator[Finding]:
    """Findings for both."""
    yield from _as_constant(unit)
    if wide_warps(unit.settings.target):
        yield from _of_the_host(unit)


def _as_constant(unit: Unit) -> Iterator[Finding]:
    code = device_code(unit)
    if constants(unit).value(b"warpSize") is not None:
        return  # the project's own
    for match in _WORD.finditer(code.text):
        before, after = (
            code.text[_statement_start(code.text, match.start()) : match.start()],
            code.text[match.end() : match.end() + 40],
        )
        if _OWN.search(before) and after.lstrip()[:1] in (b"=", b";", b",", b")"):
            return
        found = _CONSTANT.search(before)
        if found is None or (found.group("template") and after.lstrip()[:1] not in (b",", b">")):
            continue
        if not code.is_elsewhere(match.start()):
            yield Finding("MUS215", Span(*match.span()), "warpSize")


def _statement_start(text: bytes, position: int) -> int:
    return max(text.rfind(sign, 0, position) for sign in (b";", b"{", b"}")) + 1


def _of_the_host(unit: Unit) -> Iterator[Finding]:
    """The first use of the property in a file that sizes something."""
    code = device_code(unit)
    for match in _MEMBER.finditer(code.text):
        place = Span(*match.span(1 if match.group(1) else 2))
        if code.function_at(place.start) or code.is_elsewhere(place.start) or _is_output(unit, place):
            continue
        sizes = _is_passed_on(unit, match) if match.group(1) else _is_queried(unit, place)
        if sizes:
            arguments = {"architectures": ", ".join(wide_warps(unit.settings.target))}
            yield Finding("MUS216", place, unit.text(place).decode(), arguments)
            return


def _is_passed_on(unit: Unit, match: re.Match[bytes]) -> bool:
    """Whether a property is calculated with, now or through the variable it is put into, or handed to a function."""
    text = device_code(unit).text
    before, after = text[max(0, match.start() - 80) : match.start()], text[match.end() : match.end() + 20]
    variable = _ASSIGNED.search(before)
    if variable is None or not after.lstrip().startswith(b";"):
        return True
    return b"." in variable.group() or b"->" in variable.group() or _is_calculated_with(text, variable.group(1))


def _is_queried(unit: Unit, place: Span) -> bool:
    """Whether an attribute is asked for into a variable that is calculated with."""
    text = device_code(unit).text
    start = _statement_start(text, place.start)
    variables = re.findall(rb"&\s*(\w+)\s*,", text[start : place.start])
    return any(_is_calculated_with(text, name) for name in variables)


def _is_calculated_with(text: bytes, name: bytes) -> bool:
    word = re.escape(name)
    return re.search(rb"[*/%]\s*" + word + rb"\b|\b" + word + rb"\s*[*/%]", text) is not None


def _is_output(unit: Unit, place: Span) -> bool:
    text = device_code(unit).text
    start = _statement_start(text, place.start)
    if unit.text(unit.outline.after(place.end)) == b"<<" or b"<<" in text[start : place.start].replace(b"<<<", b""):
        return True
    return _PRINTING.fullmatch(enclosing_call(unit.outline, place.start)) is not None
