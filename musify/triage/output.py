"""What a triage prints: text for people, plain data for JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from musify.rules.shipped import shipped_tables
from musify.triage.causes import Cause, Causes
from musify.triage.log import Diagnostic, Log
from musify.triage.origins import Origin
from musify.triage.steps import Step

if TYPE_CHECKING:
    from rich.console import Console

_SCHEMA_VERSION = "1"
_PLACES_SHOWN = 3
_WORDS = {
    "en": {
        "head": "{name}: {errors} errors, {causes} causes, {warnings} warnings in {lines} lines",
        "clean": "{name}: no error that is known of in {lines} lines ({warnings} warnings)",
        "cause": "{errors} errors in {places} places",
        "repeated": "{errors} errors in 1 place",
        "one": "1 error",
        "subject": "{title}: {subject}  ({count})",
        "alone": "{title}  ({count})",
        "truncated": "a compiler stopped before the end (-ferror-limit): there are more errors than these",
        "more": "... and {count} more causes with {errors} errors: --top 0 shows all, --json too",
        "behind": "{old} became {new} ({library}, {evidence})",
        "unchanged": "the conversion changed nothing here",
        "log": "log line {line}",
        "also": "... and {count} more places",
        "steps": {"overlay": "rule", "spelling": "name", "source": "source", "suppress": "keep", "build": "build",
                  "hand": "by hand"},
    },
    "zh": {
        "head": "{name}：{errors} 个错误，{causes} 个原因，{warnings} 个警告（共 {lines} 行）",
        "clean": "{name}：{lines} 行中没有发现错误（{warnings} 个警告）",
        "cause": "{places} 处共 {errors} 个错误",
        "repeated": "1 处共 {errors} 个错误",
        "one": "1 个错误",
        "subject": "{title}：{subject}（{count}）",
        "alone": "{title}（{count}）",
        "truncated": "有编译器提前停止（-ferror-limit）：错误不止这些",
        "more": "……另有 {count} 个原因、{errors} 个错误：--top 0 或 --json 显示全部",
        "behind": "{old} 已改为 {new}（{library}，{evidence}）",
        "unchanged": "转换未改动此处",
        "log": "日志第 {line} 行",
        "also": "……另有 {count} 处",
        "steps": {"overlay": "规则", "spelling": "名称", "source": "源码", "suppress": "保留", "build": "构建",
                  "hand": "手工"},
    },
}  # fmt: skip
_STYLES = {"overlay": "green", "spelling": "green", "source": "cyan", "suppress": "cyan", "build": "yellow", "hand": ""}


class Explained(NamedTuple):
    """A cause, where its places come from (None: in no file of the conversion), and what can be done."""

    cause: Cause
    places: list[tuple[Diagnostic, Origin | None]]
    steps: list[Step]


def title(kind: str, language: str) -> str:
    """What a kind of error is called."""
    return str(shipped_tables("triage")["kinds.toml"][kind]["title" if language == "en" else f"title_{language}"])


def print_text(console: Console, log: Log, causes: Causes, explained: list[Explained], language: str, top: int) -> None:
    """The causes as text, the first `top` of them, all where that is 0."""
    words: Any = _WORDS[language]
    counts = {"name": log.name, "warnings": log.warnings, "lines": log.lines}
    if not explained:
        _say(console, words["clean"].format(**counts))
        return
    _say(console, words["head"].format(errors=causes.errors, causes=len(explained), **counts))
    if causes.truncated:
        _say(console, words["truncated"], "yellow")
    shown = explained[:top] if top else explained
    for item in shown:
        _print_cause(console, item, language)
    if len(shown) < len(explained):
        rest = explained[len(shown) :]
        _say(console, "")
        _say(console, words["more"].format(count=len(rest), errors=sum(len(item.cause.errors) for item in rest)))


def _print_cause(console: Console, item: Explained, language: str) -> None:
    words: Any = _WORDS[language]
    cause = item.cause
    form = "one" if len(cause.errors) == 1 else "repeated" if len(item.places) == 1 else "cause"
    count = words[form].format(errors=len(cause.errors), places=len(item.places))
    _say(console, "")
    form = words["subject" if cause.subject else "alone"]
    _say(console, form.format(title=title(cause.kind, language), subject=cause.subject, count=count), "bold")
    _say(console, f"  {cause.errors[0].text}")
    for diagnostic, origin in item.places[:_PLACES_SHOWN]:
        _print_place(console, diagnostic, origin, words)
    if len(item.places) > _PLACES_SHOWN:
        _say(console, "  " + words["also"].format(count=len(item.places) - _PLACES_SHOWN))
    for step in item.steps:
        _say(console, f"  {words['steps'][step.sort]}: {step.text(language)}", _STYLES[step.sort])


def _print_place(console: Console, diagnostic: Diagnostic, origin: Origin | None, words: Any) -> None:
    if origin is None:
        line = f":{diagnostic.line}" if diagnostic.line else ""
        where = diagnostic.path + line if diagnostic.path else words["log"].format(line=diagnostic.log_line)
        _say(console, f"  {where}")
        return
    _say(console, f"  {origin.path}:{origin.line}: {origin.text}".rstrip(": "))
    edit = origin.edit
    if edit is not None:
        behind = {"old": edit.old_text, "new": edit.new_text, "library": edit.library or edit.rule_id}
        _say(console, "    " + words["behind"].format(evidence=edit.evidence or edit.applicability, **behind))
    for finding in origin.findings[:2]:
        _say(console, f"    {finding.severity}: {finding.message} [{finding.id}]")


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(text, style=style or None, markup=False, highlight=False, soft_wrap=True)


def data(log: Log, causes: Causes, explained: list[Explained], language: str) -> dict[str, Any]:
    """The triage as plain data; docs/triage.md describes it."""
    return {
        "schema_version": _SCHEMA_VERSION,
        "log": log.name,
        "lines": log.lines,
        "errors": causes.errors,
        "warnings": log.warnings,
        "truncated": causes.truncated,
        "causes": [_cause(item, language) for item in explained],
        "kinds": dict(Counter(item.cause.kind for item in explained)),
    }


def _cause(item: Explained, language: str) -> dict[str, Any]:
    cause = item.cause
    return {
        "kind": cause.kind,
        "title": title(cause.kind, language),
        "subject": cause.subject,
        "owner": cause.owner,
        "errors": len(cause.errors),
        "message": cause.errors[0].text,
        "suggested": cause.hints,
        "places": [_place(diagnostic, origin) for diagnostic, origin in item.places],
        "steps": [_step(step, language) for step in item.steps],
    }


def _place(diagnostic: Diagnostic, origin: Origin | None) -> dict[str, Any]:
    place: dict[str, Any] = {
        "path": diagnostic.path,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "log_line": diagnostic.log_line,
        "origin": None,
    }
    if origin is not None:
        place["origin"] = {
            "path": origin.path,
            "line": origin.line,
            "text": origin.text,
            "edit": None if origin.edit is None else origin.edit._asdict(),
            "findings": [finding._asdict() for finding in origin.findings],
        }
    return place


def _step(step: Step, language: str) -> dict[str, Any]:
    rule = step.overlay
    return {
        "id": step.id,
        "sort": step.sort,
        "text": step.text(language),
        "rule": None if rule is None else {**rule._asdict()},
    }
