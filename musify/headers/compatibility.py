"""A header that gives CUDA's names to a MUSA build: for projects that keep one source for both.

`gather` puts together what the files of a tree use, `render` writes the header. Its order depends on names alone, so
that two versions of it differ only where the tree or the rules do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from musify.engine.results import FindingRecord
from musify.headers.made import MARK
from musify.headers.usage import FileUsage
from musify.model import Evidence, Target, version_number
from musify.rules.book import RuleBook
from musify.rules.evidence import attestation
from musify.rules.model import Action, Library, NameRule

_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*\Z")
_EVIDENCE = {
    Evidence.SDK: "sdk",
    Evidence.CODE: "code",
    Evidence.DOCUMENTED: "documented",
    Evidence.TABLE: "only in a name table",
    Evidence.NONE: "not attested, by convention: check that your SDK has it",
    Evidence.PROJECT: "project rule",
}


class Include(NamedTuple):
    """A toolkit header that the tree names. `host`: a line that a host compiler may read names it."""

    rule: NameRule
    host: bool


@dataclass
class Content:
    """What the header holds, each list sorted by name. `asked`: names that conditions ask for."""

    names: list[NameRule] = field(default_factory=list)
    qualified: list[NameRule] = field(default_factory=list)
    absent: list[NameRule] = field(default_factory=list)
    noted: list[NameRule] = field(default_factory=list)
    left: list[NameRule] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    headers: list[Include] = field(default_factory=list)
    asked: set[bytes] = field(default_factory=set)

    @property
    def namespaces(self) -> list[tuple[bytes, bytes]]:
        """Namespaces that need another name, outermost first: (`cuda`, `musa`), (`thrust::cuda`, `thrust::musa`)."""
        return sorted({pair for rule in self.qualified for pair in [_renamed_namespace(rule)] if pair is not None})


def gather(usages: Sequence[FileUsage], book: RuleBook) -> Content:
    """What a whole tree uses."""
    declared = frozenset[bytes]().union(*(usage.declared for usage in usages))
    rules = [book.name(name) or book.namespace(name) for name in _all(usage.names for usage in usages)]
    used = [rule for rule in rules if rule is not None]
    asked = set(_all(usage.asked for usage in usages))
    absent = [book.name(name) or book.header(name) for name in _all(usage.absent | usage.asked for usage in usages)]
    headers = {path: False for usage in usages for path in usage.headers}
    for usage in usages:
        for path, host in usage.headers.items():
            headers[path] = headers[path] or host
    includes = [(book.header(path), headers[path]) for path in sorted(headers)]
    noted = [book.name(name) for name in _all(usage.noted for usage in usages)]
    left = [book.name(name) for name in _all(usage.left for usage in usages)]
    return Content(
        [rule for rule in used if _is_plain(rule, book)],
        [rule for rule in used if not _is_plain(rule, book)],
        [rule for rule in absent if rule is not None and rule.action in (Action.KEEP, Action.UNSUPPORTED)],
        [rule for rule in noted if rule is not None],
        [rule for rule in left if rule is not None],
        [name.decode("utf-8", "replace") for name in _all(usage.unknown for usage in usages) if name not in declared],
        [Include(rule, host) for rule, host in includes if rule is not None],
        asked,
    )


def findings_of(usages: Iterable[FileUsage], content: Content) -> Iterator[tuple[FileUsage, list[FindingRecord]]]:
    """Each file with its findings that hold, given what the header defines."""
    defined = {rule.name.decode() for rule in (*content.names, *content.absent)}
    usages = list(usages)
    pasted = [name.decode() for name in _all(usage.pasted for usage in usages)]
    for usage in usages:
        found = [
            *usage.findings,
            *(item for item in usage.overlaps if item.name in defined),
            *(item for item in usage.prefixes if not any(name.startswith(item.name) for name in pasted)),
        ]
        yield usage, sorted(found, key=lambda item: (item.line, item.column, item.id))


def render(content: Content, target: Target, *, name: str, macro: str, with_headers: bool) -> bytes:
    """The header as a file called `name`. `macro` is what the build defines for files that a host compiler builds.

    `with_headers`: the header includes MUSA's headers itself; without, forwarding headers do.
    """
    parts = [_opening(name, macro, target)]
    if with_headers:
        parts += _headers(content, macro)
    parts += _names(content, target)
    parts += _namespaces(content)
    parts += _left(content)
    parts.append(f"#endif /* MUSA */\n#endif /* {include_guard(name)} */\n/* MUSIFY_EXCL_STOP */\n")
    return "\n".join(parts).encode()


def include_guard(name: str) -> str:
    """The macro that guards a header called `name`."""
    guard = re.sub(r"[^A-Za-z0-9]+", "_", name).upper().strip("_")
    return guard if guard[:1].isalpha() else f"H_{guard}"


def condition(macro: str) -> str:
    """The preprocessor condition that tells a MUSA build. mcc defines __MUSACC__ where it compiles MUSA."""
    return f"defined(__MUSACC__) || defined({macro})"


def evidence_text(rule: NameRule) -> str:
    """What a MUSA name rests on, in a few words."""
    text = _EVIDENCE[rule.evidence]
    known = attestation(rule.name.decode()) if rule.evidence is Evidence.CODE else None
    if known is not None and known.repositories not in ("", "0"):
        text += f", {known.repositories} {'repository' if known.repositories == '1' else 'repositories'}"
    return text


def error_text(rule: NameRule) -> str:
    """Why a name has no counterpart, fit for a string in a pragma."""
    why = rule.unsupported.why if rule.unsupported is not None else rule.library.instead
    return _tame(f"{rule.name.decode()} ({rule.library.name}) has no counterpart on MUSA: {why}")


def _opening(name: str, macro: str, target: Target) -> str:
    guard = include_guard(name)
    return f"""\
/* MUSA's names for the CUDA names of this tree, so that one source builds with nvcc and with mcc.
 *
 * {MARK.decode()}: run it again after a change instead of editing this file. MUSIFY_EXCL_START
 * Beside each name stands what its MUSA name rests on. For SDK {target.sdk}; {", ".join(target.architectures)}.
 * Does nothing for nvcc. mcc defines __MUSACC__; for files that a host compiler builds the build defines {macro}.
 */
#ifndef {guard}
#define {guard}
#if {condition(macro)}
"""


def _headers(content: Content, macro: str) -> Iterator[str]:
    """#include lines; what only device sources include is kept from host compilers."""
    by_target: dict[bytes, list[Include]] = {}
    for include in content.headers:
        by_target.setdefault(include.rule.target, []).append(include)
    lines: dict[bool, list[str]] = {True: [], False: []}
    for path, includes in sorted(by_target.items()):
        lines[any(include.host for include in includes)].append(_include(path, [item.rule for item in includes]))
    if lines[True]:
        yield "/* headers */\n" + "".join(lines[True])
    if lines[False]:
        yield "/* headers that only device sources include */\n#ifdef __MUSACC__\n" + "".join(lines[False]) + "#endif\n"


def _include(target: bytes, rules: Sequence[NameRule]) -> str:
    text = target.decode()
    if all(rule.action is Action.IDENTITY for rule in rules):
        note = "no counterpart is known: taken where the SDK has it"
        return f"#if __has_include(<{text}>) /* {note} */\n#include <{text}>\n#endif\n"
    names = ", ".join(rule.name.decode() for rule in rules)
    return f"#include <{text}> /* {names}: {evidence_text(rules[0])} */\n"


def _names(content: Content, target: Target) -> Iterator[str]:
    """The macros, one library after the other; names without counterpart raise an error where they are used."""
    plain = [rule for rule in content.absent if _becomes_error(rule, content)]
    rules = sorted([*content.names, *plain, *content.noted], key=lambda rule: (rule.library.id, rule.name))
    for library, group in groupby(rules, key=lambda rule: rule.library):
        yield _title(library, target) + "".join(_line(rule, target) for rule in group)


def _title(library: Library, target: Target) -> str:
    late = library.min_sdk and target.sdk_number < version_number(library.min_sdk)
    note = f"; from SDK {library.min_sdk} on" if late else ""
    return f"/* {library.name}: {library.target or 'nothing'}{note} */\n"


def _line(rule: NameRule, target: Target) -> str:
    name = rule.name.decode()
    if rule.action in (Action.KEEP, Action.UNSUPPORTED):
        return f'#define {name} _Pragma("GCC error \\"{error_text(rule)}\\"") {name}\n'
    issues = _issues(rule, target)
    if rule.action is Action.IDENTITY:
        return f"/* {name}: the same name on MUSA{issues} */\n"
    return f"#define {name} {rule.target.decode()} /* {evidence_text(rule)}{issues} */\n"


def _issues(rule: NameRule, target: Target) -> str:
    """What is known to be wrong with a name on the target."""
    found = [("known issue", note) for note in rule.known_issues if note.applies(target)]
    found += [("differs", note) for note in rule.changed if note.applies(target)]
    found += [] if rule.absent is None else [("the SDK lacks it", rule.absent)]
    return "".join(f"; {what}: {_tame(note.why)} [{_tame(note.source)}]" for what, note in found)


def _namespaces(content: Content) -> Iterator[str]:
    if not content.namespaces:
        return
    lines = ["/* namespaces */\n#ifdef __cplusplus\n"]
    for old, new in content.namespaces:
        *outer, inner_new = new.decode().split("::")
        inner_old = old.decode().rpartition("::")[2]
        opening = "".join(f"namespace {part} {{ " for part in outer)
        lines.append(f"{opening}namespace {inner_new} {{}} namespace {inner_old} = {inner_new};{' }' * len(outer)}\n")
    for rule in content.qualified:
        lines.append(f"/* {rule.name.decode()} is {rule.target.decode()}: {evidence_text(rule)} */\n")
    yield "".join([*lines, "#endif\n"])


def _left(content: Content) -> Iterator[str]:
    """What the header says nothing about, as comments."""
    lines = [f"/* {rule.name.decode()}: left, {rule.target.decode()} is not attested */\n" for rule in content.left]
    others = [rule for rule in content.absent if not _becomes_error(rule, content)]
    lines += [f"/* {error_text(rule)} */\n" for rule in others]
    lines += [f"/* {_tame(name)}: looks like CUDA's and is on no list */\n" for name in content.unknown]
    if lines:
        yield "/* left as they are */\n" + "".join(lines)


def _becomes_error(rule: NameRule, content: Content) -> bool:
    """Whether a name without counterpart gets a macro; one that a condition asks for must go on not to exist."""
    return rule.kind != "header" and rule.name not in content.asked and _IDENTIFIER.match(rule.name) is not None


def _renamed_namespace(rule: NameRule) -> tuple[bytes, bytes] | None:
    """The outermost namespace of a qualified name that MUSA calls otherwise, with its new name."""
    old, new = rule.name.split(b"::"), rule.target.split(b"::")
    for end, (before, after) in enumerate(zip(old, new, strict=True), 1):
        if before != after:
            return b"::".join(old[:end]), b"::".join(new[:end])
    return None


def _is_plain(rule: NameRule, book: RuleBook) -> bool:
    return b"::" not in rule.name and book.name(rule.name) is not None


def _all(sets: Iterable[Iterable[bytes]]) -> list[bytes]:
    return sorted({name for names in sets for name in names})


def _tame(text: str) -> str:
    """Text that ends neither a comment nor a string."""
    return " ".join(text.replace("*/", "* /").replace("\\", "/").replace('"', "'").split())
