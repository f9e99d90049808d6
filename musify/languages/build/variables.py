"""What a build file's own variables hold: a compiler, flags of nvcc, architectures. They keep their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from musify.rules.shipped import shipped_tables

_ARCHITECTURE = re.compile(rb"(?:sm|compute)_\d+[af]?")
_NUMBER = re.compile(rb"\d{2,3}[af]?")
_NVCC = re.compile(rb"(?:.*[/=-])?nvcc(?:\.exe)?\}?")
# A variable in the place of an architecture, and of what comes after `sm_`.
HOLDS_ARCHITECTURE = re.compile(
    rb"(?:(?<![\w-])-(?:arch|-gpu-architecture|code|-gpu-code)|\bcode)(?:=|[ \t]+)\"?\$+[({]?(\w+)"
)
HOLDS_NUMBER = re.compile(rb"(?:sm|compute|lto)_\$+[({]?(\w+)")
_REFERENCE = re.compile(rb"\$+[({]?([A-Za-z_][\w.]*)[)}]?")

# Programs that run the program that follows them.
_WRAPPERS = frozenset(
    b"sudo time env exec nohup nice ccache sccache distcc timeout xargs libtool $(LIBTOOL) eval bear scan-build".split()
)


@dataclass
class Variables:
    """Names of variables by what they hold.

    `architectures` hold `sm_80`, `numbers` what comes after `sm_`, `roots` the folder of a toolkit. `values` are all
    words that a variable is given anywhere.
    """

    compilers: set[bytes] = field(default_factory=set)
    flags: set[bytes] = field(default_factory=set)
    architectures: set[bytes] = field(default_factory=set)
    numbers: set[bytes] = field(default_factory=set)
    roots: set[bytes] = field(default_factory=set)
    values: dict[bytes, list[bytes]] = field(default_factory=dict)

    def add_value(self, name: bytes, words: Sequence[bytes]) -> None:
        """Take in an assignment, and what it tells by itself."""
        self.values.setdefault(name, []).extend(words)
        if compiler_index(words, self) is not None:
            self.compilers.add(name)
        elif any(tells_nvcc(word) for word in words):
            self.flags.add(name)

    def settle(self) -> None:
        """Follow what is known through the values: of variables used before they got theirs, and of other files."""
        for name, words in self.values.items():
            if compiler_index(words, self) is not None:
                self.compilers.add(name)
            elif any(self._is_architecture(used) for used in HOLDS_ARCHITECTURE.findall(b" ".join(words))):
                self.flags.add(name)
        for name in sorted(self.flags):
            self.spread_words(self.values.get(name, ()))

    def _is_architecture(self, name: bytes) -> bool:
        return is_architecture_value(self.values.get(name, ()), numbers=False)

    def is_compiler(self, word: bytes) -> bool:
        """Whether a word is a reference to a variable that runs nvcc."""
        name = reference(word)
        return name is not None and (name in self.compilers or named_like_compiler(name))

    def is_flags(self, name: bytes) -> bool:
        """Whether a variable holds flags for nvcc."""
        return name in self.flags or _telling("variables").fullmatch(name) is not None

    def expanded(self, words: Iterable[bytes], seen: frozenset[bytes] = frozenset()) -> Iterator[bytes]:
        """The words with the known values in the place of variables."""
        for word in words:
            name = reference(word)
            if name is None or name in seen or name not in self.values:
                yield word
            else:
                yield from self.expanded(self.values[name], seen | {name})

    def spread(self, references: Iterable[bytes]) -> None:
        """These variables are given to nvcc, and so is what they are made of."""
        pending = list(references)
        while pending:
            name = pending.pop()
            if name in self.flags or name in self.compilers:
                continue
            self.flags.add(name)
            pending += (inner for word in self.values.get(name, ()) for inner in references_of(word))

    def spread_words(self, words: Iterable[bytes]) -> None:
        """These words stand behind nvcc in a command."""
        self.spread(name for word in words for name in references_of(word))

    def join(self, other: Variables) -> None:
        """Take over what another file says."""
        for mine, theirs in (
            (self.compilers, other.compilers), (self.flags, other.flags), (self.architectures, other.architectures),
            (self.numbers, other.numbers), (self.roots, other.roots),
        ):  # fmt: skip
            mine |= theirs
        for name, words in other.values.items():
            self.values.setdefault(name, []).extend(words)


def program_index(words: Sequence[bytes]) -> int | None:
    """Where in a command its program stands, behind programs that run it and variables that are set for it."""
    index = 0
    wrapped = False
    while index < len(words):
        word = words[index]
        base = word.rpartition(b"/")[2]
        if base in _WRAPPERS:
            wrapped = True
        elif not (wrapped and (word.startswith(b"-") or b"=" in word or word.isdigit())):
            return index
        index += 1
    return None


def compiler_index(words: Sequence[bytes], variables: Variables) -> int | None:
    """Where nvcc stands as the program of a command, or a variable that holds it; None where it does not run."""
    index = program_index(words)
    while index is not None and index < len(words):
        if runs_nvcc(words[index]) or variables.is_compiler(words[index]):
            return index
        # A variable may hold a program that runs the next word, or nothing.
        if not words[index].startswith(b"$"):
            return None
        index += 1
    return None


def runs_nvcc(word: bytes) -> bool:
    """Whether a word is nvcc as a program, by whatever path."""
    return _NVCC.fullmatch(word) is not None


def named_like_compiler(name: bytes) -> bool:
    """Whether a variable's name says that it is nvcc."""
    return _telling("compilers").fullmatch(name) is not None


def tells_nvcc(word: bytes) -> bool:
    """Whether a flag is one that no other compiler has."""
    return _telling("flags").fullmatch(word) is not None


def reference(word: bytes) -> bytes | None:
    """The variable that a word consists of."""
    match = _REFERENCE.fullmatch(word.strip(b'"').replace(b"[@]", b""))
    return match.group(1) if match else None


def references_of(word: bytes) -> Iterator[bytes]:
    """The variables in a word."""
    for match in _REFERENCE.finditer(word):
        yield match.group(1)


def is_architecture_value(words: Sequence[bytes], *, numbers: bool) -> bool:
    """Whether all words are CUDA architectures (`sm_80`), or their numbers."""
    pattern = _NUMBER if numbers else _ARCHITECTURE
    return bool(words) and all(pattern.fullmatch(word) for word in words)


@cache
def _telling(key: str) -> re.Pattern[bytes]:
    return re.compile(shipped_tables("build")["flags.toml"]["telling"][key].encode())
