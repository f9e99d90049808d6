"""Calls in Meson's files that name CUDA's language, toolkit, libraries, headers or programs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.build.brackets import Group, Piece
from musify.languages.build.commands import Commands
from musify.languages.build.flag_values import Linked, linked
from musify.languages.build.flags import FlagWord
from musify.languages.build.unit import BuildUnit
from musify.languages.build.words import BUILD_WORD
from musify.languages.meson.facts import known
from musify.languages.meson.reading import MesonFile
from musify.model import Applicability, Edit, Finding, Span
from musify.rules.model import Action

LIBRARY_NAME = "library-name"
TOOLKIT_HEADER = "toolkit-header"
_MODULES = (b"cuda", b"unstable-cuda")
_LANGUAGES = ("project", "add_languages", "get_compiler")
_HEADERS = re.compile(r"(?:has|check)_header|has_header_symbol")
_PROGRAMS = ("find_program", "run_command")
_VERSION = re.compile(rb"-\d+(?:\.\d+)*\Z")
_CUDA = re.compile(rb"(?i)cuda|nvcc")
_LIBRARIES = re.compile(rb"lib64(?!\w)")
_OPTION = re.compile(rb"(cuda_\w+)=")


def find_calls(unit: BuildUnit, file: MesonFile) -> Iterator[Edit | Finding]:
    """Edits and findings for each call."""
    for group in file.groups:
        name = group.called
        strings = [argument.string for argument in group.positional if argument.string is not None]
        yield from _languages(group, strings)
        if name == "import" and strings and strings[0].content in _MODULES:
            yield known()["import"].at(group.span, (strings[0].content or b"").decode())
        elif name == "dependency" and strings:
            yield from _dependency(unit, group, strings[0])
        elif name == "find_library" and strings:
            yield from _library(unit, strings[0])
        elif _HEADERS.fullmatch(name) and strings:
            yield from _header(unit, strings[0])
        elif name in _PROGRAMS:
            for piece in (piece for argument in group.positional for piece in argument.pieces):
                if piece.content is not None:
                    yield from Commands(unit).tool(FlagWord(piece.inner, piece.content))


def find_folders(file: MesonFile) -> Iterator[Edit]:
    """`cuda_root / 'lib64'`: MUSA's folder is lib."""
    for folder, slash, string in zip(file.pieces, file.pieces[1:], file.pieces[2:], strict=False):
        content = string.content or b""
        if slash.text == b"/" and folder.kind == "name" and _CUDA.search(folder.text) and _LIBRARIES.match(content):
            start = string.inner.start + len(b"lib")
            yield Edit(
                Span(start, start + len(b"64")), b"", BUILD_WORD, Applicability.REVIEW, "lib64", "", "documented"
            )


def _languages(group: Group, strings: list[Piece]) -> Iterator[Finding]:
    if group.called in _LANGUAGES:
        skipped = 1 if group.called == "project" else 0
        for string in strings[skipped:]:
            if string.content == b"cuda":
                yield known()["language"].at(string.span, "'cuda'")
    for argument in group.arguments:
        for piece in argument.pieces:
            option = _OPTION.match(piece.content or b"")
            if argument.keyword is None or (option is None and piece.content != b"cuda"):
                continue
            if argument.keyword.text == b"language" and piece.content == b"cuda":
                yield known()["language"].at(piece.span, "'cuda'")
            elif option is not None and option.group(1).decode() in known():
                yield known()[option.group(1).decode()].at(piece.span, option.group(1).decode())


def _dependency(unit: BuildUnit, group: Group, string: Piece) -> Iterator[Finding]:
    """CUDA's toolkit, or one of its libraries by the name of its pkg-config file."""
    name = _VERSION.sub(b"", string.content or b"")
    modules = group.argument(b"modules")
    pieces = [piece for piece in modules.pieces if piece.content is not None] if modules else []
    wanted = [linked(piece.content or b"", unit.book) for piece in pieces] if name == b"cuda" else []
    if name != b"cuda":
        wanted = [linked(name, unit.book)]
        if wanted[0].library is None:
            return
    for library in wanted:
        if library.library is not None and not library.target:
            yield Finding("MUS525", group.span, library.name.decode(), library.arguments)
    found = [library.target.decode() for library in wanted if library.target and library.library is not None]
    if found or name == b"cuda":
        names = list(dict.fromkeys(["musart", *(item.removesuffix("_static") for item in found)]))
        yield Finding("MUS552", group.span, f"dependency('{(string.content or b'').decode()}')", _declared(names))


def _declared(names: list[str]) -> dict[str, str]:
    libraries = ", ".join(f"cpp.find_library('{name}', dirs: '/usr/local/musa/lib')" for name in names)
    return {
        "target": ", ".join(f"lib/lib{name}.so" for name in names),
        "instead": f"declare_dependency(compile_args: '-I/usr/local/musa/include', dependencies: [{libraries}])",
    }


def _library(unit: BuildUnit, string: Piece) -> Iterator[Edit | Finding]:
    library: Linked = linked(string.content or b"", unit.book)
    if library.library is None:
        return
    if not library.target:
        yield Finding("MUS525", string.span, library.name.decode(), library.arguments)
        return
    sure = Applicability.SAFE if library.listed else Applicability.REVIEW
    name = library.name.decode()
    yield Edit(string.inner, library.target, LIBRARY_NAME, sure, name, library.library.id, "code")


def _header(unit: BuildUnit, string: Piece) -> Iterator[Edit]:
    rule = unit.book.header(string.content or b"")
    if rule is not None and rule.action is Action.RENAME:
        yield Edit(
            string.inner, rule.target, TOOLKIT_HEADER, Applicability.SAFE, rule.name.decode(), rule.library.id,
            rule.evidence.value,
        )  # fmt: skip
