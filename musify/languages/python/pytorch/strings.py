"""Strings that name a device (`"cuda:0"`) or a backend of torch.distributed (`"nccl"`), and no other strings.

Where a string stands decides (see places.py). What stands elsewhere is text, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.python.pytorch import facts
from musify.languages.python.pytorch.holders import Holders
from musify.languages.python.pytorch.places import Place
from musify.languages.python.strings import prefix_of
from musify.model import Applicability, Edit, Finding

if TYPE_CHECKING:
    from musify.languages.python.module import PythonModule
    from musify.languages.python.strings import StringLiteral

DEVICE_STRING = "torch-device-string"
_INDEX = rb"(?::(?:\d*|\{[^{}]*\}|%[ds]))?"
# `cuda:0` and f"cuda:{rank}" are hardly ever anything but devices, wherever they stand.
_WITH_INDEX = re.compile(rb"cuda:(?:\d+|\{[^{}]*\}|%[ds])")
# Several devices with a backend each, as init_process_group takes them.
_BACKENDS = re.compile(rb"[a-z]+:[a-z]+(?:,[a-z]+:[a-z]+)*")


def find_strings(module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits for every string that names a device or a backend; a finding for those that only seem to."""
    holders = [Holders(module, word) for word in facts.words()]
    for literal in module.strings:
        written = module.data[literal.span.start : literal.span.end]
        if any(word.cuda in written for word in facts.words()) and b"b" not in prefix_of(literal.pieces[0]):
            yield from _found(holders, literal)


def _found(holders: list[Holders], literal: StringLiteral) -> Iterator[Edit | Finding]:
    fitting = [item for item in holders if _fits(literal.text, item.word)]
    verdicts = [Place(item, literal.node, literal.text).verdict for item in fitting]
    surest = next((item for item in (Applicability.SAFE, Applicability.REVIEW) if item in verdicts), None)
    verdict = surest or _by_form(literal.text)
    if fitting and verdict is not None:
        yield from _edits(literal, verdict)
        if verdict is Applicability.REVIEW:
            yield Finding("MUS605", literal.span, literal.text.decode("utf-8", "replace"))


def _fits(text: bytes, word: facts.Word) -> bool:
    if re.fullmatch(re.escape(word.cuda) + _INDEX, text):
        return True
    return word.cuda in text and _BACKENDS.fullmatch(text) is not None


def _by_form(text: bytes) -> Applicability | None:
    """What the form of a text says, wherever it stands."""
    pairs = _BACKENDS.fullmatch(text) is not None and all(word.cuda in text for word in facts.words())
    return Applicability.REVIEW if pairs or _WITH_INDEX.fullmatch(text) else None


def _edits(literal: StringLiteral, applicability: Applicability) -> Iterator[Edit]:
    """Edits for each device and backend in a literal."""
    for word in facts.words():
        for match in re.finditer(rb"\b" + re.escape(word.cuda) + rb"\b", literal.text):
            written = not any(hole.start <= match.start() < hole.end for hole in literal.holes)
            place = literal.locate(*match.span()) if written else None
            if place is not None:
                name = word.cuda.decode()
                yield Edit(place, word.musa, DEVICE_STRING, applicability, name, "torch", "documented")
