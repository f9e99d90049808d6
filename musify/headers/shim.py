"""Shim headers: the inverse of the conversion, under which MUSA source compiles with CUDA's own headers.

They are made of the rules, never kept by hand. What has to be minded:

* Functions, types and enumerators are defined outright, before everything (PRELUDE). Many functions are macros too
  (`cudaMemcpy` under per-thread streams); a definition leads on to them.
* Macros are a different matter, for source asks whether they exist. MUSA's macro is defined after each header, and
  only where CUDA's is by then. A macro that the source defines for a header to see is handed on before it.
* `__MUSA_ARCH__` exists where `__CUDA_ARCH__` does, with the value that the table of architecture tiers gives.
* Where several CUDA headers became one MUSA header, the first that the rule file lists stands for it, and where
  several names did, the one that the convention leads from; `choices` says how to ask for another.
* Toolkit headers that keep their name are wrapped, so that what they define becomes known.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from musify.headers import made
from musify.headers.made import SHIM_MARK
from musify.model import MusifyError
from musify.rules.book import RuleBook
from musify.rules.cache import cache_folder
from musify.rules.model import Action, NameRule

PRELUDE = "musify_shim.h"
BEFORE = "musify_shim_before.h"
AFTER = "musify_shim_after.h"
_MACRO_KINDS = frozenset({"macro", "macro-fn", "predefined-macro"})


class ShimNames(NamedTuple):
    """MUSA names with the CUDA names that stand for them: those to define outright, and macros.

    `merged` maps CUDA names that share a MUSA name to the one of them that the shim gives back; `shared` maps such
    a MUSA name to all of them. `architecture` holds CUDA's architecture macro by MUSA's.
    """

    plain: Mapping[bytes, bytes]
    macros: Mapping[bytes, bytes]
    merged: Mapping[bytes, bytes]
    shared: Mapping[bytes, tuple[bytes, ...]]
    architecture: Mapping[bytes, bytes]

    def without(self, names: Collection[bytes]) -> ShimNames:
        """Without these MUSA names, which then mean what the source says."""
        plain, macros, architecture = (
            {new: old for new, old in table.items() if new not in names}
            for table in (self.plain, self.macros, self.architecture)
        )
        shared = {new: group for new, group in self.shared.items() if new not in names}
        return ShimNames(plain, macros, self.merged, shared, architecture)


def shim_names(book: RuleBook) -> ShimNames:
    """The names that the conversion changes, the other way round."""
    plain: dict[bytes, bytes] = {}
    macros: dict[bytes, bytes] = {}
    merged: dict[bytes, bytes] = {}
    shared: dict[bytes, tuple[bytes, ...]] = {}
    architecture: dict[bytes, bytes] = {}
    for target, rules in _by_target(book).items():
        chosen = _chosen(target, rules, book)
        if len(rules) > 1 or chosen == target:
            merged.update({rule.name: chosen for rule in rules if rule.name != chosen})
        if chosen == target:
            continue
        if book.is_architecture_macro(chosen):
            architecture[target] = chosen
            continue
        is_macro = rules[0].kind in _MACRO_KINDS
        (macros if is_macro else plain)[target] = chosen
        if len(rules) > 1 and not is_macro:
            shared[target] = tuple(rule.name for rule in rules)
    plain.update(_namespaces(book))
    return ShimNames(plain, macros, merged, shared, architecture)


def choices(book: RuleBook, names: ShimNames, used: Collection[bytes]) -> list[str]:
    """Macros to define, `NAME` or `NAME=VALUE`, so that the shim gives back the CUDA names and headers in `used`.

    Only what several share is asked for, and only where `used` holds one of them alone.
    """
    found = []
    for target, group in names.shared.items():
        meant = [name for name in group if name in used]
        if len(meant) == 1 and meant[0] != names.plain[target]:
            found.append(f"{target.decode()}={meant[0].decode()}")
    for paths in _headers(book).values():
        meant_paths = [path for path in paths if path.encode() in used]
        if len(meant_paths) == 1 and meant_paths[0] != paths[0]:
            found.append(_selector(meant_paths[0]))
    return found


def shim_files(book: RuleBook, names: ShimNames) -> dict[str, bytes]:
    """The files of the shim for these names: relative paths with their content."""
    files = {
        PRELUDE: _file("CUDA's names for MUSA's.", _prelude(names)),
        BEFORE: _file("Macros that the source defined for a header to see.", _handed_on(names.macros)),
        AFTER: _file(
            "Macros that CUDA's headers have defined by now.",
            [*_known_macros(names.macros), *_architecture(book, names)],
        ),
    }
    for target, paths in _headers(book).items():
        files[target] = _file(f"{target} stands for {paths[0]}.", _header(target, paths))
    return files


def _file(what: str, lines: Iterable[str]) -> bytes:
    """The text of one file. The marks in its first and last line keep a conversion away from it."""
    head, end = f"/* {what} {SHIM_MARK.decode()}. MUSIFY_EXCL_START */", "/* MUSIFY_EXCL_STOP */"
    return "\n".join([head, *lines, end, ""]).encode()


def write_shim(folder: Path, book: RuleBook, *, force: bool = False) -> int:
    """Write the shim below `folder`, which is made where it is missing. Says how many files there are.

    Raises MusifyError where they cannot be written, or (unless `force`) would take the place of another's file.
    """
    files = shim_files(book, shim_names(book))
    made.write({folder / path: content for path, content in files.items()}, force=force)
    return len(files)


def cached_shim(book: RuleBook, names: ShimNames) -> Path:
    """A folder with the shim for these names, made on first use. Raises MusifyError where it cannot be made."""
    files = shim_files(book, names)
    digest = hashlib.sha256()
    for path, content in sorted(files.items()):
        digest.update(path.encode() + b"\0" + content + b"\0")
    folder = cache_folder() / f"shim-{digest.hexdigest()[:20]}"
    if not folder.is_dir():
        try:
            _write_whole(folder, files)
        except OSError as error:
            raise MusifyError(f"{folder}: cannot write the shim headers: {error.strerror or error}") from error
    return folder


def _write_whole(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make the folder with all files, or not at all."""
    unfinished = folder.with_name(f"{folder.name}.{os.urandom(6).hex()}")
    try:
        for path, content in files.items():
            (unfinished / path).parent.mkdir(parents=True, exist_ok=True)
            (unfinished / path).write_bytes(content)
        with contextlib.suppress(OSError):  # another process was quicker
            unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _by_target(book: RuleBook) -> dict[bytes, list[NameRule]]:
    found: dict[bytes, list[NameRule]] = {}
    for name in book.all_names():
        rule = book.name(name)
        if rule is None or name in rule.library.one_way:
            continue
        if rule.action is Action.RENAME and b"::" not in name:
            found.setdefault(rule.target, []).append(rule)
    return found


def _chosen(target: bytes, rules: list[NameRule], book: RuleBook) -> bytes:
    """What stands for a MUSA name: itself, where CUDA has it too; else the name that the convention leads from."""
    if book.name(target) is not None:
        return target
    regular = [rule.name for rule in rules if _by_convention(rule)]
    return (regular or [rule.name for rule in rules])[0]


def _by_convention(rule: NameRule) -> bool:
    for old, new in rule.library.convention:
        if rule.name.startswith(old):
            return rule.target == new + rule.name[len(old) :]
    return False


def _namespaces(book: RuleBook) -> dict[bytes, bytes]:
    """The parts of qualified names that change: `musa` for `cuda`, `mtmusa` for `nvcuda`."""
    found: dict[bytes, bytes] = {}
    for name in book.all_names():
        rule = book.name(name) if b"::" in name else None
        if rule is not None and rule.action is Action.RENAME:
            for old, new in zip(rule.name.split(b"::"), rule.target.split(b"::"), strict=False):
                if old != new:
                    found.setdefault(new, old)
    return found


def _headers(book: RuleBook) -> dict[str, list[str]]:
    """MUSA headers with the CUDA headers that became them; headers of the C kind that keep their name too."""
    found: dict[str, list[str]] = {}
    for path in book.all_headers():
        rule = book.header(path)
        assert rule is not None
        wrapped = rule.action is Action.IDENTITY and b"/" not in path and path.endswith(b".h")
        if rule.action is Action.RENAME or wrapped:
            found.setdefault(rule.target.decode(), []).append(path.decode())
    return found


def _header(target: str, paths: list[str]) -> list[str]:
    if paths == [target]:
        # CUDA's own headers include these, clang's at a delicate moment: nothing may come before them.
        return [f"#include_next <{target}>", f"#include <{AFTER}>"]
    if len(paths) == 1:
        includes = [f"#include <{paths[0]}>"]
    else:
        includes = ["#if 0"]
        for path in paths[1:]:
            includes += [f"#elif defined({_selector(path)})", f"#include <{path}>"]
        includes += ["#else", f"#include <{paths[0]}>", "#endif"]
    return [f"#include <{PRELUDE}>", f"#include <{BEFORE}>", *includes, f"#include <{AFTER}>"]


def _selector(path: str) -> str:
    """The macro that asks for another than the first of several headers that share a name."""
    return "MUSIFY_SHIM_" + re.sub(r"\W", "_", path).upper()


def _prelude(names: ShimNames) -> list[str]:
    return [
        "#ifndef MUSIFY_SHIM_H",
        "#define MUSIFY_SHIM_H",
        *_definitions(names),
        # nvcc includes it before any source; here it may not have come to that yet.
        "#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)",
        "#include <cuda_runtime.h>",
        "#endif",
        f"#include <{AFTER}>",
        "#endif",
    ]


def _definitions(names: ShimNames) -> Iterator[str]:
    for new, old in sorted(names.plain.items()):
        line = f"#define {new.decode()} {old.decode()}"
        yield f"#ifndef {new.decode()}\n{line}\n#endif" if new in names.shared else line


def _handed_on(macros: Mapping[bytes, bytes]) -> Iterator[str]:
    for new, old in sorted(macros.items()):
        yield f"#if defined({new.decode()}) && !defined({old.decode()})"
        yield f"#define {old.decode()} {new.decode()}"
        yield "#endif"


def _known_macros(macros: Mapping[bytes, bytes]) -> Iterator[str]:
    for new, old in sorted(macros.items()):
        yield f"#if defined({old.decode()}) && !defined({new.decode()})"
        yield f"#define {new.decode()} {old.decode()}"
        yield "#endif"


def _architecture(book: RuleBook, names: ShimNames) -> Iterator[str]:
    """`__MUSA_ARCH__`: the highest architecture whose tier begins at or below `__CUDA_ARCH__`."""
    for new, old in ((new.decode(), old.decode()) for new, old in names.architecture.items()):
        # Headers of clang's define CUDA's for a while, so what was so a header ago need not be so now.
        yield f"#undef {new}"
        yield f"#ifdef {old}"
        keyword = "if"
        tiers = book.tiers
        for tier, below in reversed(list(zip(tiers[1:], tiers, strict=False))):
            yield f"#{keyword} {old} > {below.upto}"
            yield f"#define {new} {tier.architecture}"
            keyword = "elif"
        yield "#else"
        yield f"#define {new} {tiers[0].architecture}"
        yield "#endif"
        yield "#endif"
