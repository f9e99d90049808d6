"""One C, C++ or CUDA source on its way through the rules."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from musify.languages.cuda.references import Neighbours, neighbours
from musify.languages.semantics import Semantics
from musify.languages.surroundings import Settings, Surroundings
from musify.model import Span
from musify.rules.book import RuleBook
from musify.rules.model import Library
from musify.source import syntax
from musify.source.conditions import Conditionals
from musify.source.outline import Outline
from musify.source.words import Hits

if TYPE_CHECKING:
    from tree_sitter import Node


class Unit:
    """A source, its outline, and what the rules and the run know. Everything costly is made on first use."""

    def __init__(
        self,
        data: bytes,
        book: RuleBook,
        settings: Settings | None = None,
        surroundings: Surroundings | None = None,
        *,
        hits: Hits | None = None,
        semantics: Semantics | None = None,
    ) -> None:
        self.data = data
        self.book = book
        self.settings = settings or Settings()
        self.surroundings = surroundings or Surroundings()
        self.semantics = semantics
        self.outline = Outline(data)
        self._hits = hits or book.words().find(data)
        self._neighbours: dict[int, Neighbours] = {}
        self._mentioned: dict[str, bool] = {}

    @cached_property
    def words(self) -> list[Span]:
        """Every identifier in code that a rule may care about."""
        return self._parted[0]

    @property
    def words_elsewhere(self) -> list[Span]:
        """The same words in comments, literals and #include paths."""
        return self._parted[1]

    @cached_property
    def names(self) -> frozenset[bytes]:
        """The texts of `words`, each once."""
        return frozenset(self.data[start:end] for start, end in self.words)

    @property
    def marks(self) -> frozenset[bytes]:
        """The marks and the triggers of checks that the source holds."""
        return self._hits.marks

    @cached_property
    def _parted(self) -> tuple[list[Span], list[Span]]:
        return self.outline.parted(self._hits.words)

    @cached_property
    def conditionals(self) -> Conditionals:
        """The #if groups."""
        return Conditionals(self.outline)

    @cached_property
    def tree(self) -> Node:
        """The syntax tree."""
        return syntax.parse(self.data)

    def neighbours(self, word: Span) -> Neighbours:
        """The tokens around `word`, looked up once."""
        known = self._neighbours.get(word.start)
        if known is None:
            known = self._neighbours[word.start] = neighbours(self.outline, word)
        return known

    def mentions(self, library: Library) -> bool:
        """Whether the names of a library count here: the source holds a text that they need, or includes a header."""
        known = self._mentioned.get(library.id)
        if known is None:
            included = not library.needs or library.id in self.surroundings.libraries
            known = included or _any_of(library.needs).search(self.data) is not None
            self._mentioned[library.id] = known
        return known

    def text(self, span: Span) -> bytes:
        """The bytes of `span`."""
        return self.data[span.start : span.end]


@lru_cache(maxsize=8)
def _any_of(texts: tuple[bytes, ...]) -> re.Pattern[bytes]:
    """Finds one of the texts where no word goes on into it: `at::` not in `Format::`."""
    return re.compile(rb"(?<!\w)(?:" + b"|".join(map(re.escape, texts)) + rb")")
