"""Whole vectors copied through volatile: mcc refuses them. Members (`p->x`) and volatile copies made anew are fine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._device_code import device_code
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span
from musify.source.words import occurrences

_VECTOR = rb"(?:u?(?:char|short|int|long|longlong)[1234]|float[1234]|double[1234])"
_VOLATILE = rb"(?:volatile\s+(?:const\s+)?(" + _VECTOR + rb")|(" + _VECTOR + rb")\s+volatile)"
# *(volatile int4*)p   *reinterpret_cast<volatile int4*>(p)   ((volatile int4*)p)[i]
_THROUGH_CAST = re.compile(
    rb"\*\s*(?:\(\s*" + _VOLATILE + rb"\s*\*\s*\)|(?:reinterpret|static)_cast\s*<\s*" + _VOLATILE + rb"\s*\*\s*>)"
    rb"|\(\s*\(\s*" + _VOLATILE + rb"\s*\*\s*\)\s*[\w.&>+-]+\s*\)\s*\["
)
_DECLARED = re.compile(
    rb"\b" + _VOLATILE + rb"\s*\*\s*(?:const\s+)?(?:__restrict__\s+)?(\w+)|\b" + _VOLATILE + rb"\s+(\w+)\s*\["
)
_THEN_VECTOR = re.compile(rb"volatile\s+(?:const\s+)?" + _VECTOR)
_AFTER_VECTOR = re.compile(_VECTOR + rb"\s+\Z")
_LONGEST_HEAD = 40
TRIGGERS = (b"volatile",)


def run(unit: Unit) -> Iterator[Finding]:
    """A finding for every copy."""
    code = device_code(unit)
    text = code.text
    if not any(_beside_vector(text, at) for at in occurrences(text, b"volatile")):
        return
    places = {match.span() for match in _THROUGH_CAST.finditer(text)}
    for match in _DECLARED.finditer(text):
        name = match.group(3) or match.group(6)
        function = code.function_at(match.start())
        scope = Span(function.start, function.body.end) if function else Span(match.end(), match.end())
        places |= {use.span() for use in _whole(name).finditer(text, *scope) if not _declares(text, use.start())}
    for start, end in sorted(places):
        if not code.is_elsewhere(start) and not _is_address(text, start) and not _is_member(text, end):
            yield Finding("MUS237", Span(start, end), "volatile")


def _beside_vector(text: bytes, start: int) -> bool:
    """Whether the `volatile` at `start` stands before or after the name of a vector type."""
    return (
        _THEN_VECTOR.match(text, start) is not None
        or _AFTER_VECTOR.search(text[max(0, start - _LONGEST_HEAD) : start]) is not None
    )


def _whole(name: bytes) -> re.Pattern[bytes]:
    """Uses of a pointer that touch all of what it points to: `*name`, `name[i]`."""
    word = re.escape(name)
    return re.compile(
        rb"(?<=[=(,;{}])\s*\*\s*" + word + rb"\b(?!\s*(?:\[|\.|->))|\b" + word + rb"\s*\[[^\]]*\](?!\s*(?:\.|\[))"
    )


def _declares(text: bytes, start: int) -> bool:
    return (
        re.search(rb"(?:volatile|" + _VECTOR + rb")\s*\*?\s*(?:const\s+)?\Z", text[max(0, start - 40) : start])
        is not None
    )


def _is_address(text: bytes, start: int) -> bool:
    return text[max(0, start - 4) : start].rstrip().endswith(b"&")


def _is_member(text: bytes, end: int) -> bool:
    """Whether only a member is touched: (*(volatile int4*)p).x"""
    return re.match(rb"[^;,=]*?\)\s*\.\s*[xyzw]\b|[^;,=\])]*\]\s*\.\s*[xyzw]\b", text[end : end + 60]) is not None
