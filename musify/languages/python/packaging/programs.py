"""nvcc as a key of an extension's flags, and as a program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.build.commands import BUILD_TOOL
from musify.languages.build.facts import named
from musify.languages.build.unit import BuildUnit
from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import parts_of, span_of, text_of
from musify.languages.python.packaging.extension_imports import EXTENSION_NAME
from musify.languages.python.packaging.facts import extension, flag_places, keys
from musify.languages.python.packaging.lookups import holder_of
from musify.languages.python.strings import StringLiteral
from musify.model import Applicability, Edit, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_PROGRAM = re.compile(rb"(?P<folder>.*[/\\])?(?P<name>nvcc)(?:\.exe)?")
_FLAGS = re.compile(rb"compile_args|postargs|cflags|compiler_flags|nvcc_flags")
# Functions that put the path of a program together or look for it, and those that run their first argument.
_LOOKS_FOR = re.compile(rb"(?i)which|find|join|search|locate|path|exists|access|env|get\Z")
_RUNS = re.compile(rb"(?i)exec|run|call|check|popen|system|spawn")
_NAMES_COMPILER = re.compile(rb"(?i)nvcc(?!\w*(?:version|mode|flag|arg|opt))|\bcompiler(?:_path|_exe|_bin|_cmd)?\Z")
_TRANSPARENT = ("parenthesized_expression", "conditional_expression", "boolean_operator")


def find_programs(unit: BuildUnit, module: PythonModule, builds_cuda: bool) -> Iterator[Edit]:
    """Edits for literals that are a key of flags or the compiler."""
    flags_by_key = builds_cuda or _has_dictionary(module)
    for literal in module.strings:
        holder = holder_of(literal)
        if holder is not None and not holder.of_environment:
            if literal.text in keys() and _holds_flags(module, holder.node, literal, flags_by_key):
                yield from _edited(literal, Span(0, len(literal.text)), keys()[literal.text], EXTENSION_NAME)
        elif (match := _PROGRAM.fullmatch(literal.text)) and (match.group("folder") or _is_program(literal.node)):
            word = named("tool")[match.group("name")]
            yield from _edited(literal, Span(*match.span("name")), word.musa, BUILD_TOOL)
    for argument in module.of_type("keyword_argument") if flags_by_key else ():
        yield from _keyword(argument)


def _keyword(argument: Node) -> Iterator[Edit]:
    """`dict(cxx=..., nvcc=...)`."""
    name = argument.child_by_field_name("name")
    call = argument.parent.parent if argument.parent is not None else None
    function = call.child_by_field_name("function") if call is not None else None
    old = text_of(name)
    if name is not None and old in keys() and text_of(function) == b"dict":
        yield Edit(span_of(name), keys()[old], EXTENSION_NAME, Applicability.SAFE, old.decode(), "",
                   extension().evidence)  # fmt: skip


def _has_dictionary(module: PythonModule) -> bool:
    """Whether flags for nvcc and for a host compiler stand in one dictionary."""
    places = flag_places()
    for dictionary in module.of_type("dictionary"):
        found = {literal.text for pair in dictionary.named_children if (literal := _key(module, pair))}
        if found & places.keys["device"] and found & places.keys["host"]:
            return True
    return False


def _key(module: PythonModule, pair: Node) -> StringLiteral | None:
    return module.string(pair.child_by_field_name("key")) if pair.type == "pair" else None


def _holds_flags(module: PythonModule, holder: Node, literal: StringLiteral, flags_by_key: bool) -> bool:
    """Whether a dictionary, or an expression that is looked into, holds lists of flags."""
    if _FLAGS.search(text_of(holder)) and holder.type != "dictionary":
        return True
    dictionary = module.value(holder)
    if dictionary is None or dictionary.type != "dictionary":
        return flags_by_key
    for pair in dictionary.named_children:
        key, value = _key(module, pair), pair.child_by_field_name("value")
        if key is not None and key.text == literal.text and value is not None:
            return flags_by_key and value.type not in ("string", "concatenated_string", "integer", "float")
    return flags_by_key


def _is_program(node: Node) -> bool:
    """Whether `nvcc` stands where a program is named."""
    parent = node.parent
    while parent is not None and parent.type in _TRANSPARENT:
        node, parent = parent, parent.parent
    if parent is None:
        return False
    if parent.type == "argument_list" and parent.parent is not None:
        return _takes_program(parent.parent, node)
    if parent.type in ("list", "tuple", "set"):
        return _is_in_command(parent, node)
    if parent.type == "binary_operator":
        return any(child.type == "/" for child in parent.children)
    return _is_given_to_compiler(parent)


def _takes_program(call: Node, argument: Node) -> bool:
    function = text_of(call.child_by_field_name("function")).rpartition(b".")[2]
    listed = call.child_by_field_name("arguments")
    first = listed is not None and parts_of(listed)[0] == argument
    return _LOOKS_FOR.search(function) is not None or (first and _RUNS.search(function) is not None)


def _is_in_command(listed: Node, node: Node) -> bool:
    """`["nvcc", "-c"]`, `call(["nvcc"])`, `for nvcc in ["nvcc", x]`."""
    parts = parts_of(listed)
    if parts[0] == node and any(text_of(part).lstrip(b"frbFRB\"'").startswith(b"-") for part in parts[1:]):
        return True
    around = listed.parent
    if around is not None and around.type == "argument_list" and around.parent is not None:
        return _takes_program(around.parent, listed)
    return around is not None and _is_given_to_compiler(around)


def _is_given_to_compiler(parent: Node) -> bool:
    """Whether something that is called after the compiler gets the value: a variable, parameter, key, function."""
    for name in ("left", "name", "key"):
        target = parent.child_by_field_name(name)
        if target is not None:
            return _NAMES_COMPILER.search(text_of(target).strip(b"\"'])")) is not None
    if parent.type == "return_statement":
        function = parent.parent.parent if parent.parent is not None else None
        return (
            function is not None and _NAMES_COMPILER.search(text_of(function.child_by_field_name("name"))) is not None
        )
    return False


def _edited(literal: StringLiteral, part: Span, text: bytes, rule_id: str) -> Iterator[Edit]:
    span = literal.locate(*part)
    if span is not None and literal.text[part.start : part.end] != text:
        name = literal.text[part.start : part.end].decode("utf-8", "replace")
        yield Edit(span, text, rule_id, Applicability.SAFE, name, "", extension().evidence)
