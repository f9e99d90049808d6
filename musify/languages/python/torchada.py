"""`--python-mode torchada`: Python stays as it is, and only what torchada is not known to carry is reported.

What it carries is said in rules/torch/torchada.toml. The places that matter are those that a port to torch_musa would
change or report: each is carried, does something else, or is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from musify.languages.build.conversion import BuildConversion
from musify.languages.build.files import RENAMED_FILE
from musify.languages.build.settings import SETTING
from musify.languages.python.module import PythonModule, read
from musify.languages.python.nodes import name_of, parts_of
from musify.languages.python.packaging.facts import keys
from musify.languages.python.pytorch.facts import words
from musify.languages.python.strings import StringLiteral
from musify.model import Edit, Finding, Severity, Span
from musify.rules.shipped import shipped_tables

if TYPE_CHECKING:
    from musify.languages.build.unit import BuildUnit

_CONTAINERS = ("tuple", "list", "set", "parenthesized_expression")


@cache
def _facts() -> Mapping[str, Any]:
    table: Mapping[str, Any] = shipped_tables("torch")["torchada.toml"]
    return table


def as_it_is(unit: BuildUnit, result: BuildConversion) -> BuildConversion:
    """What there is to say of a file that torchada is to run, from what a port to torch_musa would change in it."""
    judge = _Judge(unit, read(unit.data))
    findings = [*judge.names(), *judge.comparisons()]
    findings += judge.edits(result.edits)
    findings += judge.findings(result.findings)
    return BuildConversion([], sorted(findings, key=lambda item: (item.span, item.rule_id)))


def without_devices(result: BuildConversion) -> BuildConversion:
    """What becomes of a configuration or launch script of Python that stays: its devices and backends stay, too."""
    devices = [edit for edit in result.edits if edit.rule_id == SETTING]
    edits = [edit for edit in result.edits if edit.rule_id != SETTING]
    findings = [item for item in result.findings if item.rule_id != "MUS560"]
    findings += [Finding("MUS611", edit.span, edit.name) for edit in devices]
    return BuildConversion(edits, findings)


class _Judge:
    """Says of each place of one file whether torchada carries it; a place that was judged is not judged again."""

    def __init__(self, unit: BuildUnit, module: PythonModule) -> None:
        self._unit = unit
        self._module = module
        self._judged: list[Span] = []

    def names(self) -> Iterator[Finding]:
        """Uses of PyTorch's names that the tables know."""
        for reference in self._module.references:
            for meaning in reference.meanings[:1]:
                kind, entry = _entry(meaning.dotted)
                if kind:
                    self._judged.append(reference.span)
                if kind in ("breaks", "idle"):
                    severity = Severity.NOTE if kind == "idle" else None
                    yield Finding("MUS610", reference.span, meaning.dotted, _reason(entry), severity)

    def edits(self, edits: Sequence[Edit]) -> Iterator[Finding]:
        """What a port would change."""
        for edit in edits:
            if edit.rule_id == RENAMED_FILE:
                yield self._renamed(edit)
            elif not self._is_carried(edit) and not self._is_judged(edit.span):
                yield self._unknown(edit.span, edit.name)
            self._judged.append(edit.span)

    def comparisons(self) -> Iterator[Finding]:
        """`device.type == "cuda"`, with what stands beside it."""
        for literal in self._module.strings:
            if literal.text == words()[0].cuda and _is_type_test(literal):
                self._judged.append(literal.span)
                yield Finding("MUS610", literal.span, literal.text.decode(), _reason(_facts()["comparison"]))

    def findings(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """What a port would report: what is said of the file itself still holds."""
        holding = _facts()["findings"]["hold"].split()
        for finding in findings:
            if self._is_judged(finding.span):
                continue
            yield finding if finding.rule_id in holding else self._unknown(finding.span, finding.name)
            self._judged.append(finding.span)

    def _renamed(self, edit: Edit) -> Finding:
        """A source by the name that it has and the one that it gets."""
        literal = next((item for item in self._module.strings if _touch(item.span, edit.span)), None)
        span = literal.locate(0, len(literal.text)) if literal is not None else None
        place = span or edit.span
        new = self._text(Span(place.start, edit.span.start)) + edit.new_text.decode("utf-8", "replace")
        return Finding("MUS612", place, self._text(place), {"new": new + self._text(Span(edit.span.end, place.end))})

    def _is_carried(self, edit: Edit) -> bool:
        return edit.rule_id in _facts()["edits"]["carried"].split() or self._is_key(edit.span)

    def _is_key(self, span: Span) -> bool:
        return self._unit.text(span) in keys() and self._text(span) in _facts()["edits"]["keys"].split()

    def _is_judged(self, span: Span) -> bool:
        return any(_touch(span, judged) for judged in self._judged)

    def _unknown(self, span: Span, name: str) -> Finding:
        return Finding("MUS611", span, name or self._text(span))

    def _text(self, span: Span) -> str:
        return self._unit.data[span.start : span.end].decode("utf-8", "replace")


def _entry(dotted: str) -> tuple[str, Mapping[str, Any]]:
    """What the tables say of a dotted name, the longest first: the kind of entry, empty for none, and the entry."""
    found = [
        (len(name), kind, table)
        for kind in ("carries", "breaks", "idle")
        for table in _facts()[kind]
        for name in table["names"].split()
        if f"{dotted}.".startswith(f"{name}.")
    ]
    _, kind, table = max(found, key=lambda item: item[0], default=(0, "", {}))
    return kind, table


def _is_type_test(literal: StringLiteral) -> bool:
    """Whether a literal is compared with the type of a device."""
    parent = literal.node.parent
    while parent is not None and parent.type in _CONTAINERS:
        parent = parent.parent
    if parent is None or parent.type != "comparison_operator":
        return False
    return any(name_of(part.child_by_field_name("attribute")) == "type" for part in parts_of(parent))


def _touch(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _reason(entry: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(entry[key]) for key in ("why", "why_zh", "instead", "instead_zh", "source")}
