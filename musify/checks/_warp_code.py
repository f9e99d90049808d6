"""Shuffles, and places where a block is cut into warps of 32 threads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from musify.checks._constants import constants
from musify.checks._device_code import Call, Function, device_code
from musify.languages.cuda.unit import Unit
from musify.model import Span, Target

# Cards whose hardware warp is documented as 128 threads; on mp_31 it is 32, as on CUDA.
WIDE_WARPS = ("mp_21", "mp_22")
WARP = 32
SHUFFLE = re.compile(rb"__shfl(?:_up|_down|_xor)?(?:_sync)?\b")
_THREAD = re.compile(rb"threadIdx\s*\.\s*x|blockDim\s*\.\s*[xyz]")
# int tid = threadIdx.x + ...;  unsigned tid(threadIdx.x + ...);
_FROM_THREAD = re.compile(
    rb"\b([A-Za-z_]\w*)\s*=\s*[^;=]*\bthreadIdx\s*\.\s*x\b[^;]*;|\b(?:int|unsigned|auto|\w+_t)\s+(\w+)\s*[({]\s*[^;=]*\bthreadIdx\s*\.\s*x\b"
)
_PARTS = re.compile(rb"[/%]|>>|(?<!&)&(?!&)")
_DERIVED = re.compile(rb"\b([A-Za-z_]\w*)\s*=\s*([\w\s.+*()-]+);")
_CUT = re.compile(rb"(/|%|(?<!&)&(?!&)|>>)\s*\(?\s*(\w+(?:(?:<[\w:, ]*>)?::\w+)*)\b(?!\s*[.(])(\s*-\s*1\b\s*\)?)?")
_SUBJECT = re.compile(rb"(?<![.>])\b([A-Za-z_]\w*(?:\s*\.\s*[xyz])?)\s*\)*\s*\Z")
_WARP_CONSTANT = re.compile(rb"(?:\w*_)?WARP_?(?:SIZE|SZ|THREADS|WIDTH)|LOG2?_?WARP_?SIZE|kWarpSize|kWarpThreads")
_DIVISORS = {b"/": 32, b"%": 32, b"&": 31, b">>": 5}


class Shuffle(NamedTuple):
    """A shuffle: how the lane is told (absolute, or relative: up, down, xor), which, and the width."""

    call: Call
    is_absolute: bool
    has_mask: bool
    lane: Span | None
    width: Span | None


def wide_warps(target: Target) -> list[str]:
    """The target's architectures whose hardware warp is not 32 threads by the documents."""
    return [item for item in target.architectures if item in WIDE_WARPS]


def shuffles(unit: Unit, within: Span | None = None) -> Iterator[Shuffle]:
    """The shuffles of a source, those in macros too unless a span is given."""
    for shuffle in _all_shuffles(unit):
        if within is None or within.start <= shuffle.call.name.start < within.end:
            yield shuffle


@lru_cache(maxsize=1)
def _all_shuffles(unit: Unit) -> list[Shuffle]:
    found: list[Shuffle] = []
    for call in device_code(unit).calls(SHUFFLE):
        name = unit.text(call.name)
        has_mask = name.endswith(b"_sync")
        values = call.arguments[1:] if has_mask else call.arguments
        lane = values[1] if len(values) > 1 else None
        width = values[2] if len(values) > 2 else _width_in_macro(unit, call)
        found.append(Shuffle(call, name in (b"__shfl", b"__shfl_sync"), has_mask, lane, width))
    return found


def stays_in_a_warp(unit: Unit, shuffle: Shuffle, function: Function) -> bool:
    """Whether a shuffle gives the same in a warp of 32 and in a wider one: an xor by less than 32.

    The distance is a constant, or the variable of a loop that starts below 32 and halves it.
    """
    if shuffle.lane is None or b"_xor" not in unit.text(shuffle.call.name):
        return False
    distance = unit.text(shuffle.lane)
    value = constants(unit).value_at(shuffle.lane)
    if value is None and re.fullmatch(rb"[A-Za-z_]\w*", distance):
        halving = rb"for\s*\([^;]*\b" + distance + rb"\s*=\s*([^;,]+);[^;]*;\s*" + distance + rb"\s*(?:>>=|/=)"
        loops = re.findall(halving, device_code(unit).text[function.body.start : shuffle.call.name.start])
        value = constants(unit).value(loops[-1]) if loops else None
    return value is not None and 0 <= value < WARP


def _width_in_macro(unit: Unit, call: Call) -> Span | None:
    """The width that the project's own macro of this name (`#define __shfl(v, l) ...`) gives to the shuffle in it."""
    name = unit.text(call.name)
    for directive in unit.outline.directives:
        if directive.name == name and not directive.start <= call.name.start < directive.end:
            for inner in device_code(unit).calls(SHUFFLE, Span(directive.body, directive.end)):
                return inner.arguments[3] if len(inner.arguments) > 3 else None
    return None


def goes_by_default_width(shuffle: Shuffle) -> bool:
    """Whether a shuffle reaches over the whole hardware warp."""
    return shuffle.lane is not None and shuffle.width is None


def split(unit: Unit, function: Function) -> Span | None:
    """The first place where a function cuts the threads of its block into warps of 32."""
    text = device_code(unit).text
    body = text[function.body.start : function.body.end]
    if b"threadIdx" not in body and b"blockDim" not in body:
        return None
    indices: set[bytes] | None = None
    for match in _CUT.finditer(body):
        subject = _SUBJECT.search(body, max(0, match.start() - 60), match.start())
        divisor = Span(function.body.start + match.start(2), function.body.start + match.end(2))
        if subject is None or not _is_a_warp(unit, match.group(1), divisor, is_less_one=bool(match.group(3))):
            continue
        indices = _thread_indices(body) if indices is None else indices
        if subject.group(1) in indices or _THREAD.fullmatch(subject.group(1)):
            return Span(function.body.start + subject.start(), function.body.start + match.end())
    return None


def _thread_indices(body: bytes) -> set[bytes]:
    """Variables that hold a thread's index, in the block or in the grid."""
    own = {
        match.group(1) or match.group(2)
        for match in _FROM_THREAD.finditer(body)
        if not _PARTS.search(match.group())  # the number of a warp or a lane is no thread's index
    }
    for name, value in _DERIVED.findall(body):
        if own.intersection(re.findall(rb"(?<![.\w])\w+", value)) and b"Idx" in body:
            own.add(name)
    return own


def _is_a_warp(unit: Unit, sign: bytes, place: Span, *, is_less_one: bool) -> bool:
    """Whether `sign divisor` takes a thread's place in a warp of 32, or its warp; `& (WARP - 1)` is one less."""
    divisor = unit.text(place)
    if divisor == b"warpSize" and b"define warpSize" not in unit.data:
        return False
    value = constants(unit).value_at(place)
    if value is None:
        # A constant of a header that is not at hand: its name tells.
        return _WARP_CONSTANT.fullmatch(divisor) is not None and not divisor.startswith(b"C10_")
    return value - is_less_one == _DIVISORS[sign]
