"""What stands inside the values of flags: lists that are split at commas, and CUDA architectures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from musify.rules.book import RuleBook
from musify.rules.model import Library

_OPENING = {b"(": b")", b"{": b"}", b"[": b"]", b"<": b">"}
_QUOTES = (b'"', b"'")
_GENCODE = re.compile(rb"(?:^|,)\s*code\s*=(.*)\Z", re.S)
_CUDA_ARCHITECTURE = re.compile(rb"(?:sm|compute|lto)_\d+[af]?|native|all|all-major|host", re.I)
_PREFIX = re.compile(rb"(sm|compute|lto)_(?=.*[$@{%<])", re.I)
# A variable of a build tool, or a place where a program puts a value in.
VARIABLE = re.compile(rb"[$@{%<]")


def split_list(value: bytes) -> list[bytes]:
    """The items of a value that nvcc splits at commas; blanks split too, quotes and brackets keep together."""
    items: list[bytes] = []
    current = b""
    closing: list[bytes] = []
    for character in (value[index : index + 1] for index in range(len(value))):
        if closing and character == closing[-1]:
            closing.pop()
        elif character in _QUOTES and not (closing and closing[-1] in _QUOTES):
            closing.append(character)
        elif character in _OPENING and current[-1:] in (b"$", *_OPENING):
            closing.append(_OPENING[character])
        elif not closing and (character == b"," or character.isspace()):
            items.append(current)
            current = b""
            continue
        current += character
    return [unquoted(item) for item in (*items, current) if item]


def unquoted(text: bytes) -> bytes:
    """The text without quotes around it, escaped ones too."""
    text = text.replace(b'\\"', b'"').replace(b"\\'", b"'")
    if len(text) > 1 and text[:1] == text[-1:] and text[:1] in _QUOTES:
        return text[1:-1]
    return text


class Architectures(NamedTuple):
    """What a flag asks for: `real` code, `virtual` code (PTX), and variables that hold an architecture.

    A variable is given as it stands after the prefix (`sm_$(SM)` is `$(SM)`, with `numbers` true), or whole.
    """

    real: tuple[bytes, ...]
    virtual: tuple[bytes, ...]
    variables: tuple[Variable, ...]


class Variable(NamedTuple):
    """A variable in the place of an architecture; `numbers`: it holds what comes after `sm_`."""

    text: bytes
    numbers: bool


def architectures_in(value: bytes, *, pairs: bool) -> Architectures | None:
    """What the value of an architecture flag asks for; None where it is no CUDA architecture.

    `pairs`: the value has the form `arch=compute_80,code=sm_80`, of which the code counts.
    """
    if pairs:
        found = _GENCODE.search(value)
        value = found.group(1) if found else re.sub(rb"\A\s*arch\s*=", b"", value)
    real: list[bytes] = []
    virtual: list[bytes] = []
    variables: list[Variable] = []
    for item in split_list(unquoted(value.strip()).strip(b"[]")):
        prefix = _PREFIX.match(item)
        if prefix and prefix.group(1).lower() == b"compute":
            virtual.append(item)
        elif prefix:
            variables.append(Variable(item[prefix.end() :], True))
        elif _CUDA_ARCHITECTURE.fullmatch(item):
            (virtual if item.lower().startswith(b"compute") else real).append(item)
        elif VARIABLE.search(item):
            variables.append(Variable(item, False))
        else:
            return None
    return Architectures(tuple(real), tuple(virtual), tuple(variables))


class Linked(NamedTuple):
    """A library to link: its name, MUSA's (empty: none known), whether the rules spell it out; None: not CUDA's."""

    name: bytes
    target: bytes
    listed: bool
    library: Library | None

    @property
    def arguments(self) -> Mapping[str, str]:
        """What a finding says of it."""
        shown = {"library": self.name.decode("utf-8", "replace")}
        if self.library is None:
            return shown
        return {**shown, "instead": self.library.instead, "instead_zh": self.library.instead_zh}


def linked(name: bytes, book: RuleBook) -> Linked:
    """What is linked on MUSA instead of a library `name` (`cudart`, `cublas_static`)."""
    for suffix in (b"", b"_static"):
        known = book.link_names.get(name.removesuffix(suffix)) if name.endswith(suffix) else None
        if known is not None:
            return Linked(name, known[0] and known[0] + suffix, not suffix, known[1])
    return Linked(name, name, True, None)
