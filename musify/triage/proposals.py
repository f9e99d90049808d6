"""Which steps fit a cause: what the rules, other spellings, the project's own declarations and the flags say of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.model import Evidence
from musify.rules.evidence import attestation
from musify.rules.model import Action, NameRule, Note
from musify.rules.shipped import shipped_tables
from musify.triage.causes import Cause
from musify.triage.knowledge import Knowledge
from musify.triage.origins import Origin, Origins
from musify.triage.steps import Overlay, Step

_LANGUAGE = frozenset(
    "__global__ __device__ __host__ __shared__ __constant__ threadIdx blockIdx blockDim gridDim warpSize".split()
)
_OF_MCC = ("musa", "-mtgpu", "--offload-arch=mp_", "--cuda-gpu-arch=mp_")
_FLAG_STEPS = {"drop": "option-drop", "none": "option-none", "unwrap": "option-unwrap", "linker": "option-linker"}
_SETTLING = ("MUS101", "MUS102", "MUS103", "MUS104", "MUS110", "MUS114", "MUS117", "MUS119", "MUS120", "MUS4")
_NAMES = frozenset({"missing-name", "missing-member", "signature", "missing-symbol", "redefinition", "no-counterpart"})
_MANGLED = re.compile(r"_Z(?:N[KV]*)?(\d+)")


def plain_name(symbol: str) -> str:
    """The last name in a symbol: of `n::f(int)` and of its mangled form `_ZN1n1fEi`."""
    match = _MANGLED.match(symbol)
    if match is None:
        return symbol.partition("(")[0].partition("<")[0].rpartition("::")[2]
    name, rest = symbol, symbol[match.start(1) :]
    while (length := re.match(r"\d+", rest)) is not None:
        end = length.end() + int(length.group())
        name, rest = rest[length.end() : end], rest[end:]
    return name


def steps_for(cause: Cause, origin: Origin | None, origins: Origins, knowledge: Knowledge) -> list[Step]:
    """What can be done about a cause, the best first; never empty. `origin` is where its first error comes from."""
    found = list(_Proposals(cause, origin, origins, knowledge).all())
    generic = str(shipped_tables("triage")["kinds.toml"][cause.kind]["step"])
    if not any(step.sort != "hand" for step in found) and generic not in (step.id for step in found):
        found.append(Step(generic, {"name": cause.subject, "owner": cause.owner}))
    return found


class _Proposals:
    """Works out the steps of one cause."""

    def __init__(self, cause: Cause, origin: Origin | None, origins: Origins, knowledge: Knowledge) -> None:
        self._cause = cause
        self._origin = origin
        self._origins = origins
        self._knowledge = knowledge

    def all(self) -> Iterator[Step]:
        """The steps, as far as something is known of the subject."""
        kind = self._cause.kind
        if kind == "missing-header":
            yield from self._header()
        elif kind == "missing-library":
            yield from self._library()
        elif kind == "missing-source":
            yield from self._source()
        elif kind == "missing-tool":
            yield from self._tool()
        elif kind == "option":
            yield from self._option()
        elif kind in _NAMES:
            yield from self._name()

    def _name(self) -> Iterator[Step]:
        name, kind = self._cause.subject, self._cause.kind
        rule = self._rule(name)
        header = self._knowledge.standard.get(name)
        if name in _LANGUAGE and kind == "missing-name":
            yield Step("device-language", {"name": name})
        elif header is not None and kind in ("missing-name", "signature"):
            yield Step("standard", {"name": name, "header": header})
            return
        elif rule is None:
            yield from self._own(name)
        elif kind == "missing-symbol":
            yield from self._symbol(rule)
        elif kind == "missing-member":
            yield from self._member(rule)
        elif kind == "signature":
            yield from self._signature(rule)
        elif kind in ("missing-name", "no-counterpart"):
            yield from self._missing(rule)
        if rule is not None:
            yield from self._issues(rule)

    def _rule(self, name: str) -> NameRule | None:
        """The rule behind a name: that of the edit which made it, else the best attested one."""
        rules = self._knowledge.rules_of(name)
        edit = self._origin.edit if self._origin is not None else None
        if edit is not None and edit.name:
            for rule in rules:
                if rule.name.decode() == edit.name:
                    return rule
        return rules[0] if rules else None

    def _missing(self, rule: NameRule) -> Iterator[Step]:
        """A name that the SDK at hand does not declare."""
        name, cuda, musa = self._cause.subject, rule.name.decode(), rule.target.decode()
        if rule.action in (Action.KEEP, Action.UNSUPPORTED):
            note = rule.unsupported
            why, why_zh = (note.why, note.why_zh) if note else (rule.library.instead, rule.library.instead_zh)
            yield Step("kept", {"cuda": cuda, "why": why, "why_zh": why_zh})
            return
        if rule.action is Action.RENAME and name == cuda:
            yield Step("not-converted", {"cuda": cuda, "findings": self._findings()})
            return
        yield from self._spellings(rule)
        arguments = {"cuda": cuda, "musa": musa, "evidence": _evidence(rule)}
        attested = rule.evidence in (Evidence.SDK, Evidence.CODE)
        step = "absent-attested" if attested else "absent" if rule.action is Action.RENAME else "same-name"
        respelled = any(True for _ in self._active_spellings(rule))
        yield Step(step, arguments, Overlay("absent", cuda, musa, self._why(), not attested and not respelled))

    def _spellings(self, rule: NameRule) -> Iterator[Step]:
        cuda, musa = rule.name.decode(), rule.target.decode()
        others = self._knowledge.spellings(rule)
        chosen = set(self._active_spellings(rule))
        for other in others:
            overlay = Overlay("rename", cuda, other.musa, other.note, other.musa in chosen)
            arguments = {"other": other.musa, "note": other.note, "note_zh": other.note_zh, "source": other.source}
            yield Step("spelling", arguments, overlay)
        for hint in self._cause.hints:
            if hint not in (other.musa for other in others) and rule.action is Action.RENAME:
                step = "spelling-seen" if _alike(hint, musa) else "spelling-guess"
                yield Step(
                    step, {"other": hint}, Overlay("rename", cuda, hint, "the compiler suggests it", hint in chosen)
                )

    def _active_spellings(self, rule: NameRule) -> Iterator[str]:
        """The one spelling that can be taken without thought: the compiler knows it, or only one is attested."""
        others = self._knowledge.spellings(rule)
        known = [hint for hint in self._cause.hints if hint in (other.musa for other in others)]
        known += [hint for hint in self._cause.hints if _alike(hint, rule.target.decode())]
        attested = [other.musa for other in others if other.evidence is Evidence.CODE]
        if known:
            yield known[0]
        elif len(attested) == 1:
            yield attested[0]

    def _signature(self, rule: NameRule) -> Iterator[Step]:
        cuda, musa = rule.name.decode(), rule.target.decode()
        if "ambiguous" in self._why():
            yield Step("ambiguous", {"name": self._cause.subject})
        elif self._only_own_candidates():
            yield from self._missing(rule)
        elif rule.action in (Action.RENAME, Action.IDENTITY):
            # A name that both have may be a type or a C function as well: a person must look.
            overlay = Overlay("changed", cuda, musa, self._why(), rule.action is Action.RENAME)
            yield Step("changed", {"cuda": cuda, "musa": musa}, overlay)
        yield Step("signature")

    def _only_own_candidates(self) -> bool:
        """Whether the compiler lists declarations, and the project makes all of them: the API's own is not there."""
        item = self._cause.errors[0]
        paths = [note.path for note in item.notes if note.text.startswith("candidate ")]
        return bool(paths) and all(self._origins.file(path, item.folders) is not None for path in paths)

    def _member(self, rule: NameRule) -> Iterator[Step]:
        """A member whose name was taken for the API's."""
        owner = self._cause.owner
        if self._origin is not None and self._origin.edit is not None and rule.action is Action.RENAME:
            place = f"{self._origin.path}:{self._origin.line}"
            yield Step("keep-name", {"owner": owner, "cuda": rule.name.decode(), "place": place})
        yield Step("member", {"name": self._cause.subject, "owner": owner})

    def _symbol(self, rule: NameRule) -> Iterator[Step]:
        library = self._knowledge.linked_by(rule)
        if library:
            arguments = {"musa": self._cause.subject, "library": rule.library.target, "other": library}
            yield Step("link", arguments)
            overlay = Overlay("absent", rule.name.decode(), rule.target.decode(), self._why(), False)
            yield Step("symbol-absent", arguments, overlay)
        else:
            yield from self._missing(rule)

    def _own(self, name: str) -> Iterator[Step]:
        """A name that is not CUDA's, or that no rule knows."""
        plain = plain_name(name)
        definition = self._origins.definitions.get(plain)
        if self._cause.kind == "redefinition":
            return
        if definition is not None:
            place = f"{definition.path}:{definition.line}"
            guard = definition.guard
            if guard is not None:
                yield Step("own-guard", {"name": plain, "place": place, "id": guard.id, "line": str(guard.line)})
            elif self._cause.kind != "signature":
                yield Step("own-place", {"name": plain, "place": place})
        elif self._knowledge.book.looks_like_cuda(plain.encode()):
            yield Step("unknown-cuda", {"cuda": plain}, Overlay("rename", plain, "", "no rule knows it", False))

    def _issues(self, rule: NameRule) -> Iterator[Step]:
        notes: list[Note] = [note for note in rule.known_issues if note.applies(self._knowledge.target)]
        for note in notes:
            arguments = {"cuda": rule.name.decode(), "why": note.why, "why_zh": note.why_zh, "source": note.source}
            yield Step("known-issue", arguments)

    def _header(self) -> Iterator[Step]:
        name = self._cause.subject
        renamed = self._origins.renamed(name)
        rules = self._knowledge.header_rules(name)
        if renamed is not None:
            other = renamed.output_path.rpartition("/")[2]
            yield Step("header-renamed", {"name": name, "other": other})
        for rule in rules[:1]:
            yield from self._toolkit_header(rule)
        there = self._origins.file(name)
        if not rules and renamed is None and there is not None:
            yield Step("header-folder", {"name": name, "place": there.path})

    def _toolkit_header(self, rule: NameRule) -> Iterator[Step]:
        cuda, musa, library = rule.name.decode(), rule.target.decode(), rule.library
        if rule.action is Action.KEEP:
            arguments = {"why": library.instead, "why_zh": library.instead_zh}
            yield Step("header-kept", {"cuda": cuda, "library": library.name, **arguments})
        elif rule.action is Action.IDENTITY and rule.evidence is Evidence.NONE:
            yield Step("header-drop", {"cuda": cuda})
        elif rule.action is Action.RENAME and self._cause.subject == cuda:
            yield Step("not-converted", {"cuda": cuda, "findings": self._findings()})
        else:
            for other in self._knowledge.spellings(rule):
                note = {"note": other.note, "note_zh": other.note_zh, "source": other.source}
                overlay = Overlay("header", cuda, other.musa, other.note, False)
                yield Step("spelling", {"other": other.musa, **note}, overlay)
            attested = rule.evidence in (Evidence.SDK, Evidence.CODE)
            arguments = {"cuda": cuda, "musa": musa, "evidence": _evidence(rule)}
            overlay = Overlay("absent", cuda, musa, self._why(), not attested)
            yield Step("absent-attested" if attested else "header-absent", arguments, overlay)

    def _library(self) -> Iterator[Step]:
        name = self._cause.subject
        known = self._knowledge.library(name)
        if known is not None:
            yield Step("library-cuda" if known[0] else "library-cuda-none", {"name": name, "other": known[0]})

    def _source(self) -> Iterator[Step]:
        renamed = self._origins.renamed(self._cause.subject)
        if renamed is not None:
            yield Step("source-renamed", {"name": self._cause.subject, "other": renamed.output_path.rpartition("/")[2]})
        elif self._cause.subject.endswith((".cu", ".cuh")):
            other = self._cause.subject.replace(".cu", ".mu")
            yield Step("source-renamed", {"name": self._cause.subject, "other": other})

    def _tool(self) -> Iterator[Step]:
        words = shipped_tables("build")["words.toml"]["word"]
        tools: dict[str, str] = {
            old: new for word in words if word["kind"] == "tool" for old, new in word["map"].items()
        }
        other = tools.get(self._cause.subject.rpartition("/")[2])
        if other:
            yield Step("tool-cuda", {"name": self._cause.subject, "other": other})

    def _option(self) -> Iterator[Step]:
        name = self._cause.subject
        flag = self._knowledge.flag(name)
        if name.startswith(_OF_MCC):
            yield Step("option-compiler", {"name": name})
        elif flag is not None and flag.rule.action != "same":
            rule = flag.rule
            value = "mp_XX" if rule.action == "architecture" else (flag.value or b"...").decode("utf-8", "replace")
            written, other = flag.written.decode("utf-8", "replace"), rule.to.decode().replace("{}", value)
            step = _FLAG_STEPS.get(rule.action, "option-new")
            if written != other:
                arguments = {"why": rule.why or rule.source, "why_zh": rule.why_zh or rule.source}
                yield Step(step, {"name": written, "other": other, **arguments})

    def _why(self) -> str:
        """The compiler's words, as a rule file can quote them: why a declaration does not fit, where it says so."""
        item = self._cause.errors[0]
        candidates = [note.text for note in item.notes if note.text.startswith("candidate ")]
        return ": ".join([item.text.partition("; did you mean")[0], *candidates[:1]])

    def _findings(self) -> str:
        found = self._origin.findings if self._origin is not None else ()
        ids = sorted({item.id for item in found if item.id.startswith(_SETTLING)})
        return ", ".join(ids) or "`musify check`"


def _evidence(rule: NameRule) -> str:
    known = attestation(rule.name.decode()) if rule.evidence is Evidence.CODE else None
    if known is None or known.repositories in ("", "0"):
        return rule.evidence.value
    many = f"{known.repositories} repositories, such as" if known.repositories != "1" else "one repository:"
    return f"{many} {known.example}"


def _alike(first: str, second: str) -> bool:
    """Whether two names differ in case and underscores only."""
    return first.replace("_", "").lower() == second.replace("_", "").lower()
