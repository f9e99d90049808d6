"""What a compiler's view of a source can answer beyond its tokens. Given to a unit by the engine, where asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from musify.model import Span


class Declared(NamedTuple):
    """A declaration that a name in a source refers to.

    `path` and `line` (1-based) say where it stands: its definition where there is one, else its first declaration.
    `of_api`: it is in the headers of CUDA. `is_outer`: it is seen in the whole file from there on, being declared at
    file scope or as a macro. `is_conditional`: only some configurations see it. `may_repeat`: it may
    declare once more what the API declares.
    """

    path: str
    line: int
    of_api: bool
    is_outer: bool
    is_conditional: bool
    may_repeat: bool


class Semantics(Protocol):
    """Answers about one source. Spans are those of the source; what cannot be told is empty or None. Never raises."""

    def declarations(self, word: Span) -> Sequence[Declared]:
        """What the name at `word` refers to; several where an overloaded name could not be told apart."""

    def value(self, expression: Span) -> int | None:
        """The value of an integer expression. What rests on the hardware's warp size has none."""

    def size(self, name: Span) -> int | None:
        """Bytes that the variable declared at `name` takes."""
