"""Lua as xmake's files use it, without loss: tokens, and the calls and tables that they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from musify.languages.build.brackets import Argument, Grammar, Group, Piece, groups_of

_TOKEN = re.compile(
    rb"(?P<comment>--\[(?P<c>=*)\[(?s:.*?)\](?P=c)\]|--[^\n]*)"
    rb"|(?P<string>\[(?P<q>=*)\[(?s:.*?)\](?P=q)\]|\"(?:\\(?s:.)|[^\"\\\n])*\"|'(?:\\(?s:.)|[^'\\\n])*')"
    rb"|(?P<name>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<newline>\n)|(?P<other>[=~<>]=|\.{2,3}|[^\s])"
)
_WORDS = b"and break do else elseif end for function goto if in local not or repeat return then until while"
_GRAMMAR = Grammar(b"=", (b":", b"."), frozenset(_WORDS.split()))
_SETTING = re.compile(r"(?:add|set)_(\w+)")


class Setting(NamedTuple):
    """`add_links("a")`, or `target:add("links", "a")`: the name `links`, where it is written, and what it gets."""

    group: Group
    name: str
    place: Piece
    arguments: Sequence[Argument]


class LuaFile:
    """A file, read. Everything is found when it is first asked for."""

    def __init__(self, data: bytes) -> None:
        self.pieces = [_piece(match) for match in _TOKEN.finditer(data)]

    @cached_property
    def groups(self) -> Sequence[Group]:
        """All calls, tables and other brackets that fit together, outer ones first."""
        found = [*groups_of(self.pieces, _GRAMMAR), *_without_brackets(self.pieces)]
        return sorted(found, key=lambda group: group.opening.start)

    @cached_property
    def settings(self) -> Sequence[Setting]:
        """The calls that set something, in order."""
        return [setting for group in self.groups if (setting := _setting(group)) is not None]

    def table(self, argument: Argument) -> Group | None:
        """The table that an argument is."""
        start = argument.pieces[0].start
        return next((group for group in self.groups if group.opening.start == start and _is_table(group)), None)


def _is_table(group: Group) -> bool:
    return group.opening.text == b"{" and group.name is None


def _setting(group: Group) -> Setting | None:
    match = _SETTING.fullmatch(group.called)
    if match is not None and group.name is not None and group.receiver is None:
        return Setting(group, match.group(1), group.name, group.arguments)
    first = group.arguments[0].string if group.arguments else None
    if group.called in ("add", "set") and group.receiver is not None and first is not None and first.content:
        return Setting(group, first.content.decode("utf-8", "replace"), first, group.arguments[1:])
    return None


def _without_brackets(pieces: Sequence[Piece]) -> Iterator[Group]:
    """`add_files "a.cu"`: one string needs no brackets."""
    code = [piece for piece in pieces if piece.kind != "comment"]
    for name, string in pairwise(code):
        if name.kind == "name" and string.kind == "string" and name.text not in _GRAMMAR.words:
            yield Group(string, name, end=string.end, arguments=[Argument(None, [string])])


def _piece(match: re.Match[bytes]) -> Piece:
    kind, text = match.lastgroup or "other", match.group()
    if kind != "string":
        return Piece(kind, *match.span(), text)
    quotes = 2 + len(match.group("q")) if match.group("q") is not None else 1
    return Piece(kind, *match.span(), text, quotes, quotes, b"\\" not in text or quotes > 1)
