"""Scripts as tree-sitter-bash reads them: commands, assignments, loops and comments with their places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from musify.languages.build.flags import FlagWord
from musify.languages.shell.quoting import unquoted, words_in
from musify.model import Span
from musify.source.syntax import parse, preorder

if TYPE_CHECKING:
    from tree_sitter import Node

GRAMMAR = "tree_sitter_bash"
_ARGUMENTS = frozenset(
    "word string raw_string ansi_c_string translated_string concatenation number simple_expansion expansion "
    "command_substitution arithmetic_expansion process_substitution command_name".split()
)


class Assignment(NamedTuple):
    """A variable that is given a value; the words of an array, of a quoted text, or one word. `first`: of a command."""

    name: bytes
    value: Span
    words: tuple[FlagWord, ...]


class Command(NamedTuple):
    """One command: its words, the program first, and the variables that are set for it alone."""

    words: tuple[FlagWord, ...]
    settings: tuple[Assignment, ...]


class Loop(NamedTuple):
    """`for VARIABLE in VALUES`."""

    variable: bytes
    values: tuple[FlagWord, ...]


@dataclass
class Script:
    """What a script says, each kind in order."""

    commands: list[Command] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)
    documents: list[Span] = field(default_factory=list)
    names: list[Span] = field(default_factory=list)


def read_script(data: bytes, span: Span, text: bytes | None = None) -> Script:
    """The script that stands between two offsets of `data`.

    `text`: what the shell gets to see of it, where that differs (same length). Nothing is said of what the grammar
    cannot read.
    """
    reader = _Reader(data, span.start)
    return reader.read(parse(data[span.start : span.end] if text is None else text, GRAMMAR))


class _Reader:
    def __init__(self, data: bytes, offset: int) -> None:
        self._data = data
        self._offset = offset

    def read(self, root: Node) -> Script:
        script = Script()
        for node in preorder(root):
            if node.type == "command" and not node.has_error:
                settings = tuple(self._assignment(child) for child in node.children if child.type == _ASSIGNMENT)
                script.commands.append(Command(tuple(self._words(node.children)), settings))
            elif node.type == _ASSIGNMENT and not node.has_error:
                script.assignments.append(self._assignment(node))
            elif node.type == "for_statement":
                script.loops.append(self._loop(node))
            elif node.type == "comment":
                script.comments.append(self._span(node))
            elif node.type == "heredoc_body":
                script.documents.append(self._span(node))
            elif node.type == "variable_name":
                script.names.append(self._span(node))
        return script

    def _span(self, node: Node) -> Span:
        return Span(node.start_byte + self._offset, node.end_byte + self._offset)

    def _words(self, nodes: list[Node]) -> Iterator[FlagWord]:
        for node in nodes:
            if node.type in _ARGUMENTS:
                span = self._span(node)
                yield FlagWord(span, unquoted(self._data[span.start : span.end]))

    def _assignment(self, node: Node) -> Assignment:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        shown = self._span(name) if name else Span(0, 0)
        if value is None:
            end = node.end_byte + self._offset
            return Assignment(self._data[slice(*shown)], Span(end, end), ())
        span = self._span(value)
        words = tuple(self._words(value.children)) if value.type == "array" else words_in(self._data, span)
        return Assignment(self._data[slice(*shown)], span, words)

    def _loop(self, node: Node) -> Loop:
        variable = node.child_by_field_name("variable")
        name = self._data[slice(*self._span(variable))] if variable else b""
        return Loop(name, tuple(self._words(node.children_by_field_name("value"))))


_ASSIGNMENT = "variable_assignment"
