"""Flags as CMake writes them: words in strings, in lists, and inside generator expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from musify.languages.build.flag_values import unquoted
from musify.languages.build.flags import FlagForm, FlagWord, flag_edits
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.names import renamed
from musify.languages.cmake.reader import Argument
from musify.languages.cmake.structure import whole_reference
from musify.model import Edit, Finding, Span
from musify.source import edits as applier

# The condition of an expression for device sources, and what else must hold.
_LANGUAGE = rb"\$<COMPILE_LANGUAGE:CUDA>|\$<COMPILE_LANG_AND_ID:CUDA,(?:\w+,)*NVIDIA(?:,\w+)*>"
_DEVICE = re.compile(_LANGUAGE)
_DEVICE_AND = re.compile(rb"\$<AND:(?:%s),(?P<rest>\$<.*>)>" % _LANGUAGE, re.S)
_AND_DEVICE = re.compile(rb"\$<AND:(?P<rest>\$<.*>),(?:%s)>" % _LANGUAGE, re.S)
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"', re.S)
_OPENING = {b"$<": b">", b"${": b"}"}
_QUOTES = (b'\\"', b"'")
_STOPS = (b" ", b"\t", b"\r", b"\n", b";", b'"', b"(", b")")
_ESCAPED_QUOTE = re.compile(rb'(?:\\\\)?\\"')
_NEEDS_QUOTES = re.compile(rb"[\s;()#]|(?<!\\)\"")
_PREFIXED = re.compile(rb"--offload-arch=mp_\$\{(\w+)\}")
_UNWRAPPED = ("-Xcompiler", "--compiler-options")
_STRINGS = re.compile(rb"CMAKE_(?:CXX|C)_FLAGS\w*")


class Kind(Enum):
    """How a text of flags is taken apart.

    STRING: one string of CMake's, split at blanks by whoever uses it. LIST: elements of a list, which FindCUDA splits
    at blanks too. COMMAND: words of a command line, of which one in quotes holds together.
    """

    STRING = "string"
    LIST = "list"
    COMMAND = "command"


class Word(NamedTuple):
    """A word of a text of flags, with the quotes that hold nothing else.

    `inner` is it without them; `body` what a generator expression `$<condition:body>` gives, where it is one.
    """

    span: Span
    inner: Span
    body: Span | None


class Rewritten(NamedTuple):
    """A text of flags with nvcc's replaced by mcc's, the edits that do it, and what is to be said."""

    text: bytes
    edits: list[Edit]
    findings: list[Finding]

    @property
    def words(self) -> list[bytes]:
        """Its words, as they are written in CMake, without the quotes around them."""
        return [self.text[word.inner.start : word.inner.end] for word in words(self.text, Span(0, len(self.text)))]


def words(data: bytes, within: Span, comments: Sequence[Span] = (), kind: Kind = Kind.LIST) -> list[Word]:
    """The words in a stretch of text: quotes of CMake, blanks and semicolons part them, expressions hold together.

    Quotes around one word are part of it, unless they are those of the string that all words are in.
    """
    found = []
    position = within.start
    skip = {span.start: span.end for span in comments if within.start <= span.start < within.end}
    while position < within.end:
        inner = _in_quotes(data, position, within.end, kind)
        if position in skip:
            position = skip[position]
        elif inner is not None:
            found.append(Word(Span(inner.start - 1, inner.end + 1), inner, _body(data, *inner)))
            position = inner.end + 1
        elif data[position] in b' \t\r\n;"()':
            position += 1
        else:
            span = Span(position, _word_end(data, position, within.end))
            found.append(Word(span, span, _body(data, *span)))
            position = span.end
    return found


def _in_quotes(data: bytes, position: int, limit: int, kind: Kind) -> Span | None:
    """The word between the quotes that begin at `position`; None where none do, or they hold several."""
    if kind is Kind.STRING or data[position : position + 1] != b'"':
        return None
    match = _QUOTED.match(data, position, limit)
    if match is None or not match.group(1):
        return None
    inner = Span(*match.span(1))
    return inner if kind is Kind.COMMAND or _is_word(data, inner) else None


def _is_word(data: bytes, span: Span) -> bool:
    """Whether nothing in a stretch of text parts words."""
    return data[span.start] not in b" \t\r\n;()" and _word_end(data, span.start, span.end) == span.end


def _word_end(data: bytes, position: int, limit: int) -> int:
    """Where a word ends: at what parts words, unless an expression, a reference or a quote of the shell is open."""
    closing: list[bytes] = []
    first_stop = limit
    for index in _steps(data, position, limit):
        two, one = data[index : index + 2], data[index : index + 1]
        mark = two if two == b'\\"' else one
        if two in _OPENING:
            closing.append(_OPENING[two])
        elif mark in _QUOTES:
            closing = closing[:-1] if closing and closing[-1] == mark else [*closing, mark]
        elif closing and one == closing[-1]:
            closing.pop()
        elif one in _STOPS:
            first_stop = min(first_stop, index)
            if not closing or (one == b'"' and b">" not in closing):
                return index
    return first_stop if closing else limit


def _steps(data: bytes, position: int, limit: int) -> Iterator[int]:
    """The offsets at which something can begin: not the second byte of an escape or of `$<` and `${`."""
    while position < limit:
        yield position
        position += 2 if data[position : position + 1] == b"\\" or data[position : position + 2] in _OPENING else 1


def _body(data: bytes, start: int, end: int) -> Span | None:
    """The body of an expression with a condition in angle brackets, `$<$<...>:body>`."""
    if data[start : start + 4] != b"$<$<" or data[end - 1 : end] != b">":
        return None
    depth = 0
    for match in re.finditer(rb"\$<|>|:", data[start + 2 : end - 1]):
        if match.group() == b":":
            if depth == 0:
                return Span(start + 2 + match.end(), end - 1)
        else:
            depth += 1 if match.group() == b"$<" else -1
    return None


def device_condition(data: bytes, word: Word) -> bytes | None:
    """What must hold beside the language for an expression that is for device sources: empty where nothing must.

    None where the word is no such expression.
    """
    if word.body is None:
        return None
    head = data[word.inner.start + 2 : word.body.start - 1]
    if _DEVICE.fullmatch(head):
        return b""
    match = _DEVICE_AND.fullmatch(head) or _AND_DEVICE.fullmatch(head)
    return match.group("rest") if match else None


def rewrite(
    file: CMakeFile, within: Span, kind: Kind = Kind.LIST, *, before: Sequence[Span] = (), host: bool = False
) -> Rewritten:
    """Replace nvcc's flags in a stretch of text, also inside the expressions in it.

    `before` are stretches whose flags come first in the same list, so that the architectures are written once.
    `host`: see FlagForm.
    """
    earlier = [word for span in before for word in flag_words(file.data, words(file.data, span, file.comments))]
    edits: list[Edit] = []
    findings: list[Finding] = []
    for flags, separator in _lists(file.data, within, file.comments, kind):
        for item in flag_edits(file.unit, [*earlier, *flags], FlagForm(separator, host=host)):
            if item.span.end <= within.start:
                continue
            if isinstance(item, Finding):
                findings.append(item)
            elif not any(edit.span.start < item.span.end and item.span.start < edit.span.end for edit in edits):
                edits.append(_apart(file.data, item)._replace(new_text=renamed(file, item.new_text)))
    edits, findings = _as_cmake_has_it(file, edits, findings, is_list=kind is Kind.LIST)
    return Rewritten(_applied(file.data, within, edits), edits, findings)


def _apart(data: bytes, edit: Edit) -> Edit:
    """Two arguments must not become one: where a word goes that began inside an argument, the blank after it stays."""
    start, end = edit.span
    if not edit.new_text and data[start - 1 : start] not in (b" ", b"\t", b"\n", b'"', b"("):
        while end > start and data[end - 1 : end] in (b" ", b"\t", b"\r", b"\n"):
            end -= 1
    return edit._replace(span=Span(start, end))


def _applied(data: bytes, within: Span, edits: Sequence[Edit]) -> bytes:
    """A stretch of text with edits made, of which the blanks around it may be part."""
    start = within.start
    moved = [
        edit._replace(span=Span(max(edit.span.start, start) - start, min(edit.span.end, within.end) - start))
        for edit in edits
    ]
    return applier.apply(data[start : within.end], moved)


def _as_cmake_has_it(
    file: CMakeFile, edits: list[Edit], findings: list[Finding], *, is_list: bool
) -> tuple[list[Edit], list[Finding]]:
    """What only CMake knows: variables of several words in one, and loops over architectures of MUSA's."""
    refused = set()
    for position, edit in enumerate(edits):
        match = _PREFIXED.search(edit.new_text)
        if match and file.holds_architectures(match.group(1)):
            edits[position] = edit._replace(new_text=edit.new_text.replace(b"mp_$", b"$"))
            findings = [item for item in findings if item.rule_id != "MUS524" or item.name != edit.name]
        if is_list and edit.name.startswith(_UNWRAPPED) and _whole_joined(file, edit.new_text):
            refused.add(edit.name)
            findings.append(Finding("MUS526", edit.span, edit.name))
    return [edit for edit in edits if edit.name not in refused], findings


def _whole_joined(file: CMakeFile, text: bytes) -> bool:
    """Whether a word is a variable that holds several words with blanks between them."""
    name = whole_reference(text)
    return name is not None and (name in file.run.joined or _STRINGS.fullmatch(name) is not None)


def _lists(data: bytes, within: Span, comments: Sequence[Span], kind: Kind) -> Iterator[tuple[list[FlagWord], bytes]]:
    """The lists of flags in a stretch of text, its own words and those of each expression, and what parts words."""
    own = words(data, within, comments, kind)
    separator = b" "
    if kind is Kind.LIST and (data[within.start - 1 : within.start] == b":" or b'"' in _between(data, within, own)):
        separator = b";"
    yield flag_words(data, own), separator
    for word in own:
        if word.body is not None:
            yield from _lists(data, word.body, comments, Kind.LIST)


def _between(data: bytes, within: Span, own: Sequence[Word]) -> bytes:
    """What stands around and between words."""
    ends = [within.start, *(word.span.end for word in own)]
    starts = [*(word.span.start for word in own), within.end]
    return b"".join(data[end:start] for end, start in zip(ends, starts, strict=True))


def flag_words(data: bytes, own: Sequence[Word]) -> list[FlagWord]:
    """Words as a shell hands them on."""
    return [FlagWord(word.span, _shell_text(data[word.inner.start : word.inner.end])) for word in own]


def _shell_text(raw: bytes) -> bytes:
    return unquoted(raw) if b'\\"' in raw or raw[:1] == b"'" else raw


def element(word: bytes) -> bytes:
    """A word of a string of flags as an element of a list: without the quotes that only a shell would take away."""
    return _ESCAPED_QUOTE.sub(lambda match: b'\\"' if match.group().startswith(b"\\\\") else b"", word)


def written(word: bytes) -> bytes:
    """A word as one argument of a command: in quotes where it needs them."""
    return b'"' + word + b'"' if _NEEDS_QUOTES.search(word) else word


def span_of(arguments: Sequence[Argument]) -> Span:
    """From the first argument to the last, which must exist."""
    return Span(arguments[0].start, arguments[-1].end)
