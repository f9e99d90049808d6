"""Lists of strings in Bazel files: compiler flags, macros, architectures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from musify.languages.bazel.calls import loaded_names
from musify.languages.bazel.facts import keywords
from musify.languages.build.architecture_lists import architecture_list
from musify.languages.build.flags import FlagForm, FlagWord, flag_edits
from musify.languages.build.macros import macro_edits
from musify.languages.build.unit import BuildUnit
from musify.languages.build.variables import tells_nvcc
from musify.languages.python.module import PythonModule
from musify.languages.python.strings import StringLiteral
from musify.model import Edit, Finding, Span
from musify.source.edits import apply

if TYPE_CHECKING:
    from tree_sitter import Node

_FOR_DEVICE = re.compile(r"(?i)nvcc|cuda|gpu|(?<![a-z])cu_")
_NAMED = {
    "keyword_argument": "name",
    "call": "function",
    "assignment": "left",
    "augmented_assignment": "left",
    "function_definition": "name",
}
_BLANK = re.compile(rb"\s")
_WORD = re.compile(rb"\S+")
_PLACE = re.compile(rb"%[srd]|\{\w*\}")


def find_lists(unit: BuildUnit, module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits and findings for lists of flags, of macros and of architectures."""
    names = loaded_names(module)
    for node in module.of_type("list"):
        words = list(_words(module, node))
        around = [names.get(name) or name for name in _names_around(node)]
        if around and around[0] in keywords("macros"):
            yield from macro_edits(unit, words)
        elif any(word.text.startswith(b"-") for word in words):
            host = not _is_for_device(around, words)
            yield from flag_edits(unit, words, FlagForm(b", ", quoted=True, host=host))
            yield from _command_lines(unit, module, node, FlagForm(host=host))
        else:
            yield from architecture_list(unit, words, b", ")
    for literal in module.strings:
        if literal.text.startswith(b"-") and (literal.node.parent is None or literal.node.parent.type != "list"):
            around = [names.get(name) or name for name in _names_around(literal.node)]
            host = not _is_for_device(around, [FlagWord(literal.span, literal.text.partition(b" ")[0])])
            yield from _flags_in(unit, literal, FlagForm(host=host))


def _words(module: PythonModule, node: Node) -> Iterator[FlagWord]:
    for child in node.named_children:
        if child.type != "comment":
            literal = module.string(child)
            # What is read apart, or is no string, still stands between the others.
            apart = literal is None or _is_command_line(literal)
            text = (child.text or b"") if apart or literal is None else literal.text
            yield FlagWord(Span(child.start_byte, child.end_byte), text)


def _command_lines(unit: BuildUnit, module: PythonModule, node: Node, form: FlagForm) -> Iterator[Edit | Finding]:
    """Bazel splits a string of `copts` at blanks as a shell does: several flags may stand in one."""
    for child in node.named_children:
        literal = module.string(child)
        if literal is not None and _is_command_line(literal):
            yield from _flags_in(unit, literal, form)


def _is_command_line(literal: StringLiteral) -> bool:
    return literal.text.startswith(b"-") and _BLANK.search(literal.text) is not None


def _flags_in(unit: BuildUnit, literal: StringLiteral, form: FlagForm) -> Iterator[Edit | Finding]:
    """Edits and findings for a string that is a command line; one with escapes or of several pieces is passed over."""
    words = []
    for match in _WORD.finditer(literal.text):
        span = literal.locate(*match.span())
        if span is None or unit.text(span) != match.group():
            return
        words.append(FlagWord(span, match.group()))
    results = list(flag_edits(unit, words, form))
    if words and _fits(unit, literal, results):
        yield from results
    elif results:
        yield Finding("MUS526", literal.span, literal.text.decode("utf-8", "replace"))


def _fits(unit: BuildUnit, literal: StringLiteral, results: Sequence[Edit | Finding]) -> bool:
    """Whether something is left of a string, and as many places for values as are put into it."""
    inner = literal.contents[0]
    edits = [
        item._replace(span=Span(item.span.start - inner.start, item.span.end - inner.start))
        for item in results
        if isinstance(item, Edit)
    ]
    new = apply(unit.text(inner), edits)
    return bool(new.strip()) and len(_PLACE.findall(new)) == len(_PLACE.findall(literal.text))


def _is_for_device(around: Sequence[str], words: Sequence[FlagWord]) -> bool:
    """Whether flags are for the compiler of CUDA sources, by themselves and the names of what they stand in."""
    if any(tells_nvcc(word.text) for word in words):
        return True
    if any(name.rpartition(".")[2] in keywords("host") for name in around):
        return False
    return any(_FOR_DEVICE.search(name) for name in around if not name.startswith("if_"))


def _names_around(node: Node) -> Iterator[str]:
    """The keyword argument, calls, variable and function that an expression stands in, the nearest first."""
    current = node.parent
    while current is not None:
        name = current.child_by_field_name(_NAMED[current.type]) if current.type in _NAMED else None
        if name is not None:
            yield (name.text or b"").decode("utf-8", "replace")
        current = current.parent
