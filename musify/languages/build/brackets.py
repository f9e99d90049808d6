"""Brackets of a small language and what is in them: calls and lists with their arguments.

Meson and Lua (xmake) say with them all that a rule asks. Brackets that do not fit together are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from musify.languages.build.facts import cuda_words
from musify.languages.build.flags import FlagWord
from musify.languages.build.unit import Token, TokenKind
from musify.model import Finding, Severity, Span

_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
_KINDS = {"comment": TokenKind.COMMENT, "string": TokenKind.STRING, "name": TokenKind.NAME}


class Piece(NamedTuple):
    """A token: `kind` is comment, string, name, number, newline or other; `text` are its bytes.

    `head` and `tail` are how many bytes of a string are quotes at either end. `verbatim`: it says what stands in it,
    without escapes and without places for values.
    """

    kind: str
    start: int
    end: int
    text: bytes
    head: int = 0
    tail: int = 0
    verbatim: bool = False

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(self.start, self.end)

    @property
    def inner(self) -> Span:
        """The bytes between the quotes of a string."""
        return Span(self.start + self.head, self.end - self.tail)

    @property
    def content(self) -> bytes | None:
        """What a string says; None for other tokens, and where it is not verbatim."""
        return self.text[self.head : len(self.text) - self.tail] if self.kind == "string" and self.verbatim else None


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
        """The argument as a word of a list of flags; what is no string, or has escapes, stands for itself."""
        span = Span(self.pieces[0].start, self.pieces[-1].end)
        string = self.string
        if string is None or b"\\" in string.text:
            return FlagWord(span, b"".join(piece.text for piece in self.pieces))
        return FlagWord(span, string.text[string.head : len(string.text) - string.tail])


@dataclass
class Group:
    """Brackets and what is in them. `name` is what is called or indexed, None for a list and the like.

    `receiver` is the object of a method, `target` the variable that the statement gives a value; `place` is the
    argument of `parent` that the group stands in.
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
    def called(self) -> str:
        """The name of the function or method, empty where it is no call."""
        return self.name.text.decode() if self.name is not None and self.opening.text != b"[" else ""

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


class Grammar(NamedTuple):
    """A language's sign after a keyword, its signs before a method, and its words that are no names of functions."""

    keyword: bytes
    methods: tuple[bytes, ...]
    words: frozenset[bytes]


def tokens_of(pieces: Sequence[Piece]) -> list[Token]:
    """The tokens as the common passes ask for them."""
    return [
        Token(_KINDS.get(piece.kind, TokenKind.OTHER), piece.start, piece.end)
        for piece in pieces
        if piece.kind != "newline"
    ]


def groups_of(pieces: Sequence[Piece], grammar: Grammar) -> list[Group]:
    """All brackets that fit together, outer ones first."""
    reader = _Reader([piece for piece in pieces if piece.kind != "comment"], grammar)
    return sorted(reader.groups(), key=lambda group: group.opening.start)


def own_names(pieces: Iterable[Piece], spoken: Sequence[Span]) -> Iterator[Finding]:
    """A note for each of these names that mentions CUDA, where nothing in `spoken` covers it: the project's own."""
    for piece in pieces:
        if cuda_words().search(piece.text) and not any(start <= piece.start < end for start, end in spoken):
            name = (piece.content or piece.text).decode("utf-8", "replace")
            yield Finding("MUS504", piece.span, name, severity=Severity.NOTE)


class _Reader:
    """Walks over the tokens with the brackets that are open."""

    def __init__(self, pieces: Sequence[Piece], grammar: Grammar) -> None:
        self._pieces = pieces
        self._grammar = grammar
        self._open: list[tuple[Group, list[list[Piece]]]] = []
        self._target: Piece | None = None

    def groups(self) -> Iterator[Group]:
        for index, piece in enumerate(self._pieces):
            if piece.kind == "newline":
                self._target = self._target if self._open else None
                continue
            if not self._open and piece.text in (b"=", b"+=") and index and self._pieces[index - 1].kind == "name":
                self._target = self._pieces[index - 1]
            yield from self._take(index, piece)

    def _take(self, index: int, piece: Piece) -> Iterator[Group]:
        is_comma = piece.text == b","
        closes = bool(self._open) and piece.text == _CLOSING[self._open[-1][0].opening.text]
        for _, parts in self._open[:-1] if is_comma or closes else self._open:
            parts[-1].append(piece)
        if piece.text in _CLOSING:
            group = self._opened(index)
            if self._open:
                group.parent, group.place = self._open[-1][0], len(self._open[-1][1]) - 1
            self._open.append((group, [[]]))
        elif is_comma and self._open:
            self._open[-1][1].append([])
        elif closes:
            group, parts = self._open.pop()
            group.end = piece.end
            group.arguments = [self._argument(part) for part in parts if part]
            yield group

    def _opened(self, index: int) -> Group:
        piece, before = self._pieces[index], self._pieces[index - 1] if index else None
        is_object = before is not None and (before.kind in ("name", "string") or before.text in (b")", b"]"))
        if before is None or not is_object or before.text in self._grammar.words:
            return Group(piece, target=self._target)
        receiver = self._pieces[index - 3] if index > 2 else None
        is_method = self._pieces[index - 2].text in self._grammar.methods if index > 1 else False
        named = receiver is not None and is_method and receiver.kind == "name"
        return Group(piece, before, receiver if named else None, self._target)

    def _argument(self, pieces: Sequence[Piece]) -> Argument:
        if len(pieces) > 2 and pieces[1].text == self._grammar.keyword and pieces[0].kind == "name":
            return Argument(pieces[0], pieces[2:])
        return Argument(None, pieces)
