"""Public names in CUDA's headers that no rule knows: what a new release asks the rules for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from musify.audit.headers import Pass, Reading, present, read, top_headers
from musify.audit.public import Publicness
from musify.clang import flags
from musify.model import MusifyError
from musify.rules.book import RuleBook
from musify.rules.model import Library
from musify.rules.shipped import shipped_tables

# What others need before them.
_FIRST = ("cuda_runtime.h", "cuda.h")
# clang's CUDA mode brings device functions of its own and leaves CUDA's headers out. Read as plain C++ these show what
# nvcc sees there, on an architecture that has everything.
AS_ON_THE_DEVICE = ("-D__CUDACC__", "-D__NVCC__", "-D__CUDA_ARCH__=9990", "-D__CUDACC_VER_MAJOR__=99")


class UnknownName(NamedTuple):
    """A name (or header) on no list: its kind as in rules/api, where it stands, and what the convention makes of it.

    `library` is None where neither its spelling nor its header tells; `target` is then the name itself.
    """

    name: str
    kind: str
    header: str
    line: int
    library: Library | None
    target: str


class CudaAudit(NamedTuple):
    """CUDA's headers against the rules. `version` is `13.0`, empty where cuda.h does not say; `known` counts names."""

    version: str
    reading: Reading
    known: int
    unknown: tuple[UnknownName, ...]


def cuda_roots(include: Sequence[Path]) -> list[Path]:
    """The folders that an #include of CUDA's starts in. Raises MusifyError where one is missing or holds no header."""
    for folder in include:
        if not folder.is_dir():
            raise MusifyError(f"{folder}: no such folder; name CUDA's include folder (--cuda-include)")
    if not any((folder / name).is_file() for folder in include for name in ("cuda.h", "cuda_runtime_api.h")):
        raise MusifyError(f"{' '.join(map(str, include))}: no CUDA headers: neither cuda.h nor cuda_runtime_api.h")
    return [*include, *(folder / "cccl" for folder in include if (folder / "cccl").is_dir())]


def read_cuda(include: Sequence[Path], book: RuleBook) -> Reading:
    """What CUDA's headers declare: those at the top and those that rules know. Raises MusifyError."""
    return _read(cuda_roots(include), include, book, calls=False)


def read_cuda_calls(include: Sequence[Path], book: RuleBook) -> Reading:
    """What CUDA's headers declare, and how functions are called; without libcu++, Thrust and CUB (all templates)."""
    cuda_roots(include)
    return _read(list(include), include, book, calls=True)


def _read(roots: Sequence[Path], include: Sequence[Path], book: RuleBook, *, calls: bool) -> Reading:
    known = present((path.decode() for path in book.all_headers()), roots)
    headers = list(dict.fromkeys([*top_headers(roots), *known]))
    passes = [
        Pass(headers, flags.with_cuda(include)),
        Pass(present(headers, include), [*flags.plain(roots), *AS_ON_THE_DEVICE]),
    ]
    return read(passes, roots, first=present(_FIRST, roots), calls=calls)


def audit_cuda(include: Sequence[Path], book: RuleBook) -> CudaAudit:
    """Compare CUDA's headers with the rules. Raises MusifyError."""
    return compare(read_cuda(include, book), book)


def compare(reading: Reading, book: RuleBook) -> CudaAudit:
    """Compare what was read of CUDA's headers with the rules."""
    known = 0
    unknown = list(_unknown_headers(reading, book))
    for name, declared in Publicness(reading, book).names():
        if is_known(name, book):
            known += 1
        elif not _is_passed_over(name) and not _is_tag(name, declared.item.kind, reading):
            library = library_of(name, declared.header, book)
            target = by_convention(name, library)
            place = (declared.header, declared.item.line)
            unknown.append(UnknownName(name, declared.item.kind, *place, library, target))
    return CudaAudit(cuda_version(reading), reading, known, tuple(unknown))


def is_known(name: str, book: RuleBook) -> bool:
    """Whether a rule speaks of the name, or of a class, an enum or a namespace around it."""
    encoded = name.encode()
    if book.is_version_macro(encoded) or book.is_architecture_macro(encoded):
        return True
    parts = encoded.split(b"::")
    return any(book.name(b"::".join(parts[:end])) is not None for end in range(len(parts), 0, -1))


def library_of(name: str, header: str, book: RuleBook) -> Library | None:
    """The library that a name belongs to: by its namespace, else by its beginning, else by its header."""
    encoded, path = name.encode(), header.encode()
    parts = encoded.split(b"::")
    for end in range(len(parts) - 1, 0, -1):
        space = book.namespace(b"::".join(parts[:end]))
        if space is not None:
            return space.library
    alike = book.lookalike_library(encoded)
    if alike is not None:
        return alike
    rule = book.header(path)
    return rule.library if rule is not None else None


def by_convention(name: str, library: Library | None) -> str:
    """What the library's convention makes of a name."""
    for old, new in library.convention if library is not None else ():
        if name.startswith(old.decode()):
            return new.decode() + name[len(old) :]
    return name


def cuda_version(reading: Reading) -> str:
    """The release that the headers are of, from CUDA_VERSION (13000) in cuda.h; empty where it is not there."""
    for declared in reading.declared.get("CUDA_VERSION", ()):
        if declared.item.signature.isdigit():
            number = int(declared.item.signature)
            return f"{number // 1000}.{number % 1000 // 10}"
    return ""


def _unknown_headers(reading: Reading, book: RuleBook) -> Iterator[UnknownName]:
    inside: dict[str, Counter[str]] = {}
    libraries = {library.id: library for library in book.libraries}
    for name, items in reading.declared.items():
        rule = book.name(name.encode())
        if rule is not None:
            for item in items:
                inside.setdefault(item.header, Counter())[rule.library.id] += 1
    for header in reading.headers:
        if book.header(header.encode()) is None:
            most = inside.get(header, Counter()).most_common(1)
            library = libraries[most[0][0]] if most else book.lookalike_library(header.encode())
            yield UnknownName(header, "header", header, 1, library, by_convention(header, library))


def _is_tag(name: str, kind: str, reading: Reading) -> bool:
    """Whether the name is only the tag behind a typedef: `cuInit_params_st` beside `cuInit_params`."""
    if kind not in ("struct", "enum") or not name.endswith("_st"):
        return False
    stem = name.removesuffix("_st")
    return stem in reading.declared or f"{stem}_t" in reading.declared


@lru_cache(maxsize=1)
def _passed_over() -> frozenset[str]:
    tables = shipped_tables("audit")["passed_over.toml"]["passed_over"]
    return frozenset(name for table in tables for name in table["names"].split())


def _is_passed_over(name: str) -> bool:
    parts = name.split("::")
    return any("::".join(parts[:end]) in _passed_over() for end in range(1, len(parts) + 1))
