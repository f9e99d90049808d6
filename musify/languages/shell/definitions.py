"""What a script hands to CMake: `-DCMAKE_CUDA_ARCHITECTURES=80` is the variable that the converted project asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from musify.languages.build.architectures import ARCHITECTURE_VALUE
from musify.languages.build.commands import Commands
from musify.languages.build.flags import FlagWord, flag_edits
from musify.languages.build.variables import compiler_index
from musify.languages.cmake import facts
from musify.languages.shell.quoting import words_in
from musify.model import Applicability, Edit, Evidence, Finding, Span

CMAKE_DEFINITION = "cmake-definition"
_DEFINITION = re.compile(rb"[\"']?(?:-D)?[\"']?([A-Za-z]\w*)(?::[A-Z]+)?=")
_ARCHITECTURES = b"CMAKE_CUDA_ARCHITECTURES"


def definition_results(
    commands: Commands, words: Sequence[FlagWord], *, in_text: bool = False
) -> Iterator[Edit | Finding]:
    """Edits and findings for the `-DNAME=VALUE` among words; others are passed over.

    `in_text`: the words stand in a quoted text already, where a list needs no quotes of its own.
    """
    previous = b""
    for word in words:
        if word.text.startswith(b"-DC") or previous == b"-D":
            match = _DEFINITION.match(commands.unit.data, *word.span)
            if match:
                yield from _definition(commands, match, word.span, in_text)
        previous = word.text


def _definition(commands: Commands, match: re.Match[bytes], word: Span, in_text: bool) -> Iterator[Edit | Finding]:
    unit = commands.unit
    known = facts.names("variable", unit.settings.cmake).get(match.group(1))
    if known is None or not known.musa or (known.evidence is Evidence.NONE and unit.settings.unattested == "keep"):
        return
    sure = Applicability.SAFE if known.evidence is not Evidence.NONE else Applicability.REVIEW
    name = known.cuda.decode()
    yield Edit(Span(*match.span(1)), known.musa, CMAKE_DEFINITION, sure, name, "", known.evidence.value)
    quoted = unit.text(word)[:1] in (b'"', b"'")
    value = Span(match.end(), word.end - quoted)
    if known.cuda == _ARCHITECTURES:
        yield from _architectures(commands, value, quoted=quoted or in_text)
        return
    inner = words_in(unit.data, value)
    if compiler_index([item.text for item in inner], commands.variables) is not None:
        yield from commands.compilation(inner)
    elif b"FLAGS" in known.cuda:
        yield from flag_edits(unit, inner, commands.form)


def _architectures(commands: Commands, value: Span, *, quoted: bool) -> Iterator[Edit | Finding]:
    data = commands.unit.data
    text = data[slice(*value)]
    own = text[:1] if text[:1] in (b'"', b"'") and text[-1:] == text[:1] else b""
    items = [item for item in text.strip(b"\"'").split(b";") if item]
    names = [name.encode() for name in commands.unit.settings.target.architectures]
    if not items or not all(facts.architecture().fullmatch(item) for item in items):
        shown = text.decode("utf-8", "replace")
        yield Finding("MUS524", value, shown, {"architectures": b";".join(names).decode()})
        return
    quote = own or (b'"' if len(names) > 1 and not quoted else b"")
    new = quote + b";".join(names) + quote
    shown = text.decode("utf-8", "replace")
    yield Edit(value, new, ARCHITECTURE_VALUE, Applicability.REVIEW, shown, "", "code")
