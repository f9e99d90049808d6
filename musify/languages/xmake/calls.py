"""Rules, toolchains, packages, libraries, folders and programs of CUDA's in xmake's files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.build.brackets import Argument, Group, Piece
from musify.languages.build.commands import Commands
from musify.languages.build.flag_values import linked
from musify.languages.build.flags import FlagWord
from musify.languages.build.unit import BuildUnit
from musify.languages.build.variables import runs_nvcc
from musify.languages.build.words import BUILD_WORD
from musify.languages.xmake.facts import known, rules, settings
from musify.languages.xmake.flags import flags_in, lists_of, words_of
from musify.languages.xmake.reading import LuaFile, Setting
from musify.model import Applicability, Edit, Finding, Span

LIBRARY_NAME = "library-name"
XMAKE_RULE = "xmake-rule"
_SOURCE = re.compile(rb"\.cuh?\Z")
_RUNS = re.compile(r"v?(?:exec|run|iorun)v?")
_CUDA = re.compile(rb"(?i)cuda|nvcc")
_LIBRARIES = re.compile(rb"/?lib(64)(?!\w)")


def find_settings(unit: BuildUnit, file: LuaFile) -> Iterator[Edit | Finding]:
    """Edits and findings for what is set by name."""
    has_rule = any(group.called == "rule" and _first(group) in rules().values() for group in file.groups)
    for setting in file.settings:
        strings = [item.string for part in lists_of(file, setting.arguments) for item in part if item.string]
        if setting.name in settings("libraries"):
            for string in strings:
                yield from _library(unit, string)
        elif setting.name in settings("rules"):
            for string in strings:
                yield from _rule(string)
        elif setting.name in settings("packages"):
            yield from _packages(unit, file, setting)
        elif setting.name in settings("files") and not has_rule:
            source = next((string for string in strings if _SOURCE.search(string.content or b"")), None)
            if source is not None:
                has_rule = True  # once a file is enough
                yield Finding("MUS555", source.span, (source.content or b"").decode("utf-8", "replace"))
        elif setting.name == "toolchains" and not any(_CUDA.search(string.text) for string in strings):
            continue
        elif setting.name in known():
            written = (setting.place.content or setting.place.text).decode("utf-8", "replace")
            yield known()[setting.name].at(setting.group.span, written)


def find_calls(unit: BuildUnit, file: LuaFile) -> Iterator[Edit | Finding]:
    """Edits and findings for programs that are run, modules, policies and folders."""
    for group in file.groups:
        for argument in group.arguments:
            string = argument.string
            name = (string.content or b"").decode("utf-8", "replace") if string is not None else ""
            if string is not None and name in known() and "." in name:
                yield known()[name].at(string.span, name)
        if group.called in known() and group.called.startswith("find_") and group.name is not None:
            yield known()[group.called].at(group.name.span, group.called)
        elif _RUNS.fullmatch(group.called) and group.receiver is not None:
            yield from _program(unit, file, group)
        elif group.called == "join" and group.arguments and _CUDA.search(group.arguments[0].word.text):
            yield from (edit for item in group.arguments[1:] if item.string for edit in _folder(item.string))
    for folder, dots, string in zip(file.pieces, file.pieces[1:], file.pieces[2:], strict=False):
        if dots.text == b".." and folder.kind == "name" and _CUDA.search(folder.text) and string.kind == "string":
            yield from _folder(string)


def _first(group: Group) -> bytes | None:
    string = group.arguments[0].string if group.arguments else None
    return string.content if string is not None else None


def _library(unit: BuildUnit, string: Piece) -> Iterator[Edit | Finding]:
    library = linked(string.content or b"", unit.book)
    if library.library is None:
        return
    if not library.target:
        yield Finding("MUS525", string.span, library.name.decode(), library.arguments)
        return
    sure = Applicability.SAFE if library.listed else Applicability.REVIEW
    name = library.name.decode()
    yield Edit(string.inner, library.target, LIBRARY_NAME, sure, name, library.library.id, "code")


def _rule(string: Piece) -> Iterator[Edit | Finding]:
    content = string.content or b""
    if content in rules():
        yield Edit(string.inner, rules()[content], XMAKE_RULE, Applicability.REVIEW, content.decode(), "", "code")


def _packages(unit: BuildUnit, file: LuaFile, setting: Setting) -> Iterator[Finding]:
    """Packages of CUDA's: the toolkit, with the libraries that `utils` asks for, or one library."""
    for argument in setting.arguments:
        name = ((argument.string.content if argument.string else None) or b"").partition(b" ")[0]
        library = linked(name, unit.book)
        if name == b"cuda":
            wanted = [linked(item, unit.book) for item in _utilities(file, setting)]
            names = ["musart", *(item.target.decode() for item in wanted if item.target and item.library)]
            yield Finding("MUS552", setting.group.span, name.decode(), _linked(names))
        elif library.library is not None and library.target:
            yield Finding("MUS552", setting.group.span, name.decode(), _linked([library.target.decode()]))
        elif library.library is not None:
            yield Finding("MUS525", setting.group.span, name.decode(), library.arguments)


def _utilities(file: LuaFile, setting: Setting) -> Iterator[bytes]:
    inside = [
        group
        for group in file.groups
        if setting.group.span.start < group.opening.start < setting.group.end and group.opening.text == b"{"
    ]
    for group in inside:
        asked: Argument | None = group.argument(b"utils")
        yield from (piece.content for piece in (asked.pieces if asked else ()) if piece.content)


def _linked(names: list[str]) -> dict[str, str]:
    links = ", ".join(f'"{name}"' for name in dict.fromkeys(names))
    folders = 'add_includedirs("/usr/local/musa/include"), add_linkdirs("/usr/local/musa/lib")'
    target = ", ".join(f"lib/lib{name}.so" for name in dict.fromkeys(names))
    return {"target": target, "instead": f"{folders}, add_links({links})"}


def _program(unit: BuildUnit, file: LuaFile, group: Group) -> Iterator[Edit | Finding]:
    """`os.vrunv("nvcc", {"-c", file})` and `os.run("nvcc -c %s", file)`."""
    string = group.arguments[0].string if group.arguments else None
    if string is None or string.content is None:
        return
    words = words_of(string)
    if len(words) > 1:
        yield from Commands(unit).results(words)
    elif words:
        yield from Commands(unit).tool(FlagWord(string.inner, string.content))
        table = file.table(group.arguments[1]) if len(group.arguments) > 1 else None
        if table is not None:
            yield from flags_in(unit, table.positional, host=not runs_nvcc(string.content))


def _folder(string: Piece) -> Iterator[Edit]:
    match = _LIBRARIES.match(string.content or b"")
    if match is not None:
        start = string.inner.start
        span = Span(start + match.start(1), start + match.end(1))
        yield Edit(span, b"", BUILD_WORD, Applicability.REVIEW, "lib64", "", "documented")
