"""Inline assembly: PTX cannot be assembled for MUSA; host assembly is left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.cuda.unit import Unit
from musify.model import Edit, Finding, Span

_ASM = re.compile(rb"\b(?:asm|__asm__|__asm)\b")
_LITERAL = re.compile(rb'"((?:[^"\\\n]|\\.)*)"')
# PTX instructions carry dotted types or states (mov.u32, bar.sync); a few stand bare.
_PTX = re.compile(
    rb"(?:^|[;{}\s]|\\n|\\t)(?:@!?%?\w+\s+)?([a-z][a-z0-9_]*(?:\.[a-z0-9_:]+)+|trap|exit|brkpt|ret)\s*(?=[;\s%{\[]|\\n|$)|(%%?(?:laneid|lanemask_\w+|smid|warpid|"
    rb"nwarpid|clock(?:64)?|globaltimer\w*|tid\.[xyz]|ctaid\.[xyz])\b)|(\.reg\s+\.)"
)


def run(unit: Unit) -> Iterator[Edit | Finding]:
    """A finding for every statement of PTX."""
    if b"asm" not in unit.data:
        return
    for word in unit.outline.words(_ASM):
        statement = _statement(unit, word)
        if statement is None:
            continue
        instructions = _instructions(unit, statement)
        if instructions:
            yield Finding("MUS201", statement, "asm", {"instructions": ", ".join(instructions)})


def _statement(unit: Unit, word: Span) -> Span | None:
    """The whole `asm ... ( ... )`."""
    outline = unit.outline
    token = outline.after(word.end)
    while outline.text(token) in (b"volatile", b"__volatile__", b"__volatile", b"inline", b"goto"):
        token = outline.after(token.end)
    if outline.text(token) != b"(":
        return None
    depth = 0
    while token.start < token.end:
        depth += {b"(": 1, b")": -1}.get(outline.text(token), 0)
        if depth == 0:
            return Span(word.start, token.end)
        token = outline.after(token.end)
    return None


def _instructions(unit: Unit, statement: Span) -> list[str]:
    """The distinct PTX instructions of the template, at most five."""
    template: list[bytes] = []
    position = unit.data.index(b"(", statement.start) + 1
    token = unit.outline.after(position)
    while token.start < statement.end - 1 and unit.text(token)[:1] not in (b":", b")"):
        match = _LITERAL.match(unit.text(token)) if unit.text(token)[:1] == b'"' else None
        if match:
            template.append(match.group(1))
        token = unit.outline.after(token.end)
    found: list[str] = []
    for match in _PTX.finditer(b"".join(template)):
        text = next(group for group in match.groups() if group).decode()
        if text not in found:
            found.append(text)
    return found[:5]
