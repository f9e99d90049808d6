"""What the variables of a makefile hold: found from its assignments, commands and calls, before anything is changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from musify.languages.build.variables import (
    HOLDS_ARCHITECTURE,
    HOLDS_NUMBER,
    Variables,
    compiler_index,
    is_architecture_value,
    references_of,
    tells_nvcc,
)
from musify.languages.make.reader import Kind, Makefile, Statement, read, read_canned
from musify.languages.make.words import Call, calls_in, references_in, script_of
from musify.languages.shell.quoting import words_of
from musify.model import Span

_TOOLKIT = re.compile(rb"/usr/local/cuda(?:-[\d.]+)?/?|\$[({](?:CUDA|MUSA)_(?:HOME|PATH|ROOT)[)}]/?")
# Implicit rules of make, by the compiler that they run.
_IMPLICIT = {
    b"CC": (b"CFLAGS", b"CPPFLAGS", b"LDFLAGS", b"LDLIBS", b"LOADLIBES", b"TARGET_ARCH"),
    b"CXX": (b"CXXFLAGS", b"CPPFLAGS", b"TARGET_ARCH"),
    b"LINK.cc": (b"CXXFLAGS", b"LDFLAGS", b"LDLIBS"),
}
_TEXTS = (b"info", b"warning", b"error")


@dataclass
class Branch:
    """A statement and the conditions that it stands under: each a number of a condition and of its branch."""

    statement: Statement
    path: tuple[tuple[int, int], ...]
    in_define: bool = False


def statements_of(data: bytes, makefile: Makefile) -> Iterator[Branch]:
    """All statements, those inside `define` too."""
    path: list[tuple[int, int]] = []
    count = 0
    for statement in makefile.statements:
        if statement.kind is Kind.CONDITION:
            if statement.name.startswith(b"if"):
                count += 1
                path.append((count, 0))
            elif path and statement.name == b"else":
                path[-1] = (path[-1][0], path[-1][1] + 1)
            elif path:
                path.pop()
        yield Branch(statement, tuple(path))
        if statement.kind is Kind.DEFINE:
            for inner in statements_of(data, read_canned(data, statement.body)):
                yield Branch(inner.statement, (*path, *((-count - 1, number) for _, number in inner.path)), True)


def all_calls(data: bytes, span: Span) -> Iterator[Call]:
    """The calls in a text at any depth, outer ones first."""
    for call in calls_in(data, span):
        yield call
        for argument in call.arguments:
            yield from all_calls(data, argument)


def variables_in(data: bytes) -> Variables:
    """What the variables of a makefile hold by itself."""
    return variables_of(data, list(statements_of(data, read(data))))


def variables_of(data: bytes, branches: Sequence[Branch], others: Variables | None = None) -> Variables:
    """What the variables of one makefile hold; `others` is what the files say that it is linked with."""
    variables = Variables()
    if others is not None:
        variables.join(others)
    for branch in branches:
        _assigned(data, branch.statement, variables)
        text = data[slice(*branch.statement.body)]
        variables.architectures.update(HOLDS_ARCHITECTURE.findall(text))
        variables.numbers.update(HOLDS_NUMBER.findall(text))
    variables.settle()
    for branch in branches:
        if branch.statement.kind is Kind.RECIPE or branch.statement.operator == b"!=":
            _used(data, branch.statement.body, variables)
    _implicit(variables)
    _follow(data, branches, variables)
    _unused(data, branches, variables)
    return variables


def _unused(data: bytes, branches: Sequence[Branch], variables: Variables) -> None:
    """What is not used here is there for a file that includes this one, or for the user."""
    used = {name for branch in branches for name in references_in(data[slice(*branch.statement.body)])}
    for name, words in variables.values.items():
        if name not in used and is_architecture_value(words, numbers=False):
            variables.architectures.add(name)


def _assigned(data: bytes, statement: Statement, variables: Variables) -> None:
    if statement.kind is Kind.ASSIGNMENT:
        texts = [word.text for word in words_of(data, statement.body)]
        variables.add_value(statement.name, texts)
        if len(texts) == 1 and _TOOLKIT.fullmatch(texts[0]):
            variables.roots.add(statement.name)
    for call in all_calls(data, statement.body):
        inner = [word.text for argument in call.arguments for word in words_of(data, argument)]
        if statement.kind is Kind.ASSIGNMENT and any(map(tells_nvcc, inner)):
            variables.flags.add(statement.name)
        if call.name == b"eval":
            for evaluated in read(data, *call.arguments[0]).statements:
                _assigned(data, evaluated, variables)


def _used(data: bytes, command: Span, variables: Variables) -> None:
    """What stands behind nvcc in a command goes to nvcc; what stands where a program does and is nvcc, runs it."""
    for found in script_of(data, command).commands:
        words = [word.text for word in found.words]
        index = compiler_index(words, variables)
        if index is not None:
            variables.spread_words(words[index + 1 :])


def _implicit(variables: Variables) -> None:
    for compiler, names in _IMPLICIT.items():
        if compiler in variables.compilers:
            variables.spread(names)
    for name in list(variables.compilers):
        variables.spread_words(variables.values.get(name, [])[1:])


def _follow(data: bytes, branches: Sequence[Branch], variables: Variables) -> None:
    """Variables of architectures get their values from others, and from the lists that `foreach` goes through."""
    loops = [
        call for branch in branches for call in all_calls(data, branch.statement.body)
        if call.name == b"foreach" and len(call.arguments) > 2
    ]  # fmt: skip
    for holders in (variables.architectures, variables.numbers):
        pending = list(holders)
        while pending:
            name = pending.pop()
            sources = {
                inner for word in variables.values.get(name, []) for inner in references_in(word) if _alone(word)
            }
            for call in loops:
                if data[slice(*call.arguments[0])].strip() == name:
                    sources.update(references_of(data[slice(*call.arguments[1])]))
            pending += sources - holders
            holders |= sources


def _alone(word: bytes) -> bool:
    """Whether a word is a variable, or a call on one, and no text with a variable in it."""
    return word.startswith(b"$") and word.endswith((b")", b"}"))
