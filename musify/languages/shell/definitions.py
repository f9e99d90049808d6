"""What a script hands to CMake: `-DCMAKE_CUDA_ARCHITECTURES=80` is the variable that the converted project asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from musify.languages.build.architectures import ARCHITECTURE_VALUE
from musify.languages.build.commands import Commands
from musify.languages.build.flags import FlagWord, flag_edits
from musify.languages.build.unit import BuildUnit
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


def name_edit(unit: BuildUnit, span: Span) -> Edit | None:
    """The edit for the name of a variable that CMake has for CUDA; None where the converted project has none."""
    known = facts.names("variable", unit.settings.cmake).get(unit.text(span))
    if known is None or not known.musa or (known.evidence is Evidence.NONE and unit.settings.unattested == "keep"):
        return None
    sure = Applicability.SAFE if known.evidence is not Evidence.NONE else Applicability.REVIEW
    return Edit(span, known.musa, CMAKE_DEFINITION, sure, known.cuda.decode(), "", known.evidence.value)


def value_results(commands: Commands, name: bytes, value: Span, *, quoted: bool) -> Iterator[Edit | Finding]:
    """Edits and findings for what a variable is set to. `quoted`: a list needs no quotes of its own there."""
    if name == _ARCHITECTURES:
        yield from _architectures(commands, value, quoted=quoted)
        return
    inner = words_in(commands.unit.data, value)
    if compiler_index([item.text for item in inner], commands.variables) is not None:
        yield from commands.compilation(inner)
    elif b"FLAGS" in name:
        yield from flag_edits(commands.unit, inner, commands.form)


def _definition(commands: Commands, match: re.Match[bytes], word: Span, in_text: bool) -> Iterator[Edit | Finding]:
    edit = name_edit(commands.unit, Span(*match.span(1)))
    if edit is None:
        return
    yield edit
    quoted = commands.unit.text(word)[:1] in (b'"', b"'")
    value = Span(match.end(), word.end - quoted)
    yield from value_results(commands, match.group(1), value, quoted=quoted or in_text)


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
    quote = own or (_free_quote(data, value.start) if len(names) > 1 and not quoted else b"")
    new = quote + b";".join(names) + quote
    shown = text.decode("utf-8", "replace")
    yield Edit(value, new, ARCHITECTURE_VALUE, Applicability.REVIEW, shown, "", "code")


def _free_quote(data: bytes, offset: int) -> bytes:
    """Quotes that do not end the text which the command itself may stand in."""
    before = data[data.rfind(b"\n", 0, offset) + 1 : offset]
    return b"'" if before.count(b'"') % 2 else b'"'
