"""Names and findings explained in a few lines of text, as `musify explain` prints them."""

from __future__ import annotations

from musify.rules.evidence import attestation
from musify.rules.findings import FindingKind
from musify.rules.model import Action, NameRule, Note

_WORDS = {
    "en": {
        "library": "library", "kind": "kind", "evidence": "evidence", "since": "since CUDA", "issue": "known issue",
        "instead": "instead", "source": "source", "stays": "stays as it is", "same": "same name on MUSA",
        "none": "no counterpart", "severity": "severity", "suggestion": "what to do", "why": "why",
        "example": "example", "becomes": "becomes", "unchanged": "nothing changes",
        "unnamed": "written in {uses} places of {repositories} public repositories, e.g. {example}",
        "gate": "before SDK {below}", "message": "message", "rules": "with the rule file",
        "absent": "not in the SDK", "changed": "differs in the SDK",
        "table": "only a name table gives it; no public MUSA code writes it",
        "unattested": "no code, document or table gives it; the name follows the library's convention",
    },
    "zh": {
        "library": "库", "kind": "种类", "evidence": "佐证", "since": "始于 CUDA", "issue": "已知问题",
        "instead": "替代", "source": "来源", "stays": "保持原样", "same": "MUSA 上同名",
        "none": "没有对应物", "severity": "级别", "suggestion": "处理办法", "why": "原因",
        "example": "示例", "becomes": "变为", "unchanged": "不作更改",
        "unnamed": "见于 {repositories} 个公开仓库的 {uses} 处，例如 {example}",
        "gate": "SDK {below} 之前", "message": "消息", "rules": "规则文件",
        "absent": "SDK 中没有", "changed": "与 SDK 不同",
        "table": "仅见于名称对照表；公开的 MUSA 代码中未见",
        "unattested": "代码、文档与对照表中均未见；名称按库的惯例推断",
    },
}  # fmt: skip


def explain_name(rule: NameRule, language: str) -> str:
    """What a name or header becomes, its library and evidence, and what is known of it; lines of text."""
    words = _WORDS[language]
    outcome = {
        Action.RENAME: rule.target.decode(),
        Action.IDENTITY: f"{rule.target.decode()} ({words['same']})",
        Action.KEEP: words["stays"],
        Action.UNSUPPORTED: words["none"],
    }[rule.action]
    lines = [f"{rule.name.decode()} -> {outcome}"]
    library = rule.library
    target = f" -> {library.target}" if library.target else ""
    lines.append(f"  {words['library']}: {library.name}{target}")
    lines.append(f"  {words['kind']}: {rule.kind}")
    lines.append(f"  {words['evidence']}: {rule.evidence.value}{_attested(rule, words)}")
    if rule.since:
        lines.append(f"  {words['since']}: {rule.since}")
    if rule.action is Action.KEEP:
        lines.append(f"  {words['instead']}: {library.instead_zh if language == 'zh' else library.instead}")
    if rule.unsupported is not None:
        lines += _note(words["none"], rule.unsupported, language)
    for issue in rule.known_issues:
        lines += _note(words["issue"], issue, language)
    if rule.absent is not None:
        lines += _note(words["absent"], rule.absent, language)
    for difference in rule.changed:
        lines += _note(words["changed"], difference, language)
    return "\n".join(lines) + "\n"


def _attested(rule: NameRule, words: dict[str, str]) -> str:
    if rule.evidence.value in ("table",):
        return f" ({words['table']})"
    if rule.evidence.value == "none" and rule.action is Action.RENAME:
        return f" ({words['unattested']})"
    seen = attestation(rule.name.decode()) if rule.evidence.value in ("code", "documented") else None
    if seen is None:
        return ""
    if not seen.uses:
        return f" ({seen.example})"
    return f" ({words['unnamed'].format(**seen._asdict())})"


def _note(title: str, note: Note, language: str) -> list[str]:
    words = _WORDS[language]
    gates = [words["gate"].format(below=note.below_sdk)] if note.below_sdk else []
    gates += note.architectures
    gate = f" ({', '.join(gates)})" if gates else ""
    return [
        f"  {title}{gate}: {note.why_zh if language == 'zh' else note.why}",
        f"    {words['source']}: {note.source}",
    ]


def explain_finding(kind: FindingKind, language: str) -> str:
    """What an id means, what to do about it, and its examples; lines of text."""
    words = _WORDS[language]
    lines = [
        f"{kind.id}: {kind.text('title', language)}",
        f"  {words['severity']}: {kind.severity.value}",
        "",
    ]
    lines += [kind.text("why", language), ""]
    lines += [f"{words['message']}: {kind.text('message', language)}"]
    lines += [f"{words['suggestion']}: {kind.text('suggestion', language)}"]
    for example in kind.examples:
        if example.rules:
            lines += ["", f"{words['rules']}:", *_indented(example.rules)]
        way = " (--reverse)" if example.reverse else ""
        lines += ["", f"{words['example']}{way}:", *_indented(example.before)]
        if example.after != example.before:
            lines += [f"{words['becomes']}:", *_indented(example.after)]
    return "\n".join(lines) + "\n"


def _indented(text: str) -> list[str]:
    return ["    " + line for line in text.splitlines()]
