"""Where two preprocessed sources differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import NamedTuple

from musify.verify.preprocessed import Line, Same, keys

_Keys = list[tuple[bytes, ...]]


class Difference(NamedTuple):
    """Lines of the original that lines of the converted file do not equal; one of the two may be empty.

    `old` and `new` show the first tokens that differ.
    """

    original: Sequence[Line]
    converted: Sequence[Line]
    old: str
    new: str


def differences(original: list[Line], converted: list[Line], same: Same) -> list[Difference]:
    """The differences in order; empty where all tokens are the same."""
    old, new = keys(original, same), keys(converted, same)
    if old == new:
        return []
    found = (_difference(original[a:b], converted[c:d], old[a:b], new[c:d]) for a, b, c, d in _changed(old, new))
    return [item for item in found if item is not None]


def _difference(original: list[Line], converted: list[Line], old: _Keys, new: _Keys) -> Difference | None:
    """None where the tokens are the same and only stand on other lines."""
    keys_old, keys_new = list(chain.from_iterable(old)), list(chain.from_iterable(new))
    if keys_old == keys_new:
        return None
    start = next(
        (i for i, (a, b) in enumerate(zip(keys_old, keys_new, strict=False)) if a != b),
        min(len(keys_old), len(keys_new)),
    )
    sides = [list(chain.from_iterable(line.tokens for line in side))[start:] for side in (original, converted)]
    return Difference(original, converted, _text(sides[0]), _text(sides[1]))


def _changed(old: _Keys, new: _Keys) -> Iterator[tuple[int, int, int, int]]:
    """Blocks of lines that are not equal: where they start and end on both sides."""
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    matcher = SequenceMatcher(None, old[first : len(old) - last], new[first : len(new) - last], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield first + a, first + b, first + c, first + d


def _common(old: _Keys, new: _Keys) -> int:
    return next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _text(tokens: list[bytes], limit: int = 60) -> str:
    text = b" ".join(tokens[:12]).decode("utf-8", "replace")
    return text if len(text) <= limit else text[:limit] + "..."
