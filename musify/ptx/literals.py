"""Numbers of PTX as literals of C++."""

from __future__ import annotations

import struct

from musify.ptx.text import number
from musify.ptx.types import KINDS, Mismatch, integer_literal


def literal(text: str, wanted: str) -> str:
    """A number as a C++ literal of PTX type `wanted`. Raises Mismatch where it is of another sort."""
    value = number(text)
    family = KINDS[wanted].family
    if value is not None:
        if family != "f":
            return integer_literal(value, wanted, hexadecimal="x" in text.lower())
        return f"{float(value)}f" if wanted == "f32" else f"{float(value)}"
    if family != "f":
        # The bits of a float, moved as an integer.
        if text[:2].lower() == "0f" and KINDS[wanted].bits == 32:
            return integer_literal(int(text[2:], 16), wanted, hexadecimal=True)
        raise Mismatch("a floating-point number is used as an integer")
    return _float(text, wanted)


def _float(text: str, wanted: str) -> str:
    head = text[:2].lower()
    if head == "0f":
        exact = struct.unpack(">f", bytes.fromhex(text[2:]))[0]
        if wanted != "f32" or exact != exact or exact in (float("inf"), float("-inf")):
            if wanted != "f32":
                raise Mismatch("a 32-bit number is used as .f64")
            return f"__uint_as_float(0x{text[2:].lower()}u)"
    elif head == "0d":
        exact = struct.unpack(">d", bytes.fromhex(text[2:]))[0]
        if wanted != "f64" or exact != exact or exact in (float("inf"), float("-inf")):
            raise Mismatch("a 64-bit number is used as .f32")
    else:
        exact = float(text)
        if wanted == "f32":
            exact = struct.unpack("f", struct.pack("f", exact))[0]
    # repr of the double leads back to the same double, so to the same float.
    return f"{exact!r}f" if wanted == "f32" else repr(exact)
