"""What of the names that the rules promise a MUSA SDK has in its headers, and in which form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from musify.audit.headers import Declared, Pass, Reading, present, read, top_headers
from musify.audit.signatures import Difference, callables, difference_of_calls, difference_of_kind
from musify.audit.unknown import by_convention
from musify.audit.words import Place, header_files, places
from musify.clang import flags
from musify.model import MusifyError
from musify.rules.book import RuleBook
from musify.rules.model import Action, NameRule
from musify.sdk import Sdk

_FIRST = ("musa_runtime.h", "musa.h")
# What the host's compiler sees, and what the SDK's own does.
_COMPILERS = ((), ("-D__MUSACC__", "-D__MUSA__", "-D__MUSA_ARCH__=310"))
# The compiler defines these itself: no header shows them.
_WITHOUT_HEADERS = frozenset({"compiler"})
# Of torch_musa, which is no part of an SDK.
_ELSEWHERE = frozenset({"torch"})
# Beginnings of names of MUSA's.
_OWN = re.compile(r"(?:mu|MU|mccl|MCCL|mt[a-z]+[A-Z]|MT[A-Z]+_)\w*\Z")


class Changed(NamedTuple):
    """A name that the SDK has in another form than CUDA: CUDA's name, MUSA's, where it stands, what differs."""

    name: str
    target: str
    place: str
    difference: Difference


class Absence(NamedTuple):
    """Why a name counts as absent, in English and Chinese."""

    why: str
    why_zh: str


class SdkAudit(NamedTuple):
    """The rules against an SDK. All names are CUDA's.

    `undecided`: a header's text has the name, but no declaration of it was understood, or a header lies where no
    #include finds it. `contradicted`: rules call it unsupported, the SDK declares it. `own`: what only the SDK has.
    """

    sdk: Sdk
    reading: Reading
    seen: tuple[str, ...]
    absent: Mapping[str, Absence]
    changed: tuple[Changed, ...]
    undecided: Mapping[str, str]
    contradicted: Mapping[str, str]
    own: tuple[str, ...]
    rules: Mapping[str, NameRule]


def audit_sdk(sdk: Sdk, book: RuleBook, cuda: Reading | None = None) -> SdkAudit:
    """Compare the rules with an SDK's headers; signatures too, where CUDA's were read with `calls`.

    Raises MusifyError where libclang is missing or the SDK's headers cannot be read at all.
    """
    return _Audit(sdk, book, cuda).run()


def read_sdk(sdk: Sdk, book: RuleBook) -> Reading:
    """What the SDK's headers declare: those at the top and those that the rules lead to. Raises MusifyError."""
    roots = [sdk.include]
    targets = (rule.target.decode() for path in book.all_headers() if (rule := book.header(path)) is not None)
    headers = list(dict.fromkeys([*top_headers(roots), *present(targets, roots)]))
    passes = [Pass(headers, [*flags.plain(roots), *words]) for words in _COMPILERS]
    reading = read(passes, roots, first=present(_FIRST, roots), calls=True)
    if not reading.declared:
        raise MusifyError(
            f"{sdk.include}: no header could be read: {reading.faults[0].message if reading.faults else ''}"
        )
    return reading


class _Audit:
    def __init__(self, sdk: Sdk, book: RuleBook, cuda: Reading | None) -> None:
        self._sdk, self._book, self._cuda = sdk, book, cuda
        self._reading = read_sdk(sdk, book)
        self._files = list(header_files(sdk.root))
        self._rules = dict(_promises(book))
        words = {part for rule in self._rules.values() if rule.kind != "header" for part in rule.target.split(b"::")}
        self._places = places(self._files, words)
        self._alike = _by_shape(self._reading)
        self._headers_of_library = _library_headers(book)
        self._header_at = cache(self._find_header)

    def run(self) -> SdkAudit:
        seen: list[str] = []
        absent: dict[str, Absence] = {}
        undecided: dict[str, str] = {}
        contradicted: dict[str, str] = {}
        for name, rule in self._rules.items():
            place = self._declared_at(rule)
            if rule.action is Action.UNSUPPORTED:
                contradicted |= {name: place} if place else {}
            elif place:
                seen.append(name)
            elif rule.kind == "header":
                elsewhere = self._header_at(rule.target.decode())
                undecided |= {name: elsewhere} if elsewhere else {}
                absent |= {} if elsewhere else {name: Absence("there is no such header", "没有该头文件")}
            elif _can_be_absent(rule):
                places_of_parts = [self._places.get(part) for part in rule.target.split(b"::")]
                if None in places_of_parts:
                    absent[name] = self._absence(name, rule)
                else:
                    undecided[name] = _shown(places_of_parts[-1], self._sdk.root)
        return SdkAudit(
            self._sdk, self._reading, tuple(seen), absent, tuple(self._changes(seen)), undecided, contradicted,
            tuple(self._own_names()), self._rules,
        )  # fmt: skip

    def _declared_at(self, rule: NameRule) -> str:
        target = rule.target.decode()
        if rule.kind == "header":
            return target if (self._sdk.include / target).is_file() else ""
        declared = self._reading.declared.get(target)
        return _place(declared) if declared else ""

    def _find_header(self, target: str) -> str:
        """Where in the SDK a header lies: in include/, else in a folder that no #include starts in; empty: nowhere."""
        if (self._sdk.include / target).is_file():
            return target
        end = f"/{target}"
        return next((_shown(Place(path, 0), self._sdk.root) for path in self._files if str(path).endswith(end)), "")

    def _absence(self, name: str, rule: NameRule) -> Absence:
        gone = self._missing_headers(name, rule)
        if gone:
            return Absence(f"there is no {gone}", f"没有 {gone}")
        alike = self._alike.get(_shape(rule.target.decode()))
        if alike is not None:
            return Absence(f"no header declares it; there is a {alike}", f"没有头文件声明它；有一个 {alike}")
        return Absence("no header declares it", "没有头文件声明它")

    def _missing_headers(self, name: str, rule: NameRule) -> str:
        """The header that would declare the name, where the SDK has none such; empty where it has."""
        headers = {item.header for item in self._cuda.declared.get(name, ())} if self._cuda is not None else set()
        wanted = [found for header in sorted(headers) if (found := self._book.header(header.encode())) is not None]
        targets = [item.target.decode() for item in wanted] or self._headers_of_library.get(rule.library.id, [])
        return "" if not targets or any(self._header_at(target) for target in targets) else targets[0]

    def _changes(self, seen: Sequence[str]) -> Iterator[Changed]:
        for name in seen:
            rule = self._rules[name]
            if rule.kind == "header":
                continue
            target = rule.target.decode()
            declared = self._reading.declared[target]
            difference = difference_of_kind(rule.kind, declared) or self._difference_of_calls(name, target)
            if difference is not None:
                yield Changed(name, target, _place(declared), difference)

    def _difference_of_calls(self, name: str, target: str) -> Difference | None:
        if self._cuda is None or name not in self._cuda.declared:
            return None
        return difference_of_calls(callables(name, self._cuda), callables(target, self._reading), self._translate)

    def _translate(self, spelling: str) -> str:
        return re.sub(r"[A-Za-z_]\w*", lambda match: _musa_name(match.group(), self._book), spelling)

    def _own_names(self) -> Iterator[str]:
        promised = {rule.target.decode() for rule in self._rules.values()}
        for name, declared in self._reading.declared.items():
            mark = declared[0].item.kind == "macro" and not declared[0].item.signature
            if name not in promised and not mark and _OWN.match(name):
                yield name


def _promises(book: RuleBook) -> Iterator[tuple[str, NameRule]]:
    """Every name and header for which the rules name something on MUSA."""
    for name in book.all_names():
        rule = book.name(name)
        if rule is not None and _is_promised(rule):
            yield name.decode(), rule
    for path in book.all_headers():
        header = book.header(path)
        if header is not None and _is_promised(header):
            yield path.decode(), header


def _is_promised(rule: NameRule) -> bool:
    return rule.action is not Action.KEEP and rule.library.id not in _ELSEWHERE


def _can_be_absent(rule: NameRule) -> bool:
    """Names that stay the same may be the compiler's or the C library's: no header need show them."""
    return rule.action is Action.RENAME and rule.library.id not in _WITHOUT_HEADERS and rule.kind != "predefined-macro"


def _library_headers(book: RuleBook) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in book.all_headers():
        rule = book.header(path)
        if rule is not None:
            found.setdefault(rule.library.id, []).append(rule.target.decode())
    return found


def _by_shape(reading: Reading) -> dict[str, str]:
    return {_shape(name): name for name in reading.declared if "::" not in name}


def _shape(name: str) -> str:
    """A name without what spellings of the same thing differ in: case, underscores, a version at the end."""
    return name[:2] + re.sub(r"_v\d+\Z", "", name[2:]).replace("_", "").lower()


def _musa_name(name: str, book: RuleBook) -> str:
    rule = book.name(name.encode())
    if rule is not None:
        return rule.target.decode() if rule.action is Action.RENAME else name
    # Tags behind typedefs (CUstream_st) are on no list.
    if re.match(r"CU[a-z]\w*_st\Z", name):
        return "MU" + name[2:]
    return by_convention(name, book.lookalike_library(name.encode()))


def _place(declared: Sequence[Declared]) -> str:
    return f"{declared[0].header}:{declared[0].item.line}"


def _shown(place: Place | None, root: Path) -> str:
    if place is None:
        return ""
    path = place.path.relative_to(root).as_posix()
    return f"{path}:{place.line}" if place.line else path
