"""What rules/torch/python.toml says, ready to look up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from musify.rules.shipped import shipped_tables


class Renamed(NamedTuple):
    """A dotted name and what it becomes with everything below it."""

    cuda: str
    musa: str
    evidence: str


class Without(NamedTuple):
    """A dotted name that stays, with everything below it, and why; `*` at its end stands for the rest of a name."""

    name: str
    why: str
    why_zh: str
    instead: str
    instead_zh: str

    def holds(self, dotted: str) -> bool:
        """Whether a dotted name stays by this."""
        if self.name.endswith("*"):
            return dotted.startswith(self.name[:-1])
        return f"{dotted}.".startswith(f"{self.name}.")


class Argument(NamedTuple):
    """A call that takes a device or backend: as this keyword, or at this 0-based position."""

    keyword: str
    position: int


class Word(NamedTuple):
    """A string that names a device or a backend, and where it does.

    `keywords` of any call, `names` of variables, keys and options, `calls` by dotted name, `methods` of any object;
    `first_arguments` are modules whose functions take it first. `others` are the words that stand beside it in lists.
    `elsewhere` are other libraries that have the same; where one of `alike` is used, a name does not tell whose it is.
    `is_closed`: PyTorch knows no other words, so that a name with further ones is the project's own.
    In a file that uses a module of `builders` what stands beside it says nothing.
    """

    cuda: bytes
    musa: bytes
    calls: Mapping[str, Argument]
    methods: frozenset[str]
    keywords: frozenset[str]
    names: tuple[str, ...]
    first_arguments: tuple[str, ...]
    others: frozenset[bytes]
    elsewhere: tuple[str, ...]
    alike: tuple[str, ...]
    builders: tuple[str, ...]
    is_closed: bool

    def is_name(self, name: str) -> bool:
        """Whether a variable of this name holds the device or backend."""
        name = name.lower().replace("-", "_").strip("_")
        return any(name == item or name.endswith(f"_{item}") for item in self.names)


def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = shipped_tables("torch")["python.toml"]
    return table


@cache
def modules() -> tuple[Renamed, ...]:
    """Names in use, the longest first."""
    return _longest_first("module")


@cache
def imports() -> tuple[Renamed, ...]:
    """Modules in import statements, the longest first."""
    return _longest_first("import")


@cache
def without() -> tuple[Without, ...]:
    """Names that stay, the longest first."""
    found = [
        Without(name, table["why"], table["why_zh"], table["instead"], table["instead_zh"])
        for table in _table()["without"]
        for name in table["names"].split()
    ]
    return tuple(sorted(found, key=lambda item: -len(item.name)))


@cache
def scales() -> Mapping[str, tuple[str, str]]:
    """Names whose numbers mean something else, with the reason in two languages."""
    return {name: (table["why"], table["why_zh"]) for table in _table()["scale"] for name in table["names"].split()}


@cache
def unproven() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    """Names that are carried over though nothing vouches for them: a pattern, and why in two languages."""
    return tuple(
        (re.compile(re.escape(name).replace(r"\*", r"\w*") + r"(?:\.|\Z)"), table["why"], table["why_zh"])
        for table in _table()["unproven"]
        for name in table["names"].split()
    )


@cache
def methods() -> Mapping[str, str]:
    """Methods and attributes of tensors and modules."""
    found: Mapping[str, str] = _table()["methods"]
    return found


@cache
def words() -> tuple[Word, ...]:
    """The device string, and the backend string of torch.distributed."""
    return tuple(_word(_table()[kind]) for kind in ("device", "backend"))


def _word(table: Mapping[str, Any]) -> Word:
    calls = {}
    for line in table["calls"]:
        name, keyword, position = line.split()
        calls[name] = Argument(keyword, int(position))
    return Word(
        table["from"].encode(), table["to"].encode(), calls, frozenset(table["methods"].split()),
        frozenset(table["keywords"].split()), tuple(table["names"].split()),
        tuple(table["first_arguments"].split()), frozenset(table["others"].encode().split()),
        tuple(table["elsewhere"].split()), tuple(table["alike"].split()), tuple(table["builders"].split()),
        table["is_closed"],
    )  # fmt: skip


def _longest_first(kind: str) -> tuple[Renamed, ...]:
    found = [Renamed(table["cuda"], table["musa"], table["evidence"]) for table in _table()[kind]]
    return tuple(sorted(found, key=lambda item: -len(item.cuda)))
