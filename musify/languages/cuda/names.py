"""API names in code: which are renamed, which are kept and reported, which are nobody's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.cuda.owners import OwnedName, is_owned, owned_name, whole_place
from musify.languages.cuda.ownership import Ownership
from musify.languages.cuda.references import (
    OPERATOR_KEYWORDS,
    Neighbours,
    Scope,
    is_identifier,
    qualified_chain,
    qualifier_of,
    scope_of,
)
from musify.languages.cuda.resolution import Resolution, Verdict
from musify.languages.cuda.unit import Unit
from musify.languages.surroundings import Settings
from musify.model import Applicability, Edit, Evidence, Finding, Severity, Span, version_number
from musify.rules.model import Action, Library, NameRule, Note

RENAME = "api-name"
UNATTESTED_RENAME = "api-name-by-convention"
TYPE_KINDS = frozenset({"typedef", "struct", "enum", "using"})
_BEFORE_A_TYPE = frozenset({b"struct", b"class", b"enum", b"union", b"typename", b"new"})
_CALLED_TEMPLATE = re.compile(rb"<[^;(){}]*>\s*\(")
_OWN = ("the project declares it", "由项目自行声明")
_SOMEBODY_ELSES = {
    Scope.MEMBER: ("it is a member", "它是成员"),
    Scope.LABEL: ("it is a label", "它是标号"),
    Scope.QUALIFIED: ("it belongs to another namespace or class", "它属于其他命名空间或类"),
}


class NameConverter:
    """Works through the names of one unit."""

    def __init__(self, unit: Unit, ownership: Ownership, resolution: Resolution) -> None:
        self._unit = unit
        self._ownership = ownership
        self._resolution = resolution
        self._late_libraries: set[str] = set()

    def run(self) -> Iterator[Edit | Finding]:
        """Edits and findings for every API name in code."""
        unit, book = self._unit, self._unit.book
        heads = book.namespace_heads
        for word in unit.words:
            name = unit.text(word)
            rule = book.name(name)
            if name in heads:
                owned = owned_name(self._unit, word)
                yield from self._owner(word, owned) if owned is not None else self._qualified(word, name)
            elif book.is_version_macro(name) or book.is_architecture_macro(name):
                continue  # checks/guards.py
            elif rule is None:
                if book.looks_like_cuda(name):
                    yield from self._unknown(word, name)
            elif rule.matters:
                yield from self._listed(word, rule)

    def outcome(self, rule: NameRule, spans: list[tuple[Span, bytes]], place: Span) -> Iterator[Edit | Finding]:
        """What the rules want for one reference: the edits in `spans` (place, new text), and the findings."""
        settings = self._unit.settings
        name = rule.name.decode()
        if rule.action is Action.KEEP:
            yield kept_finding(rule.library, place, name)
            return
        if rule.action is Action.UNSUPPORTED and rule.unsupported is not None:
            note = rule.unsupported
            arguments = {"why": note.why, "why_zh": note.why_zh, "source": note.source}
            yield Finding("MUS104", place, name, arguments)
            return
        kept = is_left_unattested(rule, settings)
        yield from doubts(rule, place, kept=kept)
        if kept:
            return
        attested = rule.evidence is not Evidence.NONE
        for span, text in spans:
            yield Edit(
                span,
                text,
                RENAME if attested else UNATTESTED_RENAME,
                Applicability.SAFE if attested else Applicability.REVIEW,
                name,
                rule.library.id,
                rule.evidence.value,
            )
        yield from self._notes(rule, place)

    def _notes(self, rule: NameRule, place: Span) -> Iterator[Finding]:
        target = self._unit.settings.target
        name = rule.name.decode()
        for identifier, notes in (("MUS103", rule.known_issues), ("MUS120", rule.changed)):
            for note in notes:
                if note.applies(target):
                    arguments = {"why": note.why, "why_zh": note.why_zh, "source": note.source}
                    severity = Severity(note.severity) if note.severity else None
                    yield Finding(identifier, place, name, {"target": rule.target.decode(), **arguments}, severity)
        library = rule.library
        late = library.min_sdk and target.sdk_number < version_number(library.min_sdk)
        if late and library.id not in self._late_libraries:
            self._late_libraries.add(library.id)
            arguments = {"library": library.target, "min_sdk": library.min_sdk, "sdk": target.sdk}
            yield Finding("MUS105", place, name, arguments)

    def _listed(self, word: Span, rule: NameRule) -> Iterator[Edit | Finding]:
        around = self._unit.neighbours(word)
        scope = scope_of(self._unit.outline, around)
        if scope is Scope.PASTED:
            return
        if scope is Scope.TRAILING:
            scope = Scope.PLAIN if rule.kind in TYPE_KINDS else Scope.MEMBER
        if not self._unit.mentions(rule.library):
            return
        if scope is Scope.QUALIFIED and is_owned(self._unit, word, rule.library):
            scope = Scope.PLAIN
        reason = self._reason(rule.name, word, scope)
        if reason is not None:
            if rule.action is not Action.IDENTITY and not self._ownership.is_declaration(word):
                yield _somebody_elses_finding(word, rule.name, reason)
            return
        # A target with its namespace stands for the whole of a qualified name.
        place = whole_place(self._unit, word) if b"::" in rule.target else word
        yield from self.outcome(rule, [(place, rule.target)] if rule.action is Action.RENAME else [], word)

    def _reason(self, name: bytes, word: Span, scope: Scope) -> tuple[str, str] | None:
        """Why the name is not the API's, in two languages; None where it is."""
        verdict = self._resolution.of(name, word, scope)
        if verdict is not None:
            return None if verdict.of_api else _declared_at(verdict)
        if scope is Scope.QUALIFIED and self._ownership.exports_again(name, self._qualifier(word)):
            return None
        return _SOMEBODY_ELSES.get(scope) or (_OWN if self._ownership.owns(name, word, scope) else None)

    def _qualifier(self, word: Span) -> bytes:
        return qualifier_of(self._unit.outline, self._unit.neighbours(word))

    def _owner(self, word: Span, owned: OwnedName) -> Iterator[Edit | Finding]:
        """The last part of a namespace that is known by its whole name: `cuda` of `at::cuda`."""
        rule, target = owned.rule, owned.target.rpartition(b"::")[2]
        if rule is not None and b"::" in rule.target:
            return  # the member's edit takes the namespace with it
        applicability, evidence = Applicability.SAFE, Evidence.DOCUMENTED
        if rule is not None and is_left_unattested(rule, self._unit.settings):
            return
        if rule is None and owned.member.end > owned.member.start:
            kept = self._unit.settings.unattested == "keep"
            yield _unattested_member(
                owned, self._unit.text(owned.member), Span(word.start, owned.member.end), kept=kept
            )
            if kept:
                return
            applicability, evidence = Applicability.REVIEW, Evidence.NONE
        yield Edit(word, target, RENAME, applicability, owned.whole.decode(), owned.library.id, evidence.value)

    def _qualified(self, word: Span, head: bytes) -> Iterator[Edit | Finding]:
        outline, book = self._unit.outline, self._unit.book
        around = self._unit.neighbours(word)
        if scope_of(outline, around) not in (Scope.PLAIN, Scope.GLOBAL):
            return
        chain = qualified_chain(outline, word)
        if len(chain) == 1 and not _names_a_namespace(outline.text(around.before), around, self._unit, word):
            return
        rule, used = self._longest_rule(chain)
        verdict = self._resolution.of(head, word, Scope.QUALIFIED)
        if verdict is not None and not verdict.of_api:
            if rule is not None and rule.action is not Action.IDENTITY:
                yield _somebody_elses_finding(word, b"::".join(map(outline.text, chain[:2])), _declared_at(verdict))
            return
        if rule is None:
            if head in self._unit.surroundings.namespaces or len(chain) == 1:
                return
            name = b"::".join(outline.text(part) for part in chain[:2])
            if book.namespace(head) is not None and self._changes(head):
                library = book.namespace(head)
                yield _unknown_finding(Span(word.start, chain[-1].end), name, library.library if library else None)
            return
        if rule.action is Action.IDENTITY:
            return
        old, new = rule.name.split(b"::"), rule.target.split(b"::")
        spans = [(part, new[i]) for i, part in enumerate(chain[:used]) if i < len(new) and old[i] != new[i]]
        yield from self.outcome(
            rule, spans if rule.action is Action.RENAME else [], Span(word.start, chain[used - 1].end)
        )

    def _changes(self, head: bytes) -> bool:
        rule = self._unit.book.namespace(head)
        return rule is not None and rule.action is not Action.IDENTITY

    def _longest_rule(self, chain: list[Span]) -> tuple[NameRule | None, int]:
        texts = [self._unit.text(part) for part in chain]
        if texts[0] in self._unit.surroundings.namespaces and texts[1:2] != [b"std"]:
            return None, 0  # the project's own namespace of that name
        for length in range(len(texts), 0, -1):
            name = b"::".join(texts[:length])
            rule = self._unit.book.name(name)
            if rule is None and length < len(texts) and length == 1:
                return None, 0  # cuda::something_unknown
            rule = rule or self._unit.book.namespace(name)
            if rule is not None:
                return rule, length
        return None, 0

    def _unknown(self, word: Span, name: bytes) -> Iterator[Finding]:
        unit = self._unit
        around = unit.neighbours(word)
        scope = scope_of(unit.outline, around)
        if scope not in (Scope.PLAIN, Scope.GLOBAL) and not (scope is Scope.TRAILING and name.endswith(b"_t")):
            return
        directive = unit.outline.directive_at(word.start)
        if directive is not None and (
            directive.keyword not in (b"define", b"pragma") or directive.name_start == word.start
        ):
            return
        verdict = self._resolution.of(name, word, scope)
        if (verdict is None or verdict.of_api) and _is_used(name, around, unit):
            yield _unknown_finding(word, name, unit.book.lookalike_library(name))


def rename_edit(rule: NameRule, place: Span, applicability: Applicability) -> Edit:
    """The edit that gives the whole name at `place` its MUSA name."""
    return Edit(place, rule.target, RENAME, applicability, rule.name.decode(), rule.library.id, rule.evidence.value)


def kept_finding(library: Library, place: Span, name: str) -> Finding:
    """The finding for a name of a library whose MUSA counterpart has another shape."""
    arguments = {"library": library.name, "instead": library.instead, "instead_zh": library.instead_zh}
    return Finding(library.finding, place, name, arguments)


def is_left_unattested(rule: NameRule, settings: Settings) -> bool:
    """Whether the name stays because nobody has been seen to write its counterpart, as the user asked."""
    return rule.action is Action.RENAME and rule.evidence is Evidence.NONE and settings.unattested == "keep"


def doubts(rule: NameRule, place: Span, *, kept: bool = False) -> Iterator[Finding]:
    """The finding for a name whose counterpart the SDK lacks, or which nobody has been seen to write, if it is one."""
    if rule.absent is not None:
        yield _absent_finding(rule, rule.absent, place, kept=kept)
    elif rule.action is Action.RENAME and rule.evidence is Evidence.NONE:
        yield _unattested_finding(rule, place, kept=kept)


def _absent_finding(rule: NameRule, note: Note, place: Span, *, kept: bool) -> Finding:
    renamed = rule.action is Action.RENAME and not kept
    arguments = {
        "target": rule.target.decode(),
        "outcome": "renamed all the same" if renamed else "left as it is",
        "outcome_zh": "仍已改名" if renamed else "保持原样",
        "why": note.why,
        "why_zh": note.why_zh,
        "source": note.source,
    }
    return Finding("MUS119", place, rule.name.decode(), arguments, Severity(note.severity) if note.severity else None)


def _unattested_finding(rule: NameRule, place: Span, *, kept: bool) -> Finding:
    target, library = rule.target.decode(), rule.library.name
    outcome = "left as it is" if kept else f"renamed to {target} by the convention of {library}"
    outcome_zh = "保持原样" if kept else f"已按 {library} 的命名惯例改为 {target}"
    arguments = {"target": target, "library": library, "outcome": outcome, "outcome_zh": outcome_zh}
    return Finding("MUS102", place, rule.name.decode(), arguments)


def _unattested_member(owned: OwnedName, member: bytes, place: Span, *, kept: bool) -> Finding:
    target = f"{owned.target.decode()}::{member.decode()}"
    outcome = "left as it is" if kept else f"renamed to {target} by the convention of {owned.library.name}"
    outcome_zh = "保持原样" if kept else f"已按 {owned.library.name} 的命名惯例改为 {target}"
    arguments = {"target": target, "library": owned.library.name, "outcome": outcome, "outcome_zh": outcome_zh}
    return Finding("MUS102", place, f"{owned.whole.decode()}::{member.decode()}", arguments)


def _somebody_elses_finding(place: Span, name: bytes, reason: tuple[str, str]) -> Finding:
    return Finding("MUS117", place, name.decode("utf-8", "replace"), {"reason": reason[0], "reason_zh": reason[1]})


def _declared_at(verdict: Verdict) -> tuple[str, str]:
    return f"it is declared at {verdict.place}", f"声明于 {verdict.place}"


def _unknown_finding(place: Span, name: bytes, library: Library | None) -> Finding:
    return Finding("MUS101", place, name.decode("utf-8", "replace"), {"library": library.name if library else "CUDA"})


def _is_used(name: bytes, around: Neighbours, unit: Unit) -> bool:
    """Whether an unlisted name is called, or used as a type, or its address taken, as far as tokens tell."""
    before, after = around.before_text, around.after_text
    if after in (b"(", b"<<<") or name.endswith(b"_t") or before in _BEFORE_A_TYPE:
        return True
    if is_identifier(after):
        return after not in OPERATOR_KEYWORDS
    starts = before in (b"(", b",", b"<", b";", b"{", b"}", b"const", b"static", b"")
    if after in (b"*", b"&", b"::"):
        return starts
    if after in (b">", b",") and before in (b"<", b","):
        return before == b"<" or after == b">"
    if before == b"(" and after == b")":
        return _follows_a_cast(unit, around)
    if after == b"<":
        return _CALLED_TEMPLATE.match(unit.data, around.after.start) is not None
    return before == b"&" and after in (b",", b";", b")") and _is_unary(unit, around)


def _follows_a_cast(unit: Unit, around: Neighbours) -> bool:
    """`(name)x` and `sizeof(name)`, not `f(name)`."""
    callee = unit.text(unit.outline.before(around.before.start))
    following = unit.text(unit.outline.after(around.after.end))
    if callee in (b"sizeof", b"alignof", b"decltype"):
        return True
    return not is_identifier(callee) and callee not in (b")", b"]", b">") and is_identifier(following)


def _is_unary(unit: Unit, around: Neighbours) -> bool:
    operand = unit.text(unit.outline.before(around.before.start))
    return operand in (b"(", b",", b"=", b"{", b"return")


def _names_a_namespace(before: bytes, around: Neighbours, unit: Unit, word: Span) -> bool:
    """`using namespace nvcuda;` and `namespace x = nvcuda;`"""
    if before == b"namespace":
        return unit.text(unit.outline.before(around.before.start)) == b"using"
    return before == b"=" and around.after_text == b";" and _is_alias(unit, around)


def _is_alias(unit: Unit, around: Neighbours) -> bool:
    name = unit.outline.before(around.before.start)
    return unit.text(unit.outline.before(name.start)) == b"namespace"
