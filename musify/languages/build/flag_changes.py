"""What becomes of a list of nvcc's flags, word by word, whatever the language that they are written in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from musify.languages.build.flag_table import Flag, FlagRule, read_flags
from musify.languages.build.flag_values import VARIABLE, Architectures, architectures_in, linked, split_list
from musify.languages.surroundings import Settings
from musify.model import Applicability, Evidence, Severity
from musify.rules.book import RuleBook
from musify.rules.model import Action

_PAIRS = (b"-gencode", b"--generate-code")
_CODES = (*_PAIRS, b"-code", b"--gpu-code")
_WHOLE_VARIABLE = re.compile(rb"\$[({]\w+[)}]")
_MACRO = re.compile(rb"\w+")
# What a host compiler is given too, so that its flags are looked at for nothing else.
_HOST_ACTIONS = ("library", "macro", "header")


class FlagChange(NamedTuple):
    """Words `first` up to `last` (not part of it) become the words `new`; None: they stay and are only reported.

    `split`: they are the words that one value held. `finding` is an id of rules/findings/build.toml with its arguments,
    empty where nothing is reported.
    """

    first: int
    last: int
    new: tuple[bytes, ...] | None
    name: bytes
    applicability: Applicability = Applicability.SAFE
    evidence: str = ""
    library: str = ""
    finding: str = ""
    arguments: Mapping[str, str] = {}  # never written to
    severity: Severity | None = None
    split: bool = False


def flag_changes(
    words: Sequence[bytes], book: RuleBook, settings: Settings, *, host: bool = False, each_architecture: bytes = b""
) -> Iterator[FlagChange]:
    """The changes to one list of flags, in order, without overlap.

    `words` are the words of one command line or list, unquoted; those that are no flags of CUDA's stay. `host`: the
    list is for a host compiler or linker, of which only names of libraries, macros and headers are CUDA's.
    `each_architecture` is how the language writes a flag for each word of a variable, with `{prefix}` and `{variable}`.
    """
    flags = list(read_flags(words, settings.target.sdk))
    if not flags:
        return
    conversion = _Conversion(words, flags, book, settings, each_architecture)
    # A SYCL compiler's way to NVIDIA's cards stays what it is.
    foreign = any(word.startswith(b"-fsycl") for word in words)
    for flag in flags:
        if not host or (flag.rule.action in _HOST_ACTIONS and not (foreign and flag.rule.action == "library")):
            yield from conversion.change(flag)


@dataclass
class _Conversion:
    words: Sequence[bytes]
    flags: Sequence[Flag]
    book: RuleBook
    settings: Settings
    each_architecture: bytes
    architectures_written: bool = False
    standards: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.standards = [flag.first for flag in self.flags if b"-std" in flag.rule.spellings]
        asked = [_asked_for(flag) for flag in self.flags if flag.rule.action == "architecture"]
        self.virtual_only = not any(item and (item.real or item.variables) for item in asked)
        # Where variables name the architectures and PTX is all that stands beside them, the variables say enough.
        self.variable_only = any(item and item.variables for item in asked) and not any(
            item and item.real for item in asked
        )

    def change(self, flag: Flag) -> Iterator[FlagChange]:
        if flag.value is None and flag.rule.takes != "nothing":
            yield _reported(flag, "MUS526")
        else:
            yield from _ACTIONS[flag.rule.action](self, flag)

    def same(self, flag: Flag) -> Iterator[FlagChange]:
        return iter(())

    def rename(self, flag: Flag) -> Iterator[FlagChange]:
        if flag.first in self.standards[:-1]:
            yield self._second_standard(flag.first, flag.last, flag.written)
            return
        rule = flag.rule
        to = rule.values.get(flag.value or b"", rule.to)
        if not to:
            yield from self.drop(flag)
            return
        if flag.written in (_filled(form, flag.value) for form in (to, *rule.keep)):
            if rule.why:
                yield _reported(flag, "MUS523", rule)
            return
        new = tuple(_filled(word, flag.value) for word in to.split(b" "))
        yield _renamed(flag, new)

    def drop(self, flag: Flag) -> Iterator[FlagChange]:
        yield FlagChange(
            flag.first, flag.last, (), flag.written, Applicability.SAFE, flag.rule.evidence, "",
            "MUS521", _why(flag.rule), flag.rule.severity,
        )  # fmt: skip

    def none(self, flag: Flag) -> Iterator[FlagChange]:
        yield _reported(flag, "MUS520", flag.rule)

    def unwrap(self, flag: Flag) -> Iterator[FlagChange]:
        value = flag.value or b""
        pieces = [value] if value.startswith(b"-Wl,") else split_list(value)
        if any(piece.startswith(b"/") for piece in pieces):  # flags of Microsoft's compiler
            yield _reported(flag, "MUS526")
            return
        if self.standards and any(_is_standard(piece) for piece in pieces):
            dropped = next(piece for piece in pieces if _is_standard(piece))
            yield self._second_standard(flag.first, flag.last, dropped, self._for_host(pieces, skip=dropped))
            return
        yield _changed(flag, self._for_host(pieces))._replace(split=True)

    def _for_host(self, pieces: Sequence[bytes], skip: bytes = b"") -> tuple[bytes, ...]:
        pieces = [piece for piece in pieces if piece != skip]
        changes = list(flag_changes(pieces, self.book, self.settings, host=True))
        return tuple(apply_changes(pieces, changes))

    def _second_standard(self, first: int, last: int, name: bytes, new: tuple[bytes, ...] = ()) -> FlagChange:
        why = {"why": "mcc takes -std only once", "why_zh": "mcc 只接受一个 -std"}
        return FlagChange(first, last, new, name, finding="MUS521", arguments=why, evidence="code")

    def linker(self, flag: Flag) -> Iterator[FlagChange]:
        value = flag.value or b""
        single = flag.spelling == b"-Xlinker" and flag.glue == b" " and b"," not in value
        if not single:
            yield _changed(flag, (b"-Wl," + b",".join(split_list(value)),))

    def architecture(self, flag: Flag) -> Iterator[FlagChange]:
        asked = _asked_for(flag)
        if asked is None:
            return
        known = list(self._variable_flags(flag, asked))
        if (asked.variables and not known) or self._is_lone_virtual(flag, asked):
            yield self._about_variable(_reported(flag, "MUS524"))
            return
        new = list(known)
        literal = asked.real or not all(VARIABLE.search(item) for item in asked.virtual)
        if literal and not self.architectures_written and not (known or self.variable_only):
            new += (_filled(flag.rule.to, name.encode()) for name in self.settings.target.architectures)
            self.architectures_written = True
        change = _changed(flag, tuple(new))
        if known:
            yield self._about_variable(change._replace(applicability=Applicability.REVIEW, finding="MUS524"))
        elif asked.virtual and flag.spelling in _CODES:
            name = b" ".join(asked.virtual)
            yield change._replace(name=name, finding="MUS521", arguments=_NO_PTX)
        else:
            yield change

    def _is_lone_virtual(self, flag: Flag, asked: Architectures) -> bool:
        """`-arch=compute_$(SM)` where nothing else says for which cards."""
        variable = bool(asked.virtual) and all(VARIABLE.search(item) for item in asked.virtual)
        return self.virtual_only and variable and flag.spelling not in _CODES

    def _variable_flags(self, flag: Flag, asked: Architectures) -> Iterator[bytes]:
        head, _, _ = flag.rule.to.partition(b"{}")
        for variable in asked.variables:
            if not variable.numbers and flag.spelling in _PAIRS and b"code" not in (flag.value or b""):
                continue  # all of `arch=...,code=...` is in the variable
            prefix = head + (b"mp_" if variable.numbers else b"")
            several = len(self.settings.target.architectures) > 1 and _WHOLE_VARIABLE.fullmatch(variable.text)
            form = self.each_architecture if several and self.each_architecture else b"{prefix}{variable}"
            yield form.replace(b"{prefix}", prefix).replace(b"{variable}", variable.text)

    def _about_variable(self, change: FlagChange) -> FlagChange:
        names = self.settings.target.architectures
        numbers = change.new is not None and any(b"mp_" in word for word in change.new)
        shown = [name.removeprefix("mp_") if numbers else name for name in names]
        return change._replace(arguments={"architectures": " ".join(shown)})

    def library(self, flag: Flag) -> Iterator[FlagChange]:
        found = [linked(name, self.book) for name in (flag.value or b"").split(b",")]
        missing = next((item for item in found if not item.target), None)
        if missing is not None:
            yield _reported(flag, "MUS525")._replace(arguments=missing.arguments)
        elif any(item.library for item in found) or flag.spelling == b"--library" or flag.glue == b"=":
            sure = all(item.listed for item in found)
            yield _changed(flag, tuple(_filled(flag.rule.to, item.target) for item in found))._replace(
                applicability=Applicability.SAFE if sure else Applicability.REVIEW,
                library=next((item.library.id for item in found if item.library), ""),
            )

    def macro(self, flag: Flag) -> Iterator[FlagChange]:
        value = flag.value or b""
        found = _MACRO.match(value)
        rule = self.book.name(found.group()) if found else None
        if found is None or rule is None or not self._renames(found.group()):
            yield from self.rename(flag)
            return
        new = tuple(_filled(word, rule.target + value[found.end() :]) for word in flag.rule.to.split(b" "))
        sure = rule.evidence is not Evidence.NONE
        yield _changed(flag, new)._replace(
            name=rule.name, library=rule.library.id, evidence=rule.evidence.value,
            applicability=Applicability.SAFE if sure else Applicability.REVIEW,
        )  # fmt: skip

    def _renames(self, name: bytes) -> bool:
        rule = self.book.name(name)
        if rule is None or rule.action is not Action.RENAME:
            return False
        # A version or an architecture is a number on CUDA's scale.
        if self.book.is_version_macro(name) or self.book.is_architecture_macro(name):
            return False
        return rule.evidence is not Evidence.NONE or self.settings.unattested == "rename"

    def header(self, flag: Flag) -> Iterator[FlagChange]:
        rule = self.book.header(flag.value or b"")
        if rule is None or rule.action is not Action.RENAME:
            yield from self.rename(flag)
            return
        new = tuple(_filled(word, rule.target) for word in flag.rule.to.split(b" "))
        yield _changed(flag, new)._replace(name=rule.name, library=rule.library.id, evidence=rule.evidence.value)


_ACTIONS: Mapping[str, Callable[[_Conversion, Flag], Iterator[FlagChange]]] = {
    "same": _Conversion.same,
    "rename": _Conversion.rename,
    "drop": _Conversion.drop,
    "none": _Conversion.none,
    "unwrap": _Conversion.unwrap,
    "linker": _Conversion.linker,
    "architecture": _Conversion.architecture,
    "library": _Conversion.library,
    "macro": _Conversion.macro,
    "header": _Conversion.header,
}
_NO_PTX = {
    "why": "PTX that is compiled at run time has no counterpart",
    "why_zh": "运行时编译的 PTX 没有对应物",
}


def apply_changes(words: Sequence[bytes], changes: Sequence[FlagChange]) -> list[bytes]:
    """The words with the changes made."""
    result: list[bytes] = []
    position = 0
    for change in changes:
        if change.new is not None:
            result += [*words[position : change.first], *change.new]
            position = change.last
    return [*result, *words[position:]]


def _asked_for(flag: Flag) -> Architectures | None:
    return None if flag.value is None else architectures_in(flag.value, pairs=flag.spelling in _PAIRS)


def _is_standard(word: bytes) -> bool:
    return word.startswith((b"-std=", b"--std="))


def _filled(form: bytes, value: bytes | None) -> bytes:
    return form.replace(b"{}", value or b"")


def _why(rule: FlagRule) -> Mapping[str, str]:
    return {"why": rule.why, "why_zh": rule.why_zh}


def _reported(flag: Flag, finding: str, rule: FlagRule | None = None) -> FlagChange:
    arguments = _why(rule) if rule else {}
    severity = rule.severity if rule else None
    return FlagChange(
        flag.first, flag.last, None, flag.written, finding=finding, arguments=arguments, severity=severity
    )


def _changed(flag: Flag, new: tuple[bytes, ...]) -> FlagChange:
    return FlagChange(flag.first, flag.last, new, flag.written, Applicability.SAFE, flag.rule.evidence)


def _renamed(flag: Flag, new: tuple[bytes, ...]) -> FlagChange:
    change = _changed(flag, new)
    if flag.rule.review:
        to = b" ".join(new).decode("utf-8", "replace")
        return change._replace(
            applicability=Applicability.REVIEW, finding="MUS522", arguments={"target": to, **_why(flag.rule)}
        )
    return change
