"""The types of PTX and how C++ spells and converts them."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A PTX type: what it holds (`u`nsigned, `s`igned, `b`its, `f`loat, `p`redicate), its size, and its C++ type."""

    family: str
    bits: int
    cpp: str


_UNSIGNED = {8: "unsigned char", 16: "unsigned short", 32: "unsigned int", 64: "unsigned long long"}
_SIGNED = {8: "signed char", 16: "short", 32: "int", 64: "long long"}

KINDS = {
    **{f"u{bits}": Kind("u", bits, cpp) for bits, cpp in _UNSIGNED.items()},
    **{f"b{bits}": Kind("b", bits, cpp) for bits, cpp in _UNSIGNED.items()},
    **{f"s{bits}": Kind("s", bits, cpp) for bits, cpp in _SIGNED.items()},
    "f32": Kind("f", 32, "float"),
    "f64": Kind("f", 64, "double"),
    # Half types are carried as their bits; the rules convert them where an instruction computes.
    "f16": Kind("b", 16, "unsigned short"),
    "bf16": Kind("b", 16, "unsigned short"),
    "f16x2": Kind("b", 32, "unsigned int"),
    "bf16x2": Kind("b", 32, "unsigned int"),
    "pred": Kind("p", 1, "bool"),
}
# The type of an operand that is a constant: that of its use.
IMMEDIATE = "immediate"
CONSTRAINTS = {"h": "b16", "r": "b32", "l": "b64", "f": "f32", "d": "f64"}
_TO_BITS = {32: "__float_as_uint", 64: "__double_as_longlong"}
_FROM_BITS = {32: "__uint_as_float", 64: "__longlong_as_double"}
_SUFFIXES = {"unsigned int": "u", "unsigned long long": "ull", "long long": "ll"}


class Mismatch(Exception):
    """A register is read or written as a type that PTX does not allow for it."""


class Value(NamedTuple):
    """A C++ expression that binds as tightly as a cast, its PTX type, and whether its C++ type is just that one."""

    text: str
    type: str
    exact: bool = True


def unsigned(name: str) -> str:
    """The unsigned type of the same size."""
    return f"u{KINDS[name].bits}"


def signed(name: str) -> str:
    """The signed type of the same size."""
    return f"s{KINDS[name].bits}"


def wide(name: str) -> str:
    """The type of the same sort and twice the size."""
    return f"{KINDS[name].family}{KINDS[name].bits * 2}"


def converted(value: Value, wanted: str) -> str:
    """`value` read as PTX type `wanted`: the same bits; of a wider register the lower ones."""
    have, want = KINDS[value.type], KINDS[wanted]
    if (have.family == "p") != (want.family == "p") or have.bits < want.bits:
        raise Mismatch(f"a .{value.type} register is used as .{wanted}")
    if have.family == "f" and want.family != "f":
        value = Value(f"{_TO_BITS[have.bits]}({value.text})", "u32" if have.bits == 32 else "s64")
        have = KINDS[value.type]
    if want.family == "f" and have.family != "f":
        if have.bits != want.bits:
            raise Mismatch(f"a .{value.type} register is used as .{wanted}")
        return f"{_FROM_BITS[want.bits]}({bare(value.text)})"
    if value.exact and have.cpp == want.cpp:
        return value.text
    if have.family == "f" and have != want:
        raise Mismatch(f"a .{value.type} register is used as .{wanted}")
    return f"({want.cpp}){value.text}"


def bare(text: str) -> str:
    """`text` without parentheses around the whole of it."""
    if not text.startswith("(") or not text.endswith(")"):
        return text
    depth = 0
    for index, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0 and index < len(text) - 1:
            return text
    return text[1:-1].strip()


def integer_literal(value: int, wanted: str, *, hexadecimal: bool) -> str:
    """An integer of PTX as a C++ literal of type `wanted`, cut to its size as PTX does."""
    kind = KINDS[wanted]
    if kind.family == "p":
        return "true" if value else "false"
    value &= (1 << kind.bits) - 1
    if kind.family == "s" and value >> (kind.bits - 1):
        value -= 1 << kind.bits
    suffix = _SUFFIXES.get(kind.cpp, "")
    if value < 0:
        # The most negative number has no literal of its own.
        lowest = value == -(1 << (kind.bits - 1)) and kind.bits >= 32
        return f"(-{-value - 1}{suffix} - 1)" if lowest else f"(-{-value}{suffix})"
    return f"{value:#x}{suffix}" if hexadecimal else f"{value}{suffix}"
