"""64-bit atomicCAS on shared memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._constants import constants
from musify.checks._device_code import SHARED_VARIABLE, Function, device_code
from musify.languages.cuda.unit import Unit
from musify.model import Finding

_CAS = re.compile(rb"\batomicCAS(?:_block)?\b")
_WIDE_POINTER = re.compile(
    rb"\b(?:unsigned\s+long(?:\s+long)?(?:\s+int)?|long\s+long|u?int64_t|ull|ulonglong|uint64|uint64_cu)\s*\*"
)
_POINTER = re.compile(rb"\*\s*(?:const\s+)?(\w+)\s*=\s*([^;]*);")
_WIDE = 8
TRIGGERS = (b"atomicCAS",)


def run(unit: Unit) -> Iterator[Finding]:
    """A finding for every such call."""
    if b"__shared__" not in unit.data:
        return
    code = device_code(unit)
    for function in code.functions:
        shared = _shared_variables(unit, function)
        for call in code.calls(_CAS, function.body) if shared else ():
            address = unit.text(call.arguments[0]) if call.arguments else b""
            names = set(re.findall(rb"(?<![.>\w])[A-Za-z_]\w*", address)) & shared.keys()
            is_wide = b"*)" not in address.replace(b" ", b"") and any(shared[name] for name in names)
            if names and (is_wide or _WIDE_POINTER.search(address)) and not code.is_elsewhere(call.name.start):
                yield Finding("MUS234", call.name, "atomicCAS")


def _shared_variables(unit: Unit, function: Function) -> dict[bytes, bool]:
    """Variables in shared memory, and pointers to them; whether what they hold is 64 bits wide."""
    text = device_code(unit).text
    found: dict[bytes, bool] = {}
    for match in SHARED_VARIABLE.finditer(text, *function.body):
        element = re.sub(rb"\[[^\]]*\]", b"", match.group(1)).replace(b"extern", b"")
        for name, layout in constants(unit).types.declared(element):
            found[name] = layout is not None and layout.size == _WIDE
    for match in _POINTER.finditer(text, *function.body) if found else ():
        if set(re.findall(rb"\w+", match.group(2))) & found.keys():
            start = max(text.rfind(sign, 0, match.start()) for sign in (b";", b"{", b"}")) + 1
            found[match.group(1)] = _WIDE_POINTER.search(text, start, match.start() + 1) is not None
    found.pop(b"", None)
    return found
