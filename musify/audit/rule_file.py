"""Writing rule files: a draft for what no rule knows, an overlay for what an SDK has. Read by rules/loader.py."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from musify.audit.sdk_names import SdkAudit
from musify.audit.unknown import CudaAudit
from musify.model import Severity
from musify.source.writing import write_atomically

_WIDTH = 120


def write(path: Path, text: str) -> None:
    """Put the text of a rule file in place. Raises OSError."""
    write_atomically(path, text.encode())


def draft(audit: CudaAudit) -> str:
    """A rule list for the unknown names, by library and kind; those that no library is known for are comments."""
    release = f"CUDA {audit.version}".strip()
    parts = [
        f"# Names in the headers of {release} that no rule knows, written by `musify rules audit`. Their names on MUSA",
        "# follow from each library's convention, and nothing else speaks for them: the evidence is none. Works with",
        "# --rules as it is; in rules/api, leave out the key `library`.",
    ]
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item in audit.unknown:
        groups[item.library.id if item.library is not None else "", item.kind].append(item.name)
    for (library, kind), names in sorted(groups.items()):
        if not library:
            parts += ["", f"# of no library that we know, {kind}:", *(f"#   {name}" for name in sorted(names))]
        elif kind == "header":
            parts += ["", *_headers(library, {item.name: item.target for item in audit.unknown if item.name in names})]
        else:
            parts += ["", "[[names]]", f'library = "{library}"', f'kind = "{kind}"', 'evidence = "none"',
                      *name_list("list", names)]  # fmt: skip
    return "\n".join(parts) + "\n"


def overlay(audit: SdkAudit) -> str:
    """What an SDK has of the names that the rules promise: seen, absent, in another form."""
    sdk = f"MUSA SDK {audit.sdk.version}".strip()
    source = [f"source = {quoted(f'headers of {sdk}')}"]
    parts = [
        f"# What the headers of {sdk} have of the names on our lists, written by `musify rules audit --musa-home`.",
        "# Give it to convert, check and explain with --rules, or as `rules` in musify.toml.",
    ]
    if audit.seen:
        parts += ["", "[[names]]", 'evidence = "sdk"', *name_list("list", audit.seen)]
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, absence in audit.absent.items():
        reasons[absence.why, absence.why_zh].append(name)
    for (why, why_zh), names in sorted(reasons.items()):
        parts += ["", "[[absent]]", *name_list("names", names), *_whys(why, why_zh), *source]
    changes: dict[tuple[str, str, Severity], list[str]] = defaultdict(list)
    for item in audit.changed:
        changes[item.difference].append(item.name)
    for (why, why_zh, severity), names in sorted(changes.items()):
        parts += ["", "[[changed]]", *name_list("names", names), *_whys(why, why_zh)]
        parts += [f"severity = {quoted(severity.value)}", *source]
    return "\n".join(parts) + "\n"


def _whys(why: str, why_zh: str) -> list[str]:
    return [f"why = {quoted(why)}", f"why_zh = {quoted(why_zh)}"]


def name_list(key: str, names: Iterable[str]) -> list[str]:
    """Lines of a TOML entry that lists names, sorted and wrapped."""
    lines = textwrap.wrap(" ".join(sorted(names)), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f'{key} = """', *lines[:-1], (lines[-1] if lines else "") + '"""']


def quoted(text: str) -> str:
    """A text as a TOML string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _headers(library: str, targets: Mapping[str, str]) -> list[str]:
    same = [name for name, target in targets.items() if name == target]
    others = {name: target for name, target in targets.items() if name != target}
    lines = ["[[headers]]", f'library = "{library}"', 'evidence = "none"']
    lines += name_list("same", same) if same else []
    if others:
        lines += ["[headers.map]", *(f"{quoted(name)} = {quoted(target)}" for name, target in sorted(others.items()))]
    return lines
