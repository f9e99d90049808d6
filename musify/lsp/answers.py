"""An analysis in the protocol's terms: diagnostics, code actions, hovers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types

from musify.languages.registry import Language
from musify.lsp.analysis import Analysis
from musify.model import Applicability, Edit, Finding, Severity, Span
from musify.report.explanation import explain_name
from musify.rules import findings as catalogue
from musify.rules.book import RuleBook
from musify.rules.model import NameRule
from musify.source import edits as applier
from musify.source import selfcheck
from musify.source.outline import Outline

SOURCE = "musify"
CONVERT = "source.musify"
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.musify"
_SEVERITY = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_HASH = (Language.CMAKE, Language.PYTHON, Language.MESON, Language.BAZEL)
_COMMENT = {Language.CUDA: b"//", **dict.fromkeys(_HASH, b"#")}
_QUALIFIED = re.compile(rb"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_PATH = re.compile(rb"[\w.+/-]+")
_TITLE_LENGTH = 60
_TEXTS = {
    "en": {
        "becomes": "{old} becomes {new}", "taken": "{old} is taken out", "added": "{new} is added",
        "change": "Change {old} to {new}", "take": "Take out {old}", "add": "Add {new}",
        "every": "Change every {old} in this file ({count})",
        "safe": "Convert this file to MUSA, safe changes only ({count})",
        "all": "Convert this file to MUSA, changes to review too ({count})", "ignore": "Ignore {id} on this line",
        "evidence": "evidence",
    },
    "zh": {
        "becomes": "{old} 变为 {new}", "taken": "删去 {old}", "added": "加入 {new}",
        "change": "将 {old} 改为 {new}", "take": "删去 {old}", "add": "加入 {new}",
        "every": "修改本文件中所有 {old}（{count} 处）", "safe": "将本文件转换为 MUSA，仅作可靠更改（{count} 处）",
        "all": "将本文件转换为 MUSA，包括待审更改（{count} 处）", "ignore": "忽略此行的 {id}",
        "evidence": "佐证",
    },
}  # fmt: skip


def diagnostics(analysis: Analysis, language: str, *, hints: bool) -> list[types.Diagnostic]:
    """A diagnostic for each finding, and (with `hints`) a hint for each edit."""
    found = [_finding(analysis, item, language) for item in analysis.findings]
    return found + [_hint(analysis, edit, language) for edit in analysis.edits if hints]


def _finding(analysis: Analysis, finding: Finding, language: str) -> types.Diagnostic:
    message = catalogue.message(finding, language)
    return types.Diagnostic(
        range_of(analysis, finding.span),
        f"{message}\n{catalogue.suggestion(finding, language)}",
        severity=_SEVERITY[catalogue.severity(finding)],
        code=finding.rule_id,
        source=SOURCE,
    )


def _hint(analysis: Analysis, edit: Edit, language: str) -> types.Diagnostic:
    message = _worded(analysis, edit, language, "becomes", "taken", "added")
    severity = types.DiagnosticSeverity.Hint
    return types.Diagnostic(range_of(analysis, edit.span), message, severity=severity, code=edit.rule_id, source=SOURCE)


def range_of(analysis: Analysis, span: Span) -> types.Range:
    """The protocol's range of a span."""
    start, end = analysis.positions.position(span.start), analysis.positions.position(span.end)
    return types.Range(types.Position(*start), types.Position(*end))


def span_of(analysis: Analysis, place: types.Range) -> Span:
    """The span of the protocol's range."""
    positions = analysis.positions
    return Span(
        positions.offset(place.start.line, place.start.character), positions.offset(place.end.line, place.end.character)
    )


def actions(
    analysis: Analysis, uri: str, version: int | None, asked: types.CodeActionParams, language: str
) -> list[types.CodeAction]:
    """The code actions for a range of the text, of the kinds that are asked for. `version`: with versioned edits."""
    return [
        types.CodeAction(title, kind, edit=_change(analysis, uri, version, edits))
        for title, kind, edits in _offers(analysis, span_of(analysis, asked.range), language)
        if _is_wanted(kind, asked.context.only)
    ]


def _is_wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Kinds are paths: who asks for `source` gets `source.fixAll` too."""
    names = [str(item.value if isinstance(item, types.CodeActionKind) else item) for item in only or ()]
    return only is None or any(kind == name or kind.startswith(f"{name}.") for name in names)


def _offers(analysis: Analysis, span: Span, language: str) -> Iterator[tuple[str, str, Sequence[Edit]]]:
    texts = _TEXTS[language]
    fix = types.CodeActionKind.QuickFix
    touched = [edit for edit in analysis.edits if edit.span.start <= span.end and span.start <= edit.span.end]
    for edit in touched:
        yield _worded(analysis, edit, language, "change", "take", "add"), fix, [edit]
    for edit in touched:
        alike = [other for other in analysis.edits if _text(analysis, other) == _text(analysis, edit) != ""]
        if len(alike) > 1 and all(other.new_text == edit.new_text for other in alike):
            yield texts["every"].format(old=_short(_text(analysis, edit)), count=len(alike)), fix, alike
    for finding in analysis.findings:
        comment = _ignoring(analysis, finding)
        if finding.span.start <= span.end and span.start <= finding.span.end and comment is not None:
            yield texts["ignore"].format(id=finding.rule_id), fix, [comment]
    safe = [edit for edit in analysis.edits if edit.applicability is Applicability.SAFE]
    if safe and _holds_together(analysis, safe):
        yield texts["safe"].format(count=len(safe)), FIX_ALL, safe
    if analysis.edits:
        yield texts["all"].format(count=len(analysis.edits)), CONVERT, analysis.edits


def _holds_together(analysis: Analysis, chosen: Sequence[Edit]) -> bool:
    """Whether some of the edits can be made without the rest: those of sources are apart, and checked once more."""
    if len(chosen) == len(analysis.edits):
        return True
    data = analysis.positions.data
    if analysis.language is not Language.CUDA:
        return False
    ordered = applier.in_order(chosen)
    return selfcheck.failure(Outline(data), ordered, applier.apply(data, ordered)) is None


def _ignoring(analysis: Analysis, finding: Finding) -> Edit | None:
    """A line with a comment that suppresses the finding; None where no comment can stand before its line."""
    mark = _COMMENT.get(analysis.language) if analysis.language is not None else None
    data = analysis.positions.data
    start = data.rfind(b"\n", 0, finding.span.start) + 1
    before = data[:start].rstrip(b"\r\n")
    if mark is None or finding.rule_id.startswith("MUS9") or before.endswith(b"\\"):
        return None
    if analysis.language is Language.CUDA and Outline(data).opaque_at(start) is not None:
        return None
    indent = re.compile(rb"[ \t]*").match(data, start)
    newline = b"\r\n" if before != data[:start] and data[:start].endswith(b"\r\n") else b"\n"
    comment = mark + f" musify: ignore[{finding.rule_id}]".encode()
    return Edit(Span(start, start), (indent.group() if indent else b"") + comment + newline, "ignore")


def _change(analysis: Analysis, uri: str, version: int | None, edits: Iterable[Edit]) -> types.WorkspaceEdit:
    texts = [
        types.TextEdit(range_of(analysis, edit.span), edit.new_text.decode("utf-8", "replace"))
        for edit in sorted(edits, key=lambda edit: edit.span)
    ]
    if version is None:
        return types.WorkspaceEdit(changes={uri: texts})
    document = types.OptionalVersionedTextDocumentIdentifier(uri, version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, texts)])


def hover(analysis: Analysis, place: types.Position, rules: RuleBook, language: str) -> types.Hover | None:
    """What is known of the place: its findings, and the name or header that stands there, as `explain` says it."""
    offset = analysis.positions.offset(place.line, place.character)
    span, rule = _rule_at(analysis, offset, rules)
    parts = [_explained(item, language) for item in analysis.findings if item.span.start <= offset <= item.span.end]
    for edit in analysis.edits:
        if edit.span.start <= offset <= edit.span.end and rule is None:
            span = span or edit.span
            said = _worded(analysis, edit, language, "becomes", "taken", "added")
            parts.append(f"{said} {_evidence(edit, language)}")
    if rule is not None:
        parts.append(f"```text\n{explain_name(rule, language)}```")
    if not parts:
        return None
    return types.Hover(
        types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts)),
        range_of(analysis, span) if span is not None else None,
    )


def _explained(finding: Finding, language: str) -> str:
    kind = catalogue.catalogue()[finding.rule_id]
    return (
        f"**{kind.id}: {kind.text('title', language)}**\n\n{catalogue.message(finding, language)}\n\n"
        f"{catalogue.suggestion(finding, language)}\n\n{kind.text('why', language)}"
    )


def _evidence(edit: Edit, language: str) -> str:
    return f"({_TEXTS[language]['evidence']}: {edit.evidence})" if edit.evidence else ""


def _rule_at(analysis: Analysis, offset: int, rules: RuleBook) -> tuple[Span | None, NameRule | None]:
    """The longest name or header path around a byte that a rule knows."""
    data = analysis.positions.data
    start = max(data.rfind(b"\n", 0, offset) + 1, offset - 400)
    end = data.find(b"\n", offset)
    end = len(data) if end < 0 else end
    for pattern, known in ((_QUALIFIED, rules.name), (_PATH, rules.header)):
        for match in pattern.finditer(data, start, end):
            if not match.start() <= offset <= match.end():
                continue
            for name, first in _candidates(match):
                rule = known(name)
                if rule is not None and first <= offset <= first + len(name):
                    return Span(first, first + len(name)), rule
    return None, None


def _candidates(match: re.Match[bytes]) -> Iterator[tuple[bytes, int]]:
    """`a::b::c`, `a::b`, `a`, then the parts alone, with where each starts."""
    parts = match.group().split(b"::")
    for length in range(len(parts), 0, -1):
        yield b"::".join(parts[:length]), match.start()
    place = match.start()
    for part in parts:
        yield part, place
        place += len(part) + 2


def _worded(analysis: Analysis, edit: Edit, language: str, changed: str, taken: str, added: str) -> str:
    old, new = _text(analysis, edit), edit.new_text.decode("utf-8", "replace")
    key = changed if old and new else taken if old else added
    return _TEXTS[language][key].format(old=_short(old), new=_short(new))


def _text(analysis: Analysis, edit: Edit) -> str:
    return analysis.positions.data[edit.span.start : edit.span.end].decode("utf-8", "replace")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TITLE_LENGTH else line[: _TITLE_LENGTH - 3] + "..."
