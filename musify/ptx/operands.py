"""The operands of an asm statement: expressions, constraints, and what evaluating them may do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from musify.ptx.assembly import Assembly
from musify.ptx.types import CONSTRAINTS, IMMEDIATE, bare

_PRIMARY = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*|\[[\w+\-* ]+\])*\Z|\d\w*\Z")
_EFFECTS = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|[\w>]\s*\(")
_CASTS_ONLY = re.compile(r"\b(?:sizeof|__half_as_ushort|reinterpret_cast|static_cast|__cvta_generic_to_shared)\b")


class Operand(NamedTuple):
    """An operand of the asm statement: its expression, the PTX type of its register, and how it is used.

    `cpp`: the C++ type of the expression where it is known, else empty. `once`: it holds a parameter of a macro, so
    whatever stands there must be evaluated exactly once.
    """

    text: str
    type: str
    written: bool
    read: bool
    tied: int
    cpp: str
    once: bool = False


class Refused(Exception):
    """The statement cannot be said in C++; why, in English and Chinese."""

    def __init__(self, reason: str, reason_zh: str, opcode: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.reason_zh = reason_zh
        self.opcode = opcode


def operands_of(
    assembly: Assembly,
    text: Callable[[int], str],
    macros: Mapping[str, str],
    parameters: Sequence[str] = (),
) -> list[Operand]:
    """The operands, read from constraints; their C++ types are left empty.

    Raises Refused for one that PTX statements do not have.
    `macros`: what well-known macros for constraints stand for. `parameters`: those of the macro in whose body the
    statement stands.
    """
    inside = re.compile(rf"\b(?:{'|'.join(map(re.escape, parameters))})\b") if parameters else None
    found: list[Operand] = []
    for index, operand in enumerate(assembly.operands):
        output = index < len(assembly.outputs)
        expression = text(index)
        once = inside is not None and inside.search(expression) is not None
        if once:
            expression = f"({bare(expression)})"
        letters = macros.get(operand.constraint, operand.constraint).replace("&", "").strip()
        read = not output or letters.startswith("+")
        letter = letters.lstrip("=+")
        if not output and letter.isdigit() and int(letter) < len(assembly.outputs):
            kind = found[int(letter)].type
            found.append(Operand(expression, kind, False, True, int(letter), "", once))
            continue
        kind = IMMEDIATE if letter == "n" else CONSTRAINTS.get(letter, "")
        if not kind:
            raise Refused(f'the constraint "{operand.constraint}" is not known', f'约束 "{operand.constraint}" 未知')
        found.append(Operand(expression, kind, output, read, -1, "", once))
    return found


def has_effects(text: str) -> bool:
    """Whether evaluating an expression may do more than yield a value."""
    return bool(_EFFECTS.search(_CASTS_ONLY.sub("", text)))


def primary(text: str) -> str:
    """`text` so that an operator before or after it takes all of it."""
    if _PRIMARY.match(text) or (text.startswith("(") and bare(text) != text):
        return text
    return f"({text})"
