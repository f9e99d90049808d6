"""What a compiler's view of the source (see languages/semantics.py) says of names: the API's, or somebody else's."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from musify.languages.cuda.references import Scope, qualified_chain, scope_of
from musify.languages.cuda.unit import Unit
from musify.languages.semantics import Declared, Semantics
from musify.model import Span

_NOT_ASKED = frozenset({Scope.MEMBER, Scope.PASTED, Scope.LABEL})


class Verdict(NamedTuple):
    """Whether a name refers to a declaration of the API, and where else it is declared (`config.h:12`) if not."""

    of_api: bool
    place: str


class Resolution:
    """The verdicts on the names of one unit; none at all where no compiler was asked for."""

    def __init__(self, unit: Unit) -> None:
        self._verdicts: dict[int, Verdict] = {}
        # Names that the whole file sees declared: they are the project's also where the compiler does not look,
        # as in the other branches of #if and in macros.
        self._outer: dict[bytes, Verdict] = {}
        if unit.semantics is not None:
            for word, asked in _questions(unit):
                self._ask(unit.semantics, unit.text(word), word, asked)

    def of(self, name: bytes, word: Span, scope: Scope) -> Verdict | None:
        """The verdict on the name at `word`; None where there is none."""
        verdict = self._verdicts.get(word.start)
        if verdict is None and scope in (Scope.PLAIN, Scope.GLOBAL):
            return self._outer.get(name)
        return verdict

    def _ask(self, semantics: Semantics, name: bytes, word: Span, asked: Span) -> None:
        found = semantics.declarations(asked)
        if not found or len({item.of_api for item in found}) > 1 or any(map(_is_open, found)):
            return
        first = found[0]
        verdict = Verdict(first.of_api, f"{posixpath.basename(first.path)}:{first.line}")
        self._verdicts[word.start] = verdict
        if first.is_outer and not first.of_api and word == asked:
            self._outer[name] = verdict


def _questions(unit: Unit) -> Iterator[tuple[Span, Span]]:
    """The words of which it matters whose they are, with the place to ask about: for `cuda::name` that of `name`."""
    book = unit.book
    heads = book.namespace_heads
    for word in unit.words:
        name = unit.text(word)
        rule = book.name(name)
        matters = book.looks_like_cuda(name) if rule is None else rule.matters
        if name in heads:
            chain = qualified_chain(unit.outline, word)
            if len(chain) > 1:
                yield word, chain[1]
        elif matters and scope_of(unit.outline, unit.neighbours(word)) not in _NOT_ASKED:
            yield word, word


def _is_open(item: Declared) -> bool:
    """Whether a declaration leaves it open whose the name is: in another configuration it may be the API's."""
    return not item.of_api and (item.is_conditional or item.may_repeat)
