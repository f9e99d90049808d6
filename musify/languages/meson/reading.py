"""Meson's files without loss: tokens, and the brackets that they stand in, as calls and lists with their arguments.

No wheel of a grammar for Meson was found. The language is small: comments, strings, names, brackets, commas and colons
say all that a rule asks. Brackets that do not fit together are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from musify.languages.build.flags import FlagWord
from musify.model import Span

_TOKEN = re.compile(
    rb"(?P<comment>#[^\n]*)|(?P<string>f?'''(?s:.*?)'''|f?'(?:\\.|[^'\\\n])*')|(?P<name>[A-Za-z_]\w*)|(?P<number>\d\w*)"
    rb"|(?P<newline>\n)|(?P<other>[=!<>+*/%-]=|[^\s])"
)
_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
_KEYWORDS = frozenset(b"if elif foreach in not and or".split())


class Piece(NamedTuple):
    """A token: `kind` is comment, string, name, number, newline or other; `text` are its bytes."""

    kind: str
    start: int
    end: int
    text: bytes

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(self.start, self.end)

    @property
    def content(self) -> bytes | None:
        """What a string says; None for other tokens, and where escapes or places for values stand in it."""
        if self.kind != "string" or self.text.startswith(b"f") or b"\\" in self.text:
            return None
        quotes = 3 if self.text.startswith(b"'''") else 1
        return self.text[quotes:-quotes]

    @property
    def inner(self) -> Span:
        """The bytes between the quotes of a string."""
        quotes = 3 if self.text.removeprefix(b"f").startswith(b"'''") else 1
        return Span(self.start + quotes + self.text.startswith(b"f"), self.end - quotes)


class Argument(NamedTuple):
    """An argument or element: the keyword before its colon (None for a positional one), and its tokens."""

    keyword: Piece | None
    pieces: Sequence[Piece]

    @property
    def string(self) -> Piece | None:
        """The string that it is, where it is nothing else."""
        return self.pieces[0] if len(self.pieces) == 1 and self.pieces[0].kind == "string" else None

    @property
    def word(self) -> FlagWord:
        """The argument as a word of a list of flags; what is no string stands for itself."""
        span = Span(self.pieces[0].start, self.pieces[-1].end)
        if self.string is None or b"\\" in self.string.text:
            return FlagWord(span, b"".join(piece.text for piece in self.pieces))
        inner = self.string.inner
        return FlagWord(span, self.string.text[inner.start - span.start : inner.end - span.start])


@dataclass
class Group:
    """Brackets and what is in them. `name` is what is called, None for a list, a dictionary or brackets of arithmetic.

    `receiver` is the object of a method; `place` is the argument of `parent` that the group stands in.
    """

    opening: Piece
    name: Piece | None = None
    receiver: Piece | None = None
    target: Piece | None = None
    parent: Group | None = None
    place: int = 0
    end: int = 0
    arguments: list[Argument] = field(default_factory=list)

    @property
    def is_list(self) -> bool:
        """Whether it is a list; an index is none."""
        return self.opening.text == b"[" and self.name is None

    @property
    def called(self) -> str:
        """The name of the function or method, empty where it is no call."""
        return self.name.text.decode() if self.name is not None and self.opening.text == b"(" else ""

    @property
    def span(self) -> Span:
        """From the name of the function to the closing bracket."""
        return Span((self.name or self.opening).start, self.end)

    @property
    def positional(self) -> list[Argument]:
        """The arguments without a keyword."""
        return [argument for argument in self.arguments if argument.keyword is None]

    def argument(self, keyword: bytes) -> Argument | None:
        """The argument with a keyword."""
        return next((item for item in self.arguments if item.keyword and item.keyword.text == keyword), None)

    def around(self) -> Iterator[bytes]:
        """Keywords, functions, objects and the variable that the group belongs to, the nearest first."""
        group: Group | None = self
        while group is not None:
            yield from (piece.text for piece in (group.name, group.receiver) if piece is not None)
            if group.parent is None:
                if group.target is not None:
                    yield group.target.text
                return
            inside = group.parent.arguments[group.place : group.place + 1]  # none, where brackets do not fit
            yield from (item.keyword.text for item in inside if item.keyword is not None)
            group = group.parent


class MesonFile:
    """A file, read. Everything is found when it is first asked for."""

    def __init__(self, data: bytes) -> None:
        self.pieces = [
            Piece(match.lastgroup or "other", *match.span(), match.group()) for match in _TOKEN.finditer(data)
        ]

    @cached_property
    def groups(self) -> Sequence[Group]:
        """All brackets that fit together, outer ones first."""
        found = list(_groups([piece for piece in self.pieces if piece.kind != "comment"]))
        return sorted(found, key=lambda group: group.opening.start)


def _groups(pieces: Sequence[Piece]) -> Iterator[Group]:
    """Walk over the tokens with the brackets that are open; a bracket is complete when its partner comes."""
    open_groups: list[tuple[Group, list[list[Piece]]]] = []
    target: Piece | None = None
    for index, piece in enumerate(pieces):
        if piece.kind == "newline":
            target = None if not open_groups else target
            continue
        if not open_groups and piece.text in (b"=", b"+=") and index and pieces[index - 1].kind == "name":
            target = pieces[index - 1]
        for _, parts in open_groups:
            parts[-1].append(piece)
        if piece.text in _CLOSING:
            group = _opened(pieces, index, target)
            if open_groups:
                group.parent, group.place = open_groups[-1][0], len(open_groups[-1][1]) - 1
            open_groups.append((group, [[]]))
        elif open_groups and piece.text == b",":
            open_groups[-1][1][-1].pop()
            open_groups[-1][1].append([])
        elif open_groups and piece.text == _CLOSING[open_groups[-1][0].opening.text]:
            group, parts = open_groups.pop()
            group.end = piece.end
            parts[-1].pop()
            group.arguments = [_argument(part) for part in parts if part]
            yield group


def _opened(pieces: Sequence[Piece], index: int, target: Piece | None) -> Group:
    before = pieces[index - 1] if index else None
    is_object = before is not None and (before.kind in ("name", "string") or before.text in (b")", b"]"))
    if before is None or not is_object or before.text in _KEYWORDS:
        return Group(pieces[index], target=target)
    receiver = pieces[index - 3] if index > 2 and pieces[index - 2].text == b"." else None
    is_name = receiver is not None and receiver.kind == "name"
    return Group(pieces[index], before, receiver if is_name else None, target)


def _argument(pieces: Sequence[Piece]) -> Argument:
    if len(pieces) > 2 and pieces[1].text == b":" and pieces[0].kind == "name":
        return Argument(pieces[0], pieces[2:])
    return Argument(None, pieces)
