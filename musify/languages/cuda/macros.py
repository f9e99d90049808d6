"""Names that macros paste together: `cuda##x`, and prefixes handed to a macro that pastes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from musify.languages.cuda.names import doubts, kept_finding
from musify.languages.cuda.references import is_identifier
from musify.languages.cuda.unit import Unit
from musify.languages.surroundings import PastePart, PastingMacro
from musify.model import Applicability, Edit, Finding, Span
from musify.rules.book import RuleBook
from musify.rules.model import Action, NameRule, Policy
from musify.source.lexer import TokenKind, each_significant, significant
from musify.source.outline import Directive, Outline
from musify.source.words import WordFinder

PASTED = "pasted-name"
_MAX_FORWARDING = 3
# `a ## b ## c` of nothing but words; literals, comments and line splices ask for the lexer.
_SIMPLE_PASTE = re.compile(rb"(?<![\w.$#])[A-Za-z_]\w*(?:[ \t]*##[ \t]*\w+(?![\w.]))+")
_NOT_SIMPLE = re.compile(rb"[\"'\\$\x80-\xff]|/[/*]")


class _Argument(NamedTuple):
    """An argument of a macro call: its place, and its text where it is a single word or number (else empty)."""

    span: Span
    text: bytes


class _Call(NamedTuple):
    """A call of a pasting macro; `inside` is the #define whose body holds it."""

    macro: bytes
    arguments: list[_Argument]
    place: Span
    inside: Directive | None


def pasting_macros(outline: Outline) -> dict[bytes, PastingMacro]:
    """The macros of a file that paste their parameters, those included that hand them on to such a macro."""
    if b"##" not in outline.data:
        return {}
    found: dict[bytes, PastingMacro] = {}
    for directive in outline.directives:
        if directive.parameters is not None and b"##" in outline.data[directive.body : directive.end]:
            chains = tuple(_chains(outline, directive))
            if chains:
                found[directive.name] = PastingMacro(directive.parameters, chains)
    if found:
        for _ in range(_MAX_FORWARDING):
            if not _add_forwarding(outline, found):
                break
    return found


def _chains(outline: Outline, directive: Directive) -> Iterator[tuple[PastePart, ...]]:
    parameters = directive.parameters or ()
    for texts in _pasted(outline, directive):
        yield tuple(PastePart(text, parameters.index(text) if text in parameters else -1) for text in texts)


def _pasted(outline: Outline, directive: Directive) -> Iterator[list[bytes]]:
    """The operands of each run of `##` that begins with an identifier."""
    body = outline.data[directive.body : directive.end]
    simple = [match.group().split(b"##") for match in _SIMPLE_PASTE.finditer(body)]
    if not _NOT_SIMPLE.search(body) and sum(len(texts) - 1 for texts in simple) == body.count(b"##"):
        yield from ([text.strip() for text in texts] for texts in simple)
        return
    tokens = significant(outline.data, directive.body, directive.end)
    texts = [outline.data[token.start : token.end] for token in tokens]
    index = 0
    while index < len(texts):
        parts = [texts[index]]
        while index + 2 < len(texts) and texts[index + 1] == b"##":
            index += 2
            parts.append(texts[index])
        index += 1
        if len(parts) > 1 and is_identifier(parts[0]):
            yield parts


def _add_forwarding(outline: Outline, found: dict[bytes, PastingMacro]) -> bool:
    """Add macros whose body hands parameters to a known pasting macro; whether any was new."""
    added = False
    for call in _calls(outline, found, in_macros_only=True):
        directive = call.inside
        if directive is None or directive.parameters is None or directive.name in found:
            continue
        parts = []
        for argument in call.arguments:
            text = argument.text
            known = text in directive.parameters
            parts.append(PastePart(text, directive.parameters.index(text) if known else -1))
        chains = tuple(
            substituted
            for chain in found[call.macro].chains
            if (substituted := _substitute(chain, parts)) and any(part.parameter >= 0 for part in substituted)
        )
        if chains:
            found[directive.name] = PastingMacro(directive.parameters, chains)
            added = True
    return added


def _substitute(chain: tuple[PastePart, ...], parts: list[PastePart]) -> tuple[PastePart, ...]:
    result = []
    for part in chain:
        if part.parameter < 0:
            result.append(part)
        elif part.parameter < len(parts) and parts[part.parameter].text:
            result.append(parts[part.parameter])
        else:
            return ()
    return tuple(result)


def _calls(outline: Outline, macros: Iterable[bytes], *, in_macros_only: bool = False) -> Iterator[_Call]:
    for word in outline.in_code(WordFinder((), tuple(macros)).find(outline.data).words):
        inside = outline.directive_at(word.start)
        if inside is None and in_macros_only:
            continue
        if inside is not None and inside.keyword == b"define" and inside.name_start == word.start:
            continue
        opening = outline.after(word.end)
        if outline.text(opening) != b"(":
            continue
        limit = inside.end if inside else len(outline.data)
        arguments, end = _arguments(outline, opening.start, limit)
        yield _Call(outline.text(word), arguments, Span(word.start, end), inside)


def _arguments(outline: Outline, opening: int, limit: int) -> tuple[list[_Argument], int]:
    arguments: list[_Argument] = []
    depth = 0
    current: list[Span] = []
    for token in each_significant(outline.data, opening, min(limit, opening + 4000)):
        text = outline.data[token.start : token.end]
        if text in (b"(", b"[", b"{"):
            depth += 1
        elif text in (b")", b"]", b"}"):
            depth -= 1
        if (text == b"," and depth == 1) or depth == 0:
            arguments.append(_argument(outline, current, token.start))
            current = []
            if depth == 0:
                return arguments, token.end
        elif not (text == b"(" and depth == 1):
            current.append(Span(token.start, token.end))
    return arguments, opening + 1


def _argument(outline: Outline, tokens: list[Span], end: int) -> _Argument:
    if len(tokens) == 1 and outline.text(tokens[0]).replace(b"_", b"").isalnum():
        return _Argument(tokens[0], outline.text(tokens[0]))
    return _Argument(Span(tokens[0].start if tokens else end, end), b"")


class MacroConverter:
    """Works through the pasted names of one unit."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._local = pasting_macros(unit.outline)
        self._macros = {**unit.surroundings.macros, **self._local}
        self.pasted: set[bytes] = set()  # API names that calls make; complete once `run` is through

    def run(self) -> Iterator[Edit | Finding]:
        """Edits and findings for prefixes in macro bodies and at macro calls."""
        calls = list(_calls(self._unit.outline, self._macros)) if self._macros else []
        made: dict[bytes, set[bytes]] = {}
        for call in calls:
            yield from self._call(call, made)
        self.pasted = {name for names in made.values() for name in names if _is_api(self._unit.book, name)}
        for directive in self._unit.outline.directives:
            if directive.name in self._local:
                yield from self._definition(directive, made.get(directive.name, set()))

    def _call(self, call: _Call, made: dict[bytes, set[bytes]]) -> Iterator[Edit | Finding]:
        for chain in self._macros[call.macro].chains:
            texts = [part.text if part.parameter < 0 else _text_of(call.arguments, part.parameter) for part in chain]
            if call.inside is not None and call.inside.parameters and set(texts) & set(call.inside.parameters):
                yield from self._handed_on(call, chain, texts)
                continue
            name = b"".join(texts)
            made.setdefault(call.macro, set()).add(name)
            rule = self._unit.book.name(name)
            if rule is None or rule.action is Action.IDENTITY:
                yield from self._not_listed(call, chain, texts, name)
                continue
            if chain[0].parameter < 0:
                yield from self._check_literal(call, chain, texts, rule)
            else:
                yield from self._argument_prefix(call, chain, texts, rule)

    def _not_listed(
        self, call: _Call, chain: tuple[PastePart, ...], texts: list[bytes], name: bytes
    ) -> Iterator[Finding]:
        """A pasted name that only looks like CUDA, or an API name that is pasted into a name of the project's."""
        book = self._unit.book
        if book.looks_like_cuda(name) and chain[0].parameter < 0:
            library = book.lookalike_library(name)
            yield Finding("MUS101", call.place, name.decode(), {"library": library.name if library else "CUDA"})
            return
        for part, text in zip(chain, texts, strict=True):
            rule = book.name(text) if part.parameter >= 0 else None
            if rule is not None and rule.action is Action.RENAME:
                made = name.decode("utf-8", "replace")
                yield Finding("MUS118", call.arguments[part.parameter].span, rule.name.decode(), {"made": made})

    def _check_literal(
        self, call: _Call, chain: tuple[PastePart, ...], texts: list[bytes], rule: NameRule
    ) -> Iterator[Edit | Finding]:
        prefix = self._unit.book.prefix(texts[0])
        expected = prefix.target + b"".join(texts[1:]) if prefix else b""
        if expected != rule.target or rule.action is not Action.RENAME:
            yield _argument_end(call, chain, texts, rule) or _irregular(call.place, rule)
        elif rule.absent is not None:
            yield from doubts(rule, call.place)

    def _argument_prefix(
        self, call: _Call, chain: tuple[PastePart, ...], texts: list[bytes], rule: NameRule
    ) -> Iterator[Edit | Finding]:
        rest = b"".join(texts[1:])
        argument = call.arguments[chain[0].parameter]
        if rule.action is not Action.RENAME or not rule.target.endswith(rest) or not argument.text:
            yield _irregular(call.place, rule)
            return
        new = rule.target[: len(rule.target) - len(rest)] if rest else rule.target
        yield Edit(argument.span, new, PASTED, Applicability.SAFE, "", rule.library.id, rule.evidence.value)

    def _handed_on(self, call: _Call, chain: tuple[PastePart, ...], texts: list[bytes]) -> Iterator[Edit | Finding]:
        """A literal prefix beside a parameter of the #define around the call: that macro's own prefix."""
        first = chain[0].parameter
        directive = call.inside
        if first < 0 or directive is None or texts[0] in (directive.parameters or ()):
            return
        yield from self._prefix(directive, call.arguments[first].span, texts[0], self._names_of(directive))

    def _names_of(self, directive: Directive) -> set[bytes]:
        made: set[bytes] = set()
        macro = self._local.get(directive.name)
        if macro is not None:
            for call in _calls(self._unit.outline, [directive.name]):
                for chain in macro.chains:
                    made.add(
                        b"".join(p.text if p.parameter < 0 else _text_of(call.arguments, p.parameter) for p in chain)
                    )
        return made

    def _definition(self, directive: Directive, made: set[bytes]) -> Iterator[Edit | Finding]:
        outline = self._unit.outline
        if not any(self._unit.book.prefix(texts[0]) for texts in _pasted(outline, directive)):
            return
        for token in significant(outline.data, directive.body, directive.end):
            span = Span(token.start, token.end)
            text = outline.text(span)
            if token.kind is not TokenKind.IDENTIFIER or text in (directive.parameters or ()):
                continue
            if outline.text(outline.after(token.end)) == b"##" and outline.text(outline.before(token.start)) != b"##":
                yield from self._prefix(directive, span, text, made)

    def _prefix(self, directive: Directive, span: Span, text: bytes, made: set[bytes]) -> Iterator[Edit | Finding]:
        converted = self._unit.book.prefix(text)
        if converted is None:
            return
        listed = sorted(name for name in made if _is_api(self._unit.book, name))
        if made and not listed and not any(self._unit.book.looks_like_cuda(name) for name in made):
            return  # whatever it pastes, it is not CUDA's
        new, library = converted
        if library.policy is Policy.KEEP:
            yield kept_finding(library, span, text.decode() + "...")
            return
        edit = Applicability.SAFE if listed else Applicability.REVIEW
        yield Edit(span, new, PASTED, edit, text.decode() + "*", library.id, "")
        names = ", ".join(name.decode() for name in listed) or "none in this file"
        names_zh = "、".join(name.decode() for name in listed) or "本文件中没有"
        yield Finding("MUS112", span, directive.name.decode(), {"names": names, "names_zh": names_zh})


def _is_api(book: RuleBook, name: bytes) -> bool:
    rule = book.name(name)
    return rule is not None and rule.action is not Action.IDENTITY


def _text_of(arguments: list[_Argument], index: int) -> bytes:
    return arguments[index].text if index < len(arguments) else b""


def _argument_end(call: _Call, chain: tuple[PastePart, ...], texts: list[bytes], rule: NameRule) -> Edit | None:
    """The edit of an argument that ends a name whose beginning stays: `k##device` with CUDA makes kCUDA."""
    head, last = b"".join(texts[:-1]), chain[-1].parameter
    if rule.action is not Action.RENAME or last < 0 or not rule.target.startswith(head):
        return None
    place = call.arguments[last].span
    return Edit(place, rule.target[len(head) :], PASTED, Applicability.SAFE, "", rule.library.id, rule.evidence.value)


def _irregular(place: Span, rule: NameRule) -> Finding:
    target = rule.target.decode() if rule.action is Action.RENAME else "none"
    target_zh = target if rule.action is Action.RENAME else "无"
    return Finding("MUS113", place, rule.name.decode(), {"target": target, "target_zh": target_zh})
