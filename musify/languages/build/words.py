"""Environment variables, paths and files of libraries that have a counterpart, in any language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from musify.languages.build.facts import named
from musify.languages.build.flag_values import linked
from musify.languages.build.unit import BuildUnit, TokenKind
from musify.model import Applicability, Edit, Evidence, Finding, Severity, Span
from musify.source.words import TextFinder

BUILD_WORD = "build-word"
LIBRARY_FILE = "library-file"
_VERSIONED = re.compile(rb"-(?:\d+(?:\.\d+)*|\$\{\{[^{}\n]*\}\}|\$\{[^{}\s]*\}|\$\(\w+\)|\$\w+|@\w+@)(?![\w-])")
# MUSA's toolkit has one folder of libraries, lib, without one of stubs.
LIBRARY_FOLDER = re.compile(rb"[)}]?/lib(64(?:/stubs(?![\w.]))?)(?!\w)")
# A program of the toolkit, named by its path.
_PROGRAM = re.compile(rb"[)}\"]{0,2}/bin/([\w-]+)")
_LIBRARY_ENDINGS = (b".so", b".a", b".dylib")
_LIBRARY_FILE = re.compile(
    rb"(?:(?<![\w./-])lib(?P<folder>64(?:/stubs)?)/)?(?<![\w.-])lib(?P<name>[a-zA-Z][\w-]*)\.(?:so|a|dylib)"
    rb"(?P<version>(?:\.\d+)*)(?!\w)"
)


def find_words(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Edits and findings for variables, paths and library files, outside comments and names."""
    for token in unit.tokens_at(_finder().starts(unit.data)):
        if token.kind not in (TokenKind.COMMENT, TokenKind.NAME):
            within = Span(token.start, token.end)
            for edit in word_edits(unit.data, within):
                yield from _weighed(unit, edit)
            yield from _library_files(unit, within)


def _weighed(unit: BuildUnit, edit: Edit) -> Iterator[Edit | Finding]:
    """A variable that only the convention gives is reported; it stays where the user keeps such names."""
    if edit.evidence != Evidence.NONE.value:
        yield edit
        return
    target, kept = edit.new_text.decode(), unit.settings.unattested == "keep"
    yield from () if kept else (edit,)
    outcome = "was left as it is" if kept else f"became {target}"
    outcome_zh = "保持原样" if kept else f"已改为 {target}"
    yield Finding("MUS564", edit.span, edit.name, {"outcome": outcome, "outcome_zh": outcome_zh})


def word_edits(data: bytes, within: Span) -> Iterator[Edit]:
    """Edits for variables and paths in a stretch of text."""
    for match in _pattern().finditer(data, *within):
        word = named("variable").get(match.group()) or named("path")[match.group()]
        end, applicability = match.end(), Applicability.SAFE
        if word.evidence is Evidence.NONE:
            applicability = Applicability.REVIEW
        if word.kind == "path":
            version = _VERSIONED.match(data, end, within.end)
            if version is not None:  # MUSA's folder carries no version
                end, applicability = version.end(), Applicability.REVIEW
            elif data[end : end + 1] == b"-":  # a version that the program puts in, or another folder
                continue
        yield Edit(
            Span(match.start(), end), word.musa, BUILD_WORD, applicability, word.cuda.decode(), "", word.evidence.value
        )
        libraries = LIBRARY_FOLDER.match(data, end, within.end)
        if libraries is not None:
            yield Edit(Span(*libraries.span(1)), b"", BUILD_WORD, applicability, "lib64", "", word.evidence.value)
        program = _PROGRAM.match(data, end, within.end)
        tool = named("tool").get(program.group(1)) if program else None
        if program is not None and tool is not None and tool.musa:
            span = Span(*program.span(1))
            yield Edit(span, tool.musa, BUILD_WORD, applicability, tool.cuda.decode(), "", tool.evidence.value)


def _library_files(unit: BuildUnit, within: Span) -> Iterator[Edit | Finding]:
    """`libcudart.so.12` is `libmusart.so`: the numbers in CUDA's file names mean nothing for MUSA's."""
    for match in _LIBRARY_FILE.finditer(unit.data, *within):
        library = linked(match.group("name"), unit.book)
        name = match.group().decode()
        if library.library is None:
            continue
        if not library.target:
            yield Finding("MUS525", Span(*match.span()), name, library.arguments, Severity.WARNING)
            continue
        sure = library.listed and not match.group("version")
        applicability = Applicability.SAFE if sure else Applicability.REVIEW
        if match.group("folder"):
            yield Edit(Span(*match.span("folder")), b"", BUILD_WORD, applicability, "lib64", "", "documented")
        yield Edit(
            Span(*match.span("name")), library.target, LIBRARY_FILE, applicability, name, library.library.id, "code"
        )
        if match.group("version"):
            yield Edit(Span(*match.span("version")), b"", LIBRARY_FILE, applicability, name, library.library.id, "code")
            target = name.replace(library.name.decode(), library.target.decode(), 1)
            without = target.removesuffix(match.group("version").decode())
            yield Finding("MUS550", Span(match.start(), match.end("name")), name, {"target": without})


def _with_counterpart(kind: str) -> Iterator[bytes]:
    return (name for name, word in named(kind).items() if word.musa)


@cache
def _finder() -> TextFinder:
    """Finds what every match of `_pattern` and of `_LIBRARY_FILE` holds."""
    return TextFinder([*named("variable"), *named("path"), *_LIBRARY_ENDINGS])


@cache
def _pattern() -> re.Pattern[bytes]:
    variables = b"|".join(map(re.escape, sorted(_with_counterpart("variable"), key=len, reverse=True)))
    paths = b"|".join(map(re.escape, sorted(named("path"), key=len, reverse=True)))
    return re.compile(
        rb"(?:(?<![\w.])(?:" + variables + rb")|(?:(?<!\w)|(?<=-[ILB]))(?:" + paths + rb"))(?![A-Za-z0-9_]|/\d)"
    )
