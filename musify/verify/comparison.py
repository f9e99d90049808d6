"""Where two preprocessed sources differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import NamedTuple

from musify.verify.preprocessed import Line, Same, keys

_Keys = list[tuple[bytes, ...]]


class Difference(NamedTuple):
    """Lines of the original that lines of the converted file do not equal; one of the two may be empty."""

    original: Sequence[Line]
    converted: Sequence[Line]

    def shown(self) -> tuple[str, str]:
        """The first tokens that differ, of both sides."""
        sides = [list(chain.from_iterable(line.tokens for line in side)) for side in self]
        start = next((i for i, (a, b) in enumerate(zip(*sides, strict=False)) if a != b), min(map(len, sides)))
        return _text(sides[0][start:]), _text(sides[1][start:])


def differences(original: list[Line], converted: list[Line], same: Same) -> list[Difference]:
    """The differences in order; empty where all tokens are the same."""
    old, new = keys(original, same), keys(converted, same)
    if old == new:
        return []
    return [
        Difference(original[a:b], converted[c:d])
        for a, b, c, d in _changed(old, new)
        if list(chain.from_iterable(old[a:b])) != list(chain.from_iterable(new[c:d]))
    ]


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
