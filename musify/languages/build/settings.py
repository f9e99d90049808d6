"""Settings by key: a device (`device: cuda`) or backend (`"backend": "nccl"`), in configurations and among options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple

from musify.languages.build.facts import named
from musify.languages.build.flags import FlagWord
from musify.languages.build.leftovers import cuda_words_in
from musify.languages.python.pytorch import facts
from musify.model import Applicability, Edit, Finding, Span
from musify.rules.shipped import shipped_tables

SETTING = "device-setting"
_DEVICE = re.compile(rb"[a-z]+(?::\d+)?(?:,[ \t]*(?:[a-z]+:)?\d+|,[ \t]*[a-z]+(?::\d+)?)*")
_BACKEND = re.compile(rb"[a-z]+(?::[a-z]+)?(?:,[a-z]+:[a-z]+)*")
_OPTION = re.compile(
    rb"(?P<key>--?[A-Za-z][\w.-]*|[+~]{0,2}[A-Za-z_][\w./@-]*)=(?P<quote>[\"']?)(?P<value>[\w:,]+)(?P=quote)"
)
_FLAG = re.compile(rb"--?[A-Za-z][\w.-]*")
# Three words of letters in a row, as sentences have them.
_SENTENCE = re.compile(rb"(?:^|[\s(\"'`*])[A-Za-z][a-z'-]*[,:]?\s+[A-Za-z]+[a-z']*[,:]?\s+[a-zA-Z0-9`'\"({%<-]")


class Stays(NamedTuple):
    """A value that stays under a key, and why."""

    value: bytes
    arguments: Mapping[str, str]


def value_results(key: bytes, value: bytes, start: int) -> Iterator[Edit | Finding]:
    """Edits and findings for a value that stands at offset `start` of the file as it is, under a key."""
    name = _last_part(key)
    span = Span(start, start + len(value))
    shown = f"{key.decode('utf-8', 'replace')}: {value.decode('utf-8', 'replace')}"
    for stays in _stays().get(name.lower().replace("-", "_"), ()):
        if value == stays.value:
            yield Finding("MUS561", span, shown, stays.arguments)
            return
    words = _words(name, value)
    for cuda, musa in words.items():
        for match in re.finditer(rb"(?<![\w-])" + re.escape(cuda) + rb"(?![\w-])", value):
            place = Span(start + match.start(), start + match.end())
            yield Edit(place, musa, SETTING, Applicability.REVIEW, cuda.decode(), "torch", "documented")
            yield Finding("MUS560", span, shown)


def option_results(data: bytes, words: Sequence[FlagWord]) -> Iterator[Edit | Finding]:
    """Edits and findings for options of a command: `--device cuda`, `--backend=nccl`, `trainer.device=cuda:0`."""
    for word, following in zip_longest(words, words[1:]):
        match = _OPTION.fullmatch(word.text)
        if match:
            yield from _at(data, match.group("key"), match.group("value"), word.span)
        elif following is not None and _FLAG.fullmatch(word.text):
            yield from _at(data, word.text, following.text, following.span)


def is_sentence(text: bytes) -> bool:
    """Whether a text is for people."""
    return _SENTENCE.search(text) is not None


def text_findings(data: bytes, span: Span) -> Iterator[Finding]:
    """A note for each CUDA word in text for people."""
    for word in cuda_words_in(data, span):
        yield Finding("MUS546", word, data[slice(*word)].decode("utf-8", "replace"))


def key_findings(data: bytes, span: Span) -> Iterator[Finding]:
    """A finding for a key that speaks of CUDA: the program that reads it knows it by this name."""
    key = data[slice(*span)]
    if key in named("variable") or next(cuda_words_in(data, span), None) is None:
        return
    shown = key.decode("utf-8", "replace")
    why = next((why for begins, why in _kept_keys().items() if key.startswith(begins)), None)
    yield Finding("MUS562", span, shown) if why is None else Finding("MUS561", span, shown, why)


def _at(data: bytes, key: bytes, value: bytes, span: Span) -> Iterator[Edit | Finding]:
    start = data.rfind(value, *span)
    if start >= 0:
        yield from value_results(key.lstrip(b"-+~"), value, start)


def _words(name: str, value: bytes) -> Mapping[bytes, bytes]:
    """The words to change in a value under a key: of a device, of a backend, of both in a list of pairs."""
    device, backend = facts.words()
    if _is_key(name, device, "device") and _DEVICE.fullmatch(value):
        return {device.cuda: device.musa}
    if _is_key(name, backend, "backend") and _BACKEND.fullmatch(value):
        both = b":" in value
        return {word.cuda: word.musa for word in ((device, backend) if both else (backend,))}
    return {}


def _is_key(name: str, word: facts.Word, kind: str) -> bool:
    plain = name.lower().replace("-", "_")
    return word.is_name(name) or plain in word.keywords or plain in _more_keys(kind)


def _last_part(key: bytes) -> str:
    return re.split(rb"[./]", key.strip(b"-+~ "))[-1].decode("utf-8", "replace")


@cache
def _more_keys(kind: str) -> frozenset[str]:
    return frozenset(_table()["keys"][kind].split())


@cache
def _stays() -> Mapping[str, tuple[Stays, ...]]:
    found: dict[str, tuple[Stays, ...]] = {}
    for table in _table()["stays"]:
        arguments = {key: table[key] for key in ("why", "why_zh")}
        values = tuple(Stays(value.encode(), arguments) for value in table["values"].split())
        for key in table["keys"].split():
            found[key] = (*found.get(key, ()), *values)
    return found


@cache
def _kept_keys() -> Mapping[bytes, Mapping[str, str]]:
    return {table["begins"].encode(): {key: table[key] for key in ("why", "why_zh")} for table in _table()["key"]}


def _table() -> dict[str, Any]:
    return shipped_tables("build")["settings.toml"]
