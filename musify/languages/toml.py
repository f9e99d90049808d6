"""TOML: pyproject.toml, with the settings of scikit-build-core; everything else in it by its words and commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from musify.languages import plain
from musify.languages.build.commands import Commands
from musify.languages.build.flags import FlagWord
from musify.languages.build.settings import text_findings
from musify.languages.build.settings import value_results as device_results
from musify.languages.build.unit import BuildUnit, Token, TokenKind
from musify.languages.shell.conversion import script_results
from musify.languages.shell.definitions import definition_results, name_edit, value_results
from musify.languages.shell.script import read_script
from musify.model import Edit, Finding, Span
from musify.source.syntax import parse, preorder

if TYPE_CHECKING:
    from tree_sitter import Node

_PAIRS = ("pair", "table", "table_array_element")
_KEYS = ("bare_key", "quoted_key")
_WORD = re.compile(rb"[^\s\"'<>=,;|&\[\]{}]+")
# Settings whose value is a list of arguments of CMake, a table of its variables, a script, or text for people.
_ARGUMENTS = re.compile(r"(?:.*\.)?cmake(?:\.args|-args)")
_DEFINITIONS = re.compile(r"(?:.*\.)?cmake\.define\.(?P<name>\w+)(?P<default>\.default)?")
_TEXTS = re.compile(r"(?:project|tool\.poetry)\.(?:classifiers|keywords|description|authors|name|urls\..*)")
_SCRIPTS = re.compile(r"tool\.cibuildwheel(?:\..*)?\.(?:before-\w+|test-command|repair-wheel-command)")


def tokens(data: bytes) -> list[Token]:
    """Comments, and the words of everything else."""
    found: list[Token] = []
    position = 0
    for node in _nodes(data):
        if node.type == "comment":
            found += _words(data, position, node.start_byte)
            found.append(Token(TokenKind.COMMENT, node.start_byte, node.end_byte))
            position = node.end_byte
    return [*found, *_words(data, position, len(data))]


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Edits and findings by the keys that values stand under, then those of any text."""
    found = [item for setting in _settings(unit.data) for item in _results(unit, setting)]
    taken = [item.span for item in found if isinstance(item, Edit)]
    said = {(item.rule_id, item.span) for item in found}
    yield from found
    for item in plain.convert(unit):
        touched = any(span.start < item.span.end and item.span.start < span.end for span in taken)
        if not touched and (item.rule_id, item.span) not in said:
            yield item


class Setting(NamedTuple):
    """A value with all the keys around it, outermost first."""

    keys: Sequence[Node]
    value: Node

    @property
    def path(self) -> str:
        """The keys, joined by points."""
        return ".".join(_name(key) for key in self.keys)


def _results(unit: BuildUnit, setting: Setting) -> Iterator[Edit | Finding]:
    strings = [_content(unit.data, node) for node in preorder(setting.value) if node.type == "string"]
    path = setting.path
    for string in strings:
        yield from device_results(path.encode(), unit.text(string), string.start)
    if _ARGUMENTS.fullmatch(path):
        words = [FlagWord(string, unit.text(string)) for string in strings]
        yield from definition_results(Commands(unit), words, in_text=True)
    elif match := _DEFINITIONS.fullmatch(path):
        name = match.group("name").encode()
        edit = None if match.group("default") else name_edit(unit, _name_span(setting.keys[-1]))
        yield from [] if edit is None else [edit]
        if setting.value.type == "string":
            yield from value_results(Commands(unit), name, strings[0], quoted=True)
    elif _TEXTS.fullmatch(path):
        for string in strings:
            yield from text_findings(unit.data, string)
    elif _SCRIPTS.fullmatch(path):
        for string in strings:
            yield from script_results(Commands(unit), read_script(unit.data, string))


def _settings(data: bytes) -> Iterator[Setting]:
    """Each pair, those in inline tables too."""
    for node in _nodes(data):
        parts = [child for child in node.named_children if child.type != "comment"]
        if node.type == "pair" and len(parts) > 1:
            keys: list[Node] = []
            around: Node | None = node
            while around is not None:
                keys[:0] = _keys(around) if around.type in _PAIRS else ()
                around = around.parent
            yield Setting(keys, parts[-1])


def _keys(node: Node) -> list[Node]:
    """The keys that a pair or a table header begins with."""
    return [part for child in node.named_children[:1] for part in preorder(child) if part.type in _KEYS]


def _name(key: Node) -> str:
    return (key.text or b"").decode("utf-8", "replace").strip("\"'")


def _name_span(key: Node) -> Span:
    quoted = key.type == "quoted_key"
    return Span(key.start_byte + quoted, key.end_byte - quoted)


def _words(data: bytes, start: int, end: int) -> Iterator[Token]:
    return (Token(TokenKind.WORD, *match.span()) for match in _WORD.finditer(data, start, end))


def _content(data: bytes, string: Node) -> Span:
    """What stands between the quotes."""
    text = data[string.start_byte : string.end_byte]
    quotes = 3 if text[:3] in (b'"""', b"'''") else 1
    return Span(string.start_byte + quotes, string.end_byte - quotes)


@lru_cache(maxsize=2)
def _nodes(data: bytes) -> tuple[Node, ...]:
    return tuple(preorder(parse(data, "tree_sitter_toml")))
