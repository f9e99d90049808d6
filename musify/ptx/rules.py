"""The rules of rules/device/ptx.toml, made ready: patterns, shapes of operands, expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, NamedTuple

from musify.model import MusifyError, Target, version_number
from musify.ptx.text import Instruction, Operand, read_program
from musify.rules.location import rules_folder
from musify.rules.shipped import shipped_tables

_REWRITE_KEYS = frozenset(
    "ptx operands cpp do let where where-opcode result check before after barrier source min_sdk T A B C F".split()
)
_LEFT_KEYS = frozenset("instructions architectures instead instead_zh source".split())
_REGISTER_KEYS = frozenset("cpp type check source".split())
_PIECE = re.compile(r"<(\w)>|[\[(]([^\])]*)[\])]|([^<\[(]+)")


class Rewrite(NamedTuple):
    """What one form of an instruction says in C++. `results` are pairs of operand name and expression.

    `pattern` is compiled when an opcode asks for it: no source holds more than a few of the instructions.
    """

    pattern: str
    shape: tuple[Operand, ...]
    texts: Mapping[str, Mapping[str, str]]
    where: Mapping[str, tuple[int, int]]
    lets: tuple[tuple[str, str, str], ...]
    results: tuple[tuple[str, str], ...]
    result_type: str
    statements: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    barrier: str
    check: str
    min_sdk: str


class Special(NamedTuple):
    """A special register: the expression for it, its PTX type, what to check."""

    cpp: str
    type: str
    check: str


class Left(NamedTuple):
    """Instructions that have no C++ of their own, and what MUSA has for them."""

    patterns: tuple[str, ...]
    architectures: tuple[str, ...]
    instead: str
    instead_zh: str


class PtxRules(NamedTuple):
    """All of the file; `rewrites` by the first word of the opcode."""

    rewrites: Mapping[str, tuple[Rewrite, ...]]
    specials: Mapping[str, Special]
    left: tuple[Left, ...]
    checks: Mapping[str, tuple[str, str]]
    constraints: Mapping[str, str]

    def forms(self, opcode: str, target: Target) -> list[tuple[Rewrite, dict[str, str]]]:
        """The rules that fit an opcode on `target`, with what stands for their captures."""
        found = []
        for rule in self.rewrites.get(opcode.split(".")[0], ()):
            match = re.fullmatch(rule.pattern, opcode)
            if match and not (rule.min_sdk and target.sdk_number < version_number(rule.min_sdk)):
                captures = {name: text.lstrip(".") for name, text in match.groupdict().items() if text}
                found.append((rule, captures))
        return found

    def instead(self, opcode: str, target: Target) -> list[tuple[str, str]]:
        """What MUSA has in place of an instruction that is not rewritten, in English and Chinese."""
        return [
            (item.instead, item.instead_zh)
            for item in self.left
            if any(fnmatchcase(opcode, pattern) for pattern in item.patterns)
            and (not item.architectures or any(arch in item.architectures for arch in target.architectures))
        ]


@lru_cache(maxsize=1)
def ptx_rules() -> PtxRules:
    """The shipped rules. Raises MusifyError where the file is bad."""
    try:
        return _compiled(shipped_tables("device")["ptx.toml"])
    except (KeyError, ValueError, TypeError) as error:
        raise MusifyError(f"{rules_folder() / 'device' / 'ptx.toml'}: {error}") from error


def _compiled(content: Mapping[str, Any]) -> PtxRules:
    checks = {name: (table["en"], table["zh"]) for name, table in content["check"].items()}
    by_word: dict[str, list[Rewrite]] = {}
    for table in content["rewrite"]:
        _known(table, _REWRITE_KEYS, table["ptx"])
        rule = _rewrite(table, checks)
        for word in _first_words(table["ptx"]):
            by_word.setdefault(word, []).append(rule)
    for name, table in content["register"].items():
        _known(table, _REGISTER_KEYS, name)
    specials = {
        name: Special(table["cpp"], table["type"], table.get("check", "plain"))
        for name, table in content["register"].items()
    }
    left = []
    for table in content["left"]:
        _known(table, _LEFT_KEYS, table["instructions"])
        patterns, architectures = table["instructions"].split(), table.get("architectures", ())
        left.append(Left(tuple(patterns), tuple(architectures), table["instead"], table["instead_zh"]))
    return PtxRules(
        {word: tuple(rules) for word, rules in by_word.items()}, specials, tuple(left), checks, content["constraint"]
    )


def _rewrite(table: Mapping[str, Any], checks: Mapping[str, object]) -> Rewrite:
    cpp = table.get("cpp", {})
    results = tuple(cpp.items()) if isinstance(cpp, Mapping) else (("d", cpp),)
    check = table.get("check", "plain")
    if check not in checks:
        raise ValueError(f"{table['ptx']}: there is no [check.{check}]")
    texts: dict[str, Mapping[str, str]] = {
        letter: table[letter] for letter in "ABCFT" if isinstance(table.get(letter), Mapping)
    }
    if "where-opcode" in table:
        texts["opcode"] = table["where-opcode"]
    return Rewrite(
        _pattern(table),
        shape_of(table["operands"]),
        texts,
        {name: (low, high) for name, (low, high) in table.get("where", {}).items()},
        tuple((name, *_typed(text)) for name, text in table.get("let", {}).items()),
        results,
        table.get("result", "T"),
        tuple(table.get("do", ())),
        tuple(table.get("before", ())),
        tuple(table.get("after", ())),
        table.get("barrier", ""),
        check,
        table.get("min_sdk", ""),
    )


def shape_of(text: str) -> tuple[Operand, ...]:
    """The shape of operands, read as operands themselves: names are registers."""
    program = read_program(f"shape {text};")
    return program.instructions[0].operands if isinstance(program.instructions[0], Instruction) else ()


def _typed(text: str) -> tuple[str, str]:
    kind, _, expression = text.partition(": ")
    if not expression:
        raise ValueError(f"write 'type: expression', not {text!r}")
    return kind, expression


def _pattern(table: Mapping[str, Any]) -> str:
    parts = []
    for match in _PIECE.finditer(table["ptx"]):
        letter, choice, literal = match.groups()
        if letter:
            words = table[letter].split() if isinstance(table[letter], str) else table[letter]
            parts.append(rf"(?P<{letter}>\.(?:{'|'.join(map(re.escape, words))}))")
        elif choice is not None:
            optional = "?" if match.group()[0] == "[" else ""
            parts.append(f"(?:{'|'.join(map(re.escape, choice.split('|')))}){optional}")
        else:
            parts.append(re.escape(literal))
    return "".join(parts)


def _first_words(pattern: str) -> list[str]:
    if pattern.startswith("("):
        return pattern[1 : pattern.index(")")].split("|")
    return [re.split(r"[.<\[(]", pattern)[0]]


def _known(table: Mapping[str, Any], keys: frozenset[str], where: str) -> None:
    unknown = set(table) - keys
    if unknown:
        raise ValueError(f"{where}: unknown key {sorted(unknown)[0]!r}; known are {', '.join(sorted(keys))}")
