"""Block sizes above 1024 threads, and dynamic shared memory above what a block has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._constants import constants
from musify.checks._device_code import device_code, split_arguments
from musify.checks.static_shared import limits_text
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span
from musify.rules.device import limits

_BOUNDS = re.compile(rb"\b__launch_bounds__\s*\(")
_SET_ATTRIBUTE = re.compile(rb"\b(?:cudaFuncSetAttribute|cuFuncSetAttribute)\b")
_DYNAMIC_SHARED = (b"cudaFuncAttributeMaxDynamicSharedMemorySize", b"CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES")
_CONFIG = re.compile(rb"\bdynamicSmemBytes\s*=(?!=)\s*([^;]+);")
_LAUNCH_END = re.compile(rb">>>\s*\(")
_DIM3 = re.compile(rb"\s*dim3\s*[({](.*)[)}]\s*\Z", re.S)
_DIM3_VARIABLE = re.compile(rb"dim3\s+(?:const\s+)?(\w+)\s*(?:=\s*dim3\s*)?[({=]([^;]*?)[)}]?\s*;")
_MAXIMUM_BLOCK = 1024  # CUDA's own; MUSA's is known to be the same on mp_31
TRIGGERS = (b"<<<", b"__launch_bounds__", b"DynamicShared", b"dynamicSmem", b"DYNAMIC_SHARED")


def run(unit: Unit) -> Iterator[Finding]:
    """Findings for launches, attributes and launch bounds."""
    data = unit.data
    if b"<<<" in data:
        dimensions = _dimensions(unit)
        for arguments in _launches(unit):
            yield from _block(unit, arguments[1], dimensions)
            if len(arguments) > 2:
                yield from _shared(unit, arguments[2], "<<<>>>")
    if b"__launch_bounds__" in data:
        text = device_code(unit).with_macros
        for match in _BOUNDS.finditer(text):
            for first in split_arguments(text, match.end())[0][:1]:
                yield from _threads(unit, first, constants(unit).value_at(first))
    if (b"ynamic" in data and (b"DynamicShared" in data or b"dynamicSmem" in data)) or b"DYNAMIC_SHARED" in data:
        yield from _requests(unit)


def _launches(unit: Unit) -> Iterator[list[Span]]:
    """The arguments between <<< and >>> of every launch that has at least two."""
    text = device_code(unit).with_macros
    position = text.find(b"<<<")
    while position >= 0:
        end = _LAUNCH_END.search(text, position, position + 1500)
        if end is not None:
            offset = position + 3
            spans, _ = split_arguments(text[offset : end.start()] + b")", 0)
            arguments = [Span(span.start + offset, span.end + offset) for span in spans]
            if len(arguments) > 1:
                yield arguments
        position = text.find(b"<<<", position + 3)


def _block(unit: Unit, argument: Span, dimensions: dict[bytes, list[Span]]) -> Iterator[Finding]:
    declared = dimensions.get(unit.text(argument), [])
    match = _DIM3.match(device_code(unit).with_macros[slice(*argument)])
    if len(declared) == 1:
        threads = _product(unit, declared[0])
    elif match is not None:
        threads = _product(unit, Span(argument.start + match.start(1), argument.start + match.end(1)))
    else:
        threads = constants(unit).value_at(argument)
    yield from _threads(unit, argument, threads)


def _dimensions(unit: Unit) -> dict[bytes, list[Span]]:
    """What the dim3 variables of a file are made with."""
    found: dict[bytes, list[Span]] = {}
    for match in _DIM3_VARIABLE.finditer(device_code(unit).text):
        found.setdefault(match.group(1), []).append(Span(*match.span(2)))
    return found


def _product(unit: Unit, dimensions: Span) -> int | None:
    """How many threads the arguments of a dim3 stand for."""
    product = 1
    for span in split_arguments(device_code(unit).with_macros[slice(*dimensions)] + b")", 0)[0]:
        value = constants(unit).value_at(Span(dimensions.start + span.start, dimensions.start + span.end))
        if value is None:
            return None
        product *= value
    return product


def _threads(unit: Unit, place: Span, threads: int | None) -> Iterator[Finding]:
    if threads is not None and threads > _MAXIMUM_BLOCK and not device_code(unit).is_elsewhere(place.start):
        yield Finding("MUS222", place, "block", {"threads": str(threads), "limit": str(_MAXIMUM_BLOCK)})


def _requests(unit: Unit) -> Iterator[Finding]:
    """Sizes that are asked for by attribute or by launch configuration."""
    code = device_code(unit)
    for call in code.calls(_SET_ATTRIBUTE):
        if len(call.arguments) == 3 and unit.text(call.arguments[1]).endswith(_DYNAMIC_SHARED):
            yield from _shared(unit, call.arguments[2], unit.text(call.name).decode())
    for match in _CONFIG.finditer(code.text):
        yield from _shared(unit, Span(*match.span(1)), "dynamicSmemBytes")


def _shared(unit: Unit, place: Span, name: str) -> Iterator[Finding]:
    size = constants(unit).settled(place)
    if size is None:
        return
    available = limits("static_shared", unit.settings.target)
    exceeded = {item: limit for item, limit in available.items() if size > limit}
    if exceeded and not device_code(unit).is_elsewhere(place.start):
        yield Finding("MUS223", place, name, {"bytes": str(size), "limits": limits_text(exceeded)})
