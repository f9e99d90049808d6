"""Namespaces that are known by their whole name: `at::cuda`, and whose members are a library's."""

from __future__ import annotations

from typing import NamedTuple

from musify.languages.cuda.references import is_identifier, qualified_chain
from musify.languages.cuda.unit import Unit
from musify.model import Span
from musify.rules.model import Library, NameRule

_MOST_QUALIFIERS = 16
_NO_QUALIFIERS = frozenset({b"return", b"else", b"case", b"using", b"new", b"delete", b"throw", b"namespace"})


class OwnedName(NamedTuple):
    """A namespace that follows, and what is named behind it: the member's place, empty where nothing is."""

    whole: bytes
    target: bytes
    library: Library
    member: Span
    rule: NameRule | None


def qualifiers(unit: Unit, word: Span) -> list[Span]:
    """The names before a qualified one, outermost first: `a` and `b` for `a::b::word`."""
    found: list[Span] = []
    place = word
    while unit.text(colons := unit.outline.before(place.start)) == b"::" and len(found) < _MOST_QUALIFIERS:
        place = unit.outline.before(colons.start)
        if not is_identifier(unit.text(place)) or unit.text(place) in _NO_QUALIFIERS:
            break
        found.append(place)
    return found[::-1]


def is_owned(unit: Unit, word: Span, library: Library) -> bool:
    """Whether a qualified name lies in a namespace of the library's."""
    names = [unit.text(place) for place in qualifiers(unit, word)]
    if not names:
        return False
    spaces = {b"::".join(names[: end + 1]) for end in range(len(names))}
    return names[-1] in library.owners or any(old in spaces for old, _ in library.owner_map)


def owned_name(unit: Unit, word: Span) -> OwnedName | None:
    """The namespace whose last part stands at `word`, if it is one that follows."""
    before = qualifiers(unit, word)
    chain = qualified_chain(unit.outline, word)
    rules = [unit.book.name(unit.text(part)) for part in chain[1:]]
    rule = next((rule for rule in rules if rule is not None), None)
    whole = unit.text(word)
    known = unit.book.owners.get(b"::".join([unit.text(before[-1]), whole])) if before else _nested(unit, whole, rule)
    if known is None:
        return None
    member = chain[1] if len(chain) > 1 else Span(word.end, word.end)
    return OwnedName(b"::".join([*map(unit.text, before[-1:]), whole]), *known, member, rule)


def _nested(unit: Unit, name: bytes, rule: NameRule | None) -> tuple[bytes, Library] | None:
    """`cuda::getCurrentCUDAStream` after `using namespace at`: the member says whose the namespace is."""
    if rule is None or not unit.mentions(rule.library):
        return None
    library = rule.library
    fits = (new for old, new in library.owner_map if old.rpartition(b"::")[2] == name and name in library.owners)
    return next(((new, library) for new in fits), None)


def whole_place(unit: Unit, word: Span) -> Span:
    """The place of a qualified name with all before it, a leading `::` included."""
    before = qualifiers(unit, word)
    start = before[0].start if before else word.start
    colons = unit.outline.before(start)
    return Span(colons.start if unit.text(colons) == b"::" else start, word.end)
