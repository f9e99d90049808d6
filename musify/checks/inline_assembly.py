"""Inline assembly: PTX becomes C++ where every instruction has an equivalent; host assembly is left alone."""

from __future__ import annotations

from collections.abc import Iterator

from musify.languages.cuda.unit import Unit
from musify.model import Edit, Finding, Span
from musify.ptx.assembly import ASM_WORD, Assembly, read_assembly, string_macros
from musify.ptx.operands import Refused
from musify.ptx.recognition import ptx_instructions
from musify.ptx.rules import PtxRules, ptx_rules
from musify.ptx.statement import Outcome, Place, convert_statement, prefix_of_locals

_DEVICE_CODE = (b"__device__", b"__global__")
_SHOWN = 5
_SHOWN_BYTES = 160
TRIGGERS = (b"asm",)


def run(unit: Unit) -> Iterator[Edit | Finding]:
    """For every statement of PTX either the edits that rewrite it and a finding to review them, or an error."""
    words = unit.outline.words(ASM_WORD)
    if not words:
        return
    macros = string_macros(unit.outline)
    others = [*unit.words, *unit.words_elsewhere] if unit.settings.comments else unit.words
    place = Place(unit.outline, ptx_rules(), unit.settings.target, others, prefix_of_locals(unit.data))
    for word in words:
        assembly = read_assembly(unit.outline, word, macros)
        if assembly is None:
            yield from _unreadable(unit, word)
            continue
        instructions = ptx_instructions(assembly.template)
        if instructions:
            yield from _ptx(unit, place, assembly, instructions)
        elif assembly.macros and _in_device_code(unit):
            yield Finding("MUS203", assembly.span, "asm", {"macros": ", ".join(assembly.macros)})


def _ptx(unit: Unit, place: Place, assembly: Assembly, instructions: list[str]) -> Iterator[Edit | Finding]:
    try:
        outcome = convert_statement(place, assembly)
    except Refused as reason:
        yield _left(unit, assembly, instructions, reason, place.rules)
        return
    yield from outcome.edits
    yield _rewritten(assembly, instructions, outcome, place.rules)


def _left(unit: Unit, assembly: Assembly, instructions: list[str], reason: Refused, rules: PtxRules) -> Finding:
    target = unit.settings.target
    instead = [pair for instruction in instructions for pair in rules.instead(instruction, target)]
    instead = list(dict.fromkeys(instead)) or [("replace it by an intrinsic or by C++", "请改用内建函数或 C++ 代码")]
    arguments = {
        "instructions": _listed(instructions),
        "reason": reason.reason,
        "reason_zh": reason.reason_zh,
        "instead": "; ".join(english for english, _ in instead),
        "instead_zh": "；".join(chinese for _, chinese in instead),
    }
    return Finding("MUS201", assembly.span, "asm", arguments)


def _rewritten(assembly: Assembly, instructions: list[str], outcome: Outcome, rules: PtxRules) -> Finding:
    names = outcome.checks if outcome.checks == ["plain"] else [name for name in outcome.checks if name != "plain"]
    checks = [rules.checks[name] for name in names]
    after = outcome.text if len(outcome.text) <= _SHOWN_BYTES else outcome.text[: _SHOWN_BYTES - 3] + "..."
    arguments = {
        "instructions": _listed(instructions),
        "after": after,
        "check": "; ".join(english for english, _ in checks),
        "check_zh": "；".join(chinese for _, chinese in checks),
    }
    return Finding("MUS202", assembly.span, "asm", arguments)


def _unreadable(unit: Unit, word: Span) -> Iterator[Finding]:
    """`asm` with parentheses that hold no statement, in device code: somebody should look."""
    after = unit.outline.after(word.end)
    if unit.text(after) in (b"(", b"volatile", b"__volatile__") and _in_device_code(unit):
        yield Finding("MUS203", word, "asm", {"macros": "?"})


def _in_device_code(unit: Unit) -> bool:
    return any(mark in unit.data for mark in _DEVICE_CODE)


def _listed(instructions: list[str]) -> str:
    more = f" (+{len(instructions) - _SHOWN})" if len(instructions) > _SHOWN else ""
    return ", ".join(instructions[:_SHOWN]) + more
