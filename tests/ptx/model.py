"""What PTX instructions do, written from NVIDIA's PTX ISA and from nothing in musify: integers of bits in, bits out."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction

Bits = Sequence[int]
Meaning = Callable[[Bits], "list[int]"]


def u(value: int, bits: int = 32) -> int:
    return value & ((1 << bits) - 1)


def s(value: int, bits: int = 32) -> int:
    value = u(value, bits)
    return value - (1 << bits) if value >> (bits - 1) else value


def f32(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", u(bits)))[0])


def f64(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", u(bits, 64)))[0])


def f16(bits: int) -> float:
    return float(struct.unpack("<e", struct.pack("<H", u(bits, 16)))[0])


def bits64(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


def bits32(value: float) -> int:
    try:
        return int(struct.unpack("<I", struct.pack("<f", value))[0])
    except OverflowError:
        return 0xFF800000 if value < 0 else 0x7F800000


def bits16(value: float) -> int:
    try:
        return int(struct.unpack("<H", struct.pack("<e", value))[0])
    except OverflowError:
        return 0xFC00 if value < 0 else 0x7C00


def rounded32(value: Fraction) -> int:
    """An exact number as the nearest binary32, ties to even."""
    if value == 0:
        return 0
    sign, size = (0x80000000, -value) if value < 0 else (0, value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, -126)
    steps = round(size / Fraction(2) ** (exponent - 23))
    return sign | min(steps + ((exponent + 126) << 23), 0x7F800000)


def finite(*values: float) -> bool:
    return all(math.isfinite(value) for value in values)


def bfe(a: int, b: int, c: int, bits: int, *, signed: bool) -> int:
    position, length = b & 0xFF, c & 0xFF
    top = bits - 1
    sign = 0
    if signed and length:
        sign = (a >> min(position + length - 1, top)) & 1
    result = 0
    for i in range(bits):
        inside = i < length and position + i <= top
        result |= ((a >> (position + i)) & 1 if inside else sign) << i
    return result


def bfi(a: int, b: int, c: int, d: int, bits: int) -> int:
    position, length = c & 0xFF, d & 0xFF
    result = b
    for i in range(length):
        if position + i < bits:
            bit = (a >> i) & 1 if i < bits else 0
            result = result & ~(1 << (position + i)) | bit << (position + i)
    return result


def prmt(a: int, b: int, c: int) -> int:
    both = [(a | b << 32) >> (8 * i) & 0xFF for i in range(8)]
    result = 0
    for i in range(4):
        nibble = c >> (4 * i) & 0xF
        byte = both[nibble & 7]
        if nibble & 8:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << (8 * i)
    return result


def lop3(a: int, b: int, c: int, table: int) -> int:
    result = 0
    for i in range(32):
        index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)
        result |= (table >> index & 1) << i
    return result


def shl(a: int, b: int, bits: int) -> int:
    return u(a << min(b, bits), bits)


def shr(a: int, b: int, bits: int, *, signed: bool = False) -> int:
    return u((s(a, bits) if signed else a) >> min(b, bits), bits)


def funnel(a: int, b: int, amount: int, *, left: bool) -> int:
    both = a | b << 32
    return u(both << amount >> 32) if left else u(both >> amount)


def bfind(a: int, *, signed: bool) -> int:
    if signed and s(a) < 0:
        a = u(~a)
    return a.bit_length() - 1 if a else 0xFFFFFFFF


def dp4a(a: int, b: int, c: int, *, signed: bool) -> int:
    lanes = [(a >> i & 0xFF, b >> i & 0xFF) for i in (0, 8, 16, 24)]
    return u(c + sum(s(x, 8) * s(y, 8) if signed else x * y for x, y in lanes))


def absolute_differences(a: int, b: int, c: int) -> int:
    return u(c + sum(abs((a >> i & 0xFF) - (b >> i & 0xFF)) for i in (0, 8, 16, 24)))


def fma32(a: int, b: int, c: int) -> int:
    x, y, z = f32(a), f32(b), f32(c)
    if not finite(x, y, z):
        return bits32(x * y + z) if not math.isnan(x * y) else 0x7FFFFFFF
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        # The sign of an exact zero is that of its parts where these agree.
        return bits32(math.copysign(0.0, x) * math.copysign(1.0, y) + z) if x * y == 0 else 0
    return rounded32(exact) | (0x80000000 if exact < 0 else 0)


def fma64(a: int, b: int, c: int) -> int:
    x, y, z = f64(a), f64(b), f64(c)
    if finite(x, y) and math.isinf(z):
        return c  # Python's product of finite numbers may be infinite, that of PTX is exact
    if not finite(x, y, z):
        return bits64(x * y + z)
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        zero = math.copysign(1.0, x) * math.copysign(1.0, y) < 0 and math.copysign(1.0, z) < 0
        return bits64(-0.0 if zero and (x == 0 or y == 0) else 0.0)
    try:
        return bits64(float(exact))
    except OverflowError:
        return bits64(math.inf if exact > 0 else -math.inf)


def divided(x: float, y: float) -> float:
    if y == 0:
        return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1.0, y)
    return x / y


def smaller(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else min(a, b)


def larger(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else max(a, b)


def to_integer(value: float, bits: int, *, signed: bool) -> int:
    """Conversion of a whole number, clamped; NaN becomes 0."""
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return u(high if value > 0 else low, bits)
    return u(max(low, min(high, int(value))), bits)


def whole(value: float, how: Callable[[float], float]) -> float:
    """Rounded to a whole number, which keeps the sign of zero."""
    if not math.isfinite(value):
        return value
    return math.copysign(abs(float(how(value))), value)


def bf16(bits: int) -> int:
    """A binary32 as the nearest bfloat16."""
    value = f32(bits)
    if math.isnan(value):
        return 0x7FFF
    if math.isinf(value):
        return bits >> 16
    low, rest = bits >> 16, bits & 0xFFFF
    return low + (1 if rest > 0x8000 or (rest == 0x8000 and low & 1) else 0)


def half(bits: int) -> int:
    """A binary32 as the nearest binary16."""
    value = f32(bits)
    return 0x7FFF if math.isnan(value) else bits16(value)


def shuffle(mode: str, values: Bits, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The pseudo-code of shfl.sync, with all lanes active."""
    offset, clamp, segment = b & 0x1F, c & 0x1F, c >> 8 & 0x1F
    limit = (lane & segment) | (clamp & ~segment & 0x1F)
    lowest = lane & segment
    if mode == "up":
        source = lane - offset
        fits = source >= limit
    elif mode == "down":
        source = lane + offset
        fits = source <= limit
    elif mode == "bfly":
        source = lane ^ offset
        fits = source <= limit
    else:
        source = lowest | (offset & ~segment & 0x1F)
        fits = source <= limit
    return values[source if fits else lane], fits


COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lo": lambda a, b: a < b,
    "ls": lambda a, b: a <= b,
    "hi": lambda a, b: a > b,
    "hs": lambda a, b: a >= b,
}


def compared(name: str, a: float, b: float) -> bool:
    """Comparison of floating-point numbers: the ones with u are true where an operand is NaN."""
    if math.isnan(a) or math.isnan(b):
        return name.endswith("u")
    return COMPARISONS[name.removesuffix("u") if name.endswith("u") else name](a, b)
