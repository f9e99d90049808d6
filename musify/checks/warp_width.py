"""Warps of 32 threads where the hardware's may be wider (mp_21, mp_22).

Logic on 32 lanes with 32-bit masks and shuffles of explicit width 32 or less is right everywhere. What is not
settled: shuffles without a width, and `warpSize`, in a function that counts its warps as 32 threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._constants import constants
from musify.checks._device_code import Function, device_code
from musify.checks._warp_code import WARP, Shuffle, goes_by_default_width, shuffles, split, stays_in_a_warp, wide_warps
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span

_CALLED = re.compile(rb"\b([A-Za-z_]\w*)\s*(?:<[^;(){}]*>)?\s*\(")
_WARP_SIZE = re.compile(rb"(?<![.>\w])warpSize\b")
_WITHOUT_WIDTH = (
    "{name} has no width, so it reaches over the hardware's warp",
    "{name} 未给出宽度，其范围是硬件 warp",
)
_MIXED = ("warpSize is used beside it", "同时又使用了 warpSize")
TRIGGERS = (b"__shfl", b"warpSize")


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a function."""
    wide = wide_warps(unit.settings.target)
    if not wide:
        return
    code = device_code(unit)
    by_name = {function.name: function for function in code.functions}
    for function in code.functions:
        if code.is_elsewhere(function.body.start):
            continue
        cut = split(unit, function)
        if cut is None:
            yield from _absolute_lanes(unit, function, wide)
            continue
        reason = _reason(unit, function) or _reason_in_callee(unit, function, by_name)
        if reason is not None:
            arguments = {"place": _text(unit, cut), "reason": reason[0], "reason_zh": reason[1]}
            yield Finding("MUS210", cut, function.name.decode(), {**arguments, "architectures": ", ".join(wide)})


def _reason(unit: Unit, function: Function) -> tuple[str, str] | None:
    """Why the hardware's warp matters in a function, None where it does not."""
    for shuffle in shuffles(unit, function.body):
        if goes_by_default_width(shuffle) and not stays_in_a_warp(unit, shuffle, function):
            name = unit.text(shuffle.call.name).decode()
            return _WITHOUT_WIDTH[0].format(name=name), _WITHOUT_WIDTH[1].format(name=name)
    return _MIXED if _asks_warp_size(unit, function) and constants(unit).value(b"warpSize") is None else None


def _asks_warp_size(unit: Unit, function: Function) -> bool:
    return b"warpSize" in unit.marks and _WARP_SIZE.search(device_code(unit).text, *function.body) is not None


def _reason_in_callee(unit: Unit, function: Function, by_name: dict[bytes, Function]) -> tuple[str, str] | None:
    seen = {function.name}
    pending = [function]
    while pending:
        for name in _CALLED.findall(device_code(unit).text, *pending.pop().body):
            callee = by_name.get(name)
            if callee is None or name in seen:
                continue
            seen.add(name)
            pending.append(callee)
            reason = _reason(unit, callee)
            if reason is not None and reason is not _MIXED:
                called = name.decode()
                return f"{reason[0]} (in {called}, which it calls)", f"{reason[1]}（在其调用的 {called} 中）"
    return None


def _absolute_lanes(unit: Unit, function: Function, wide: list[str]) -> Iterator[Finding]:
    """A shuffle without width that names a lane of the warp: lane 0 is another thread in a wider warp."""
    if _asks_warp_size(unit, function):
        return
    for shuffle in shuffles(unit, function.body):
        if goes_by_default_width(shuffle) and _reaches_out(unit, shuffle):
            name = unit.text(shuffle.call.name).decode()
            assert shuffle.lane is not None
            arguments = {"lane": _text(unit, shuffle.lane), "architectures": ", ".join(wide)}
            yield Finding("MUS211", shuffle.call.name, name, arguments)
            return


def _reaches_out(unit: Unit, shuffle: Shuffle) -> bool:
    """Whether the lane that is read depends on how wide the warp is.

    Distances below 32 do not: xor stays in the group of 32, and what up and down read beyond its edge is no
    result on CUDA either. A constant distance of 32 and more does; variable ones start below 32 on CUDA.
    """
    if shuffle.is_absolute or shuffle.lane is None:
        return True
    distance = constants(unit).value_at(shuffle.lane)
    return distance is not None and distance >= WARP


def _text(unit: Unit, span: Span) -> str:
    return " ".join(unit.text(span).decode("utf-8", "replace").split())
