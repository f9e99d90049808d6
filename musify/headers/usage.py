"""What one converted file asks of a compatibility header, and what no header can do for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from musify.checks._guards import CONDITION_KEYWORDS
from musify.checks.architecture_guards import THRESHOLD
from musify.engine.document import Conversion
from musify.engine.results import FindingRecord, finding_record
from musify.engine.tree import Plan
from musify.headers.places import Places, redefines, shown
from musify.languages.cuda.includes import HEADER, MERGED_HEADER
from musify.languages.cuda.macros import PASTED
from musify.languages.cuda.names import is_left_unattested
from musify.languages.cuda.references import enclosing_call
from musify.model import Applicability, Edit, Finding, Span
from musify.project.files import SourceFile
from musify.rules.model import Action, NameRule
from musify.source.markers import read_markers

_DEVICE_SUFFIXES = (".cu", ".cuh")
_COMPILER = "compiler"
# Findings of the guards: what they speak of stays as it is for nvcc, and no header can settle it for mcc.
_GUARDS = frozenset({"MUS301", "MUS302", "MUS303", "MUS304", "MUS305", "MUS309"})
_WHOLE_FILE = ("MUS901", "MUS902", "MUS905")
_OF_A_NAME = ("MUS102", "MUS103", "MUS104", "MUS119", "MUS120", "MUS4")
_DEFINES = {"how": "defines", "how_zh": "定义了"}
_UNDEFINES = {"how": "undefines", "how_zh": "取消定义了"}
_DECLARED = {"reason": "the project declares it", "reason_zh": "由项目自行声明"}


@dataclass
class FileUsage:
    """What one file uses; names and header paths are CUDA's.

    `names` are renamed, plain or qualified (`cuda::std::abs`); `absent` have no counterpart, headers included;
    `asked` are those of them that a condition asks for, so that no macro may make them exist;
    `unknown` look like CUDA's and are on no list; `noted` keep their name and have a known issue; `left` would be
    renamed by convention only; `pasted` are made by macros. `headers`: whether a file that host compilers may read
    names the header. `overlaps` hold only where the header defines their name, `prefixes` only where no macro call
    of the whole tree makes a name that begins so.
    """

    path: str
    names: set[bytes] = field(default_factory=set)
    absent: set[bytes] = field(default_factory=set)
    asked: set[bytes] = field(default_factory=set)
    unknown: set[bytes] = field(default_factory=set)
    noted: set[bytes] = field(default_factory=set)
    left: set[bytes] = field(default_factory=set)
    pasted: frozenset[bytes] = frozenset()
    headers: dict[bytes, bool] = field(default_factory=dict)
    findings: list[FindingRecord] = field(default_factory=list)
    overlaps: list[FindingRecord] = field(default_factory=list)
    prefixes: list[FindingRecord] = field(default_factory=list)
    declared: frozenset[bytes] = frozenset()


def usage_of(
    plan: Plan, file: SourceFile, conversion: Conversion, *, macro: str, forwarding: bool, lookups: frozenset[bytes]
) -> FileUsage:
    """What a file uses. `macro` tells MUSA builds where mcc does not; `lookups` are macros that look up strings.

    `forwarding`: headers of CUDA's names will stand in for the toolkit's.
    """
    usage = FileUsage(file.shown, declared=conversion.declared, pasted=conversion.pasted)
    if conversion.edits or conversion.findings or conversion.pasted:
        _Reader(plan, conversion, usage, macro, forwarding, lookups).read(file.path.suffix in _DEVICE_SUFFIXES)
    return usage


class _Reader:
    """Sorts the edits and findings of one conversion into its usage."""

    def __init__(
        self,
        plan: Plan,
        conversion: Conversion,
        usage: FileUsage,
        macro: str,
        forwarding: bool,
        lookups: frozenset[bytes],
    ) -> None:
        self._book = plan.book
        self._settings = plan.settings
        self._language = plan.language
        self._conversion = conversion
        self._document = conversion.document
        self._usage = usage
        self._places = Places(conversion, (b"MUSA", macro.encode()))
        self._forwarding = forwarding
        self._lookups = frozenset(name for name in lookups if name in self._document.data)

    def read(self, is_device: bool) -> None:
        """Fill the usage."""
        found: list[Finding] = []
        for edit in self._conversion.edits:
            if edit.applicability is not Applicability.MANUAL:
                found += self._edit(edit, is_device)
        for finding in self._conversion.findings:
            if not finding.suppressed:
                found += self._finding(finding, is_device)
        for name in self._conversion.pasted:
            rule = self._book.name(name)
            if rule is not None and not self._sort(rule) and not self._is_compilers(rule):
                kept = is_left_unattested(rule, self._settings)
                (self._usage.left if kept else self._usage.names).add(rule.name)
        self._report(found)

    def _report(self, found: list[Finding]) -> None:
        """Put the findings where they belong, each once a line; marks in the source suppress them as any other."""
        comments = (Span(item.start, item.end) for item in self._places.outline.comments())
        _, kept = read_markers(self._document, comments).filter(self._document, (), found)
        goals = {"MUS704": self._usage.overlaps, "MUS705": self._usage.overlaps, "MUS708": self._usage.prefixes}
        seen: set[tuple[str, str, int]] = set()
        for finding in sorted(kept, key=lambda item: (item.span, item.rule_id)):
            key = (finding.rule_id, finding.name, self._document.line_index(finding.span.start))
            if finding.rule_id.startswith(("MUS7", *_WHOLE_FILE)) and key not in seen:
                seen.add(key)
                record = finding_record(self._document, finding, self._language)
                goals.get(finding.rule_id, self._usage.findings).append(record)

    def _edit(self, edit: Edit, is_device: bool) -> Iterator[Finding]:
        if edit.rule_id in (HEADER, MERGED_HEADER):
            yield from self._header(edit.span, edit.name.encode(), is_device)
        elif edit.rule_id == PASTED:
            if edit.name:
                prefix = edit.name.removesuffix("*")
                yield Finding("MUS708", edit.span, prefix)
        elif self._places.in_literal(edit.span):
            how = ("the string is taken as it stands", "字符串按原样使用")
            yield self._unreached(edit.span, self._places.text(edit.span), edit.new_text, how)
        elif edit.rule_id != THRESHOLD:
            yield from self._name(edit)

    def _name(self, edit: Edit) -> Iterator[Finding]:
        """A rename in code: carried by the header, unless a macro or a namespace alias cannot make it."""
        name = edit.name.encode()
        rule = self._book.name(name) or self._book.namespace(name)
        directive = self._places.outline.directive_at(edit.span.start)
        if rule is None or (directive is not None and directive.keyword == b"pragma") or not self._is_plain(edit, rule):
            if not self._places.is_settled(edit.span.start):
                yield Finding("MUS703", edit.span, edit.name, self._change(edit))
        elif self._is_compilers(rule):
            yield from self._guard(edit.span, name)
        elif directive is not None and redefines(directive, edit.span):
            yield Finding("MUS705", edit.span, edit.name, _DEFINES if directive.keyword == b"define" else _UNDEFINES)
        elif directive is not None and self._places.asks_existence(directive, edit.span):
            if not self._places.is_settled(edit.span.start):
                yield Finding("MUS706", edit.span, edit.name, {"target": rule.target.decode()})
        else:
            self._usage.names.add(rule.name)
            yield from self._looked_up(edit, rule)

    def _is_plain(self, edit: Edit, rule: NameRule) -> bool:
        """Whether the edit does what a macro of the name, or an alias of its namespace, does everywhere."""
        if b"::" in rule.name or self._book.name(rule.name) is None:
            return True
        return self._places.text(edit.span) == rule.name and edit.new_text == rule.target

    def _looked_up(self, edit: Edit, rule: NameRule) -> Iterator[Finding]:
        """A name that a macro makes a string of, to look it up."""
        if not self._lookups:
            return
        callee = enclosing_call(self._places.outline, edit.span.start)
        directive = self._places.outline.directive_at(edit.span.start)
        handed_on = directive is not None and callee in (directive.parameters or ())
        if callee in self._lookups or handed_on:
            macro = callee.decode("utf-8", "replace")
            how = (f"{macro} makes a string of it and looks that up", f"{macro} 把它变成字符串再去查找")
            yield self._unreached(edit.span, rule.name, rule.target, how)

    def _header(self, span: Span, path: bytes, is_device: bool) -> Iterator[Finding]:
        rule = self._book.header(path)
        directive = self._places.outline.directive_at(span.start)
        if rule is None:
            return
        target = rule.target.decode()
        if directive is not None and directive.keyword in CONDITION_KEYWORDS:
            if not self._places.is_settled(span.start):
                yield Finding("MUS706", span, path.decode(), {"target": target})
            return
        self._usage.headers[path] = self._usage.headers.get(path, False) or not is_device
        if not self._forwarding and rule.action is Action.RENAME and not self._places.is_settled(span.start):
            yield Finding("MUS707", span, path.decode(), {"target": target})

    def _finding(self, finding: Finding, is_device: bool) -> Iterator[Finding]:
        name = finding.name.encode("utf-8", "surrogateescape")
        if finding.rule_id in _GUARDS:
            yield from self._guard(finding.span, name)
        elif finding.rule_id == "MUS117":
            reason = {key: finding.arguments.get(key, "") for key in ("reason", "reason_zh")}
            yield Finding("MUS704", finding.span, finding.name, reason)
        elif finding.rule_id == "MUS106":
            yield self._declared(finding)
        elif finding.rule_id == "MUS110":
            yield from self._header(finding.span, name, is_device)
        elif finding.rule_id in ("MUS101", "MUS114"):
            self._usage.unknown.add(name)
        elif finding.rule_id.startswith(_OF_A_NAME):
            rule = self._book.name(name) or self._book.header(name)
            directive = self._places.outline.directive_at(finding.span.start)
            if directive is not None and self._places.asks_existence(directive, finding.span):
                self._usage.asked.add(name)
            elif rule is not None and not self._sort(rule) and is_left_unattested(rule, self._settings):
                self._usage.left.add(rule.name)
        elif finding.rule_id in _WHOLE_FILE:
            yield finding

    def _declared(self, finding: Finding) -> Finding:
        """A name that the project declares: a macro of its own meets the header's, anything else is only renamed."""
        directive = self._places.outline.directive_at(finding.span.start)
        if directive is not None and directive.keyword == b"define":
            return Finding("MUS705", finding.span, finding.name, _DEFINES)
        return Finding("MUS704", finding.span, finding.name, _DECLARED)

    def _sort(self, rule: NameRule) -> bool:
        """Keep a name that is not renamed where its rule says; whether it is such a name."""
        if rule.action in (Action.KEEP, Action.UNSUPPORTED):
            self._usage.absent.add(rule.name)
        elif rule.action is Action.IDENTITY:
            self._usage.noted.add(rule.name)
        else:
            return False
        return True

    def _guard(self, span: Span, name: bytes) -> Iterator[Finding]:
        """A macro that tells of the compiler, its target or a version."""
        if self._places.is_settled(span.start):
            return
        directive = self._places.outline.directive_at(span.start)
        where = Span(directive.start, directive.end) if directive else span
        before, after = shown(self._places.text(where)), shown(self._places.converted(where))
        same = before == after or directive is None
        arguments = {
            "converted": "" if same else f"; converted, the line reads: {after}",
            "converted_zh": "" if same else f"；转换后该行为：{after}",
        }
        yield Finding("MUS701", span, name.decode("utf-8", "replace"), arguments)

    def _unreached(self, span: Span, old: bytes, new: bytes, how: tuple[str, str]) -> Finding:
        name = old.decode("utf-8", "replace")
        return Finding(
            "MUS702", span, name, {"target": new.decode("utf-8", "replace"), "how": how[0], "how_zh": how[1]}
        )

    def _change(self, edit: Edit) -> dict[str, str]:
        return {"old": shown(self._places.text(edit.span)), "new": shown(edit.new_text)}

    def _is_compilers(self, rule: NameRule) -> bool:
        book = self._book
        own = book.is_version_macro(rule.name) or book.is_architecture_macro(rule.name)
        return own or rule.library.id == _COMPILER
