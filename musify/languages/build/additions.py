"""Words that nvcc does without and mcc needs in a command: the runtime library, the language of .cu files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from musify.languages.build.flags import FlagForm, FlagWord
from musify.languages.build.unit import BuildUnit
from musify.languages.build.variables import Variables
from musify.model import Applicability, Edit, Finding, Severity, Span
from musify.rules.shipped import shipped_tables

ADDED_WORD = "added-word"
# Ends of words that are sources and objects, also of a name with a substitution in it.
_SOURCES = (b".cu", b".cu)", b".cu}")
_HOST_SOURCE = re.compile(rb"\.(?:cu|c|cc|cpp|cxx|C)[)}]?\Z")
_OBJECTS = (b".o", b".o)", b".obj", b".a", b".so")


@dataclass
class Additions:
    """What is added to one command; the fields are those of `commands.Commands`."""

    unit: BuildUnit
    variables: Variables
    inputs: Sequence[bytes]
    form: FlagForm

    def results(self, words: Sequence[FlagWord]) -> Iterator[Edit | Finding]:
        """Edits and findings for the words behind the compiler."""
        given = [list(self.variables.expanded(self._inputs_of(word.text))) for word in words]
        yield from self._runtime(words, [text for texts in given for text in texts])
        if self.unit.surroundings.keeps_names:
            yield from self._language(words, given)
        yield from self._late_language(words, given)

    def _inputs_of(self, word: bytes) -> Sequence[bytes]:
        automatic = word.replace(b"$$", b"$")
        return {b"$<": self.inputs[:1], b"$^": self.inputs, b"$+": self.inputs}.get(automatic, (word,))

    def _runtime(self, words: Sequence[FlagWord], given: Sequence[bytes]) -> Iterator[Edit | Finding]:
        """nvcc links the runtime by itself."""
        facts = _facts()
        inputs = any(not word.text.startswith(b"-") for word in words)
        if not inputs or any(text.partition(b"=")[0] in facts["without"] or text in facts["named"] for text in given):
            return
        yield self._behind(words[-1].span, facts["runtime"])
        yield Finding("MUS531", words[-1].span, facts["runtime"].decode(), severity=Severity.NOTE)

    def _language(self, words: Sequence[FlagWord], given: Sequence[Sequence[bytes]]) -> Iterator[Edit | Finding]:
        """A .cu file that keeps its name is CUDA's to mcc unless it is told otherwise; objects behind it are none."""
        sources = [index for index, texts in enumerate(given) if any(text.endswith(_SOURCES) for text in texts)]
        everything = [text for texts in given for text in texts]
        if not sources or any(text.startswith((b"-x", b"--x")) for text in everything):
            return
        language, reset = _facts()["language"], _facts()["reset"]
        span = words[sources[0]].span
        before = self.form.separator.join(self._written(word, span) for word in language.split(b" "))
        yield self._edit(span.start, before + self.form.separator)
        if any(text.endswith(_OBJECTS) for text in everything):
            yield self._behind(words[sources[-1]].span, reset)
        yield Finding("MUS535", span, language.decode(), severity=Severity.NOTE)

    def _late_language(self, words: Sequence[FlagWord], given: Sequence[Sequence[bytes]]) -> Iterator[Edit | Finding]:
        """`nvcc a.cpp -x cu`: nvcc asks for all files, mcc only for those behind the flag."""
        language = next((index for index, texts in enumerate(given) if texts and texts[0] in (b"-x", b"--x")), None)
        first = next(
            (index for index, texts in enumerate(given) if any(_HOST_SOURCE.search(text) for text in texts)), None
        )
        following = given[language + 1] if language is not None and language + 1 < len(given) else ()
        if language is None or first is None or first > language or list(following) != [b"cu"]:
            return
        word, span = _facts()["language"], words[first].span
        before = self.form.separator.join(self._written(part, span) for part in word.split(b" "))
        yield self._edit(span.start, before + self.form.separator)
        yield Finding("MUS536", span, word.decode(), severity=Severity.NOTE)

    def _behind(self, span: Span, text: bytes) -> Edit:
        words = [self._written(word, span) for word in text.split(b" ")]
        return self._edit(span.end, b"".join(self.form.separator + word for word in words))

    def _edit(self, offset: int, text: bytes) -> Edit:
        shown = text.strip().decode("utf-8", "replace")
        return Edit(Span(offset, offset), text, ADDED_WORD, Applicability.REVIEW, shown, "", _facts()["evidence"])

    def _written(self, text: bytes, neighbour: Span) -> bytes:
        """A word as it is written beside another one."""
        quote = self.unit.data[neighbour.start : neighbour.start + 1] if self.form.quoted else b""
        return quote + text + quote


@cache
def _facts() -> dict[str, Any]:
    table = shipped_tables("build")["flags.toml"]["linking"]
    return {
        "runtime": table["runtime"].encode(),
        "language": table["language"].encode(),
        "reset": table["reset"].encode(),
        "evidence": table["evidence"],
        "named": frozenset(table["named"].encode().split()),
        "without": frozenset(table["without"].encode().split()),
    }
