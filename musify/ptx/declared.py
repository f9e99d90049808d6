"""The C++ type of a variable, where the text around an asm statement leaves no doubt."""

from __future__ import annotations

import re

_SPELLINGS = {
    "unsigned int": "unsigned|unsigned int|uint|uint32_t|std::uint32_t",
    "int": "int|int32_t|std::int32_t",
    "unsigned long long": "unsigned long long|unsigned long long int|unsigned long|uint64_t|size_t|std::size_t",
    "long long": "long long|long long int|long|int64_t|std::int64_t|ptrdiff_t",
    "unsigned short": "unsigned short|uint16_t|std::uint16_t|ushort",
    "short": "short|int16_t|std::int16_t",
}
_MEANINGS = {spelling: cpp for cpp, spellings in _SPELLINGS.items() for spelling in spellings.split("|")}
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_NOT_TYPES = frozenset(
    "return else case goto throw new delete sizeof and or not const volatile static register constexpr".split()
)
_QUALIFIERS = re.compile(r"\b(?:const|volatile|static|register|constexpr)\b")
_FUNCTION_END = re.compile(rb"\n\}")


def declared_type(data: bytes, offset: int, expression: str) -> str:
    """The C++ integer type of `expression`, a variable or parameter declared before `offset`; empty where unsure."""
    if not _NAME.match(expression):
        return ""
    start = max(0, offset - 6000)
    for end in _FUNCTION_END.finditer(data, start, offset):
        start = end.end()
    text = data[start:offset].decode("utf-8", "replace")
    if re.search(rf",\s*[*&]*\s*{re.escape(expression)}\s*[,;=]", text):
        return ""  # perhaps one of several variables of a declaration
    pattern = re.compile(
        rf"(?<![\w:.>])((?:[A-Za-z_][\w:]*\s+)*[A-Za-z_][\w:]*)\s*(\*|&)?\s*(?<![\w.>]){re.escape(expression)}\s*(?=[,;=)(\[{{:])"
    )
    found = set()
    for match in pattern.finditer(text):
        words = _QUALIFIERS.sub("", match.group(1)).split()
        if not words or words[-1] in _NOT_TYPES:
            continue
        plain = match.group(2) != "*" and not re.match(rf"\s*{re.escape(expression)}\s*[\[(]", text[match.end(1) :])
        spelled = " ".join(words)
        # A return type or a macro may stand before the words that count.
        found.add(_MEANINGS.get(spelled, "") if plain else "")
    return found.pop() if len(found) == 1 else ""
