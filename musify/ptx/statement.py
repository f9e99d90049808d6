"""From one asm statement to its C++: what becomes of it, or why it stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from musify.model import Applicability, Edit, Finding, Span, Target
from musify.ptx.assembly import Assembly
from musify.ptx.declared import declared_type
from musify.ptx.operands import Refused, operands_of
from musify.ptx.render import render
from musify.ptx.rules import PtxRules
from musify.ptx.text import Unread, read_program
from musify.source.outline import Outline

REWRITE = "inline-ptx"
_SPLICE = re.compile(r"\\\r?\n")
_SPACE = re.compile(r"\s+")


class Place(NamedTuple):
    """Where statements are rewritten: the text, what else is changed in it, and how new locals begin."""

    outline: Outline
    rules: PtxRules
    target: Target
    others: Sequence[Span]
    prefix: str


def prefix_of_locals(data: bytes) -> str:
    """How the names of new local variables begin, so that they meet no name of the file."""
    return "musify_" if b"ptx_" in data else "ptx_"


class Outcome(NamedTuple):
    """Edits that rewrite a statement, the new text, and what to check."""

    edits: list[Edit]
    text: str
    checks: list[str]


def convert_statement(place: Place, assembly: Assembly) -> Outcome:
    """The edits that say a statement in C++. Raises Refused where that cannot be done."""
    if assembly.jumps:
        raise Refused("it may jump to labels of C++", "它可能跳转到 C++ 标号")
    if assembly.macros:
        names = ", ".join(assembly.macros)
        raise Refused(f"its text holds the macro {names}", f"其文本包含宏 {names}")
    try:
        program = read_program(assembly.template.replace("%%", "%"))
    except Unread as problem:
        raise Refused(f"its text could not be read: {problem}", f"无法读取其文本：{problem}") from problem
    directive = place.outline.directive_at(assembly.span.start)
    parameters = [name.decode("utf-8", "surrogateescape") for name in (directive.parameters or ())] if directive else []
    operands = operands_of(
        assembly,
        lambda index: _expression(place, assembly, index),
        place.rules.constraints,
        [name for name in parameters if name.isidentifier()],
    )
    rendered = render(program, assembly, operands, place.rules, place.target, place.prefix)
    if directive is None:
        # Declared types only spare casts, and to find them costs more than all the rest: most statements are refused.
        data, before = place.outline.data, assembly.span.start
        operands = [operand._replace(cpp=declared_type(data, before, operand.text)) for operand in operands]
        rendered = render(program, assembly, operands, place.rules, place.target, place.prefix)
    text = _SPACE.sub(" ", _comments(place.outline, assembly) + rendered.text)
    return Outcome(_edits(place, assembly, text), text, rendered.checks)


def left_in_literals(finding: Finding) -> Finding:
    """The error in place of the review of a rewrite that could not be made, since its text lies in several literals."""
    arguments = {
        "instructions": finding.arguments.get("instructions", ""),
        "reason": "its text is spread over several string literals",
        "reason_zh": "其文本分散在多个字符串字面量中",
        "instead": f"in the source text, write {finding.arguments.get('after', 'C++')}",
        "instead_zh": f"请在源文本中写成 {finding.arguments.get('after', 'C++')}",
    }
    return Finding("MUS201", finding.span, finding.name, arguments)


def _expression(place: Place, assembly: Assembly, index: int) -> str:
    """The text of an operand on one line, without comments and line splices."""
    span = assembly.operands[index].expression
    parts: list[bytes] = []
    position = span.start
    for comment in place.outline.comments(span):
        parts += [place.outline.data[position : comment.start], b" "]
        position = comment.end
    parts.append(place.outline.data[position : span.end])
    text = _SPLICE.sub(" ", b"".join(parts).decode("utf-8", "surrogateescape"))
    if '"' in text or "'" in text:
        return text.strip()
    return _SPACE.sub(" ", text).strip()


def _comments(outline: Outline, assembly: Assembly) -> str:
    """The comments inside the statement, to stand before its C++."""
    texts = []
    for item in outline.comments(assembly.span):
        text = outline.data[item.start : item.end].decode("utf-8", "surrogateescape")
        text = text[2:-2] if text.startswith("/*") else text[2:]
        text = _SPACE.sub(" ", _SPLICE.sub(" ", text)).replace("*/", "").strip()
        if text:
            texts.append(f"/* {text} */ ")
    return "".join(texts)


def _edits(place: Place, assembly: Assembly, text: str) -> list[Edit]:
    """One edit; or several around operands in which something else is changed, so that both hold."""
    inside = [span for span in place.others if assembly.span.start <= span.start < assembly.span.end]
    encoded = text.encode("utf-8", "surrogateescape")
    if not inside:
        return [Edit(assembly.span, encoded, REWRITE, Applicability.REVIEW)]
    edits: list[Edit] = []
    position, written = assembly.span.start, 0
    for operand in assembly.operands:
        kept = _trimmed(place.outline.data, operand.expression)
        if not any(kept.start <= span.start < kept.end for span in inside):
            continue
        expression = place.outline.text(kept)
        found = encoded.find(expression, written)
        if encoded.count(expression) != 1 or found < 0 or b"\n" in expression:
            break
        edits.append(Edit(Span(position, kept.start), encoded[written:found], REWRITE, Applicability.REVIEW))
        position, written = kept.end, found + len(expression)
        inside = [span for span in inside if not kept.start <= span.start < kept.end]
    if inside:
        raise Refused("names in its operands are renamed at the same time", "其操作数中的名称同时需要改名")
    edits.append(Edit(Span(position, assembly.span.end), encoded[written:], REWRITE, Applicability.REVIEW))
    return edits


def _trimmed(data: bytes, span: Span) -> Span:
    text = data[span.start : span.end]
    start = span.start + len(text) - len(text.lstrip())
    return Span(start, span.end - (len(text) - len(text.rstrip())))
