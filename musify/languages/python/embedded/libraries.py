"""Libraries of CUDA that Python opens by name (ctypes, cffi), and the functions that it looks up in them.

Names of library files (`libcudart.so`) are words of any build file; `musify.languages.build.words` changes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.build.facts import cuda_words
from musify.languages.build.unit import BuildUnit
from musify.languages.cuda.names import doubts, kept_finding
from musify.languages.cuda.strings import LIBRARY_FILE, LOOKED_UP_NAME
from musify.languages.python.embedded.facts import openers, opening_methods
from musify.languages.python.embedded.literals import literals_behind
from musify.languages.python.embedded.packages import imported_packages
from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import name_of, span_of, text_of
from musify.languages.python.references import Call
from musify.languages.python.strings import StringLiteral
from musify.model import Applicability, Edit, Finding, Span
from musify.rules.model import Action, NameRule

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = ("function", "function-alias")


def find_libraries(unit: BuildUnit, module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits and findings for names of libraries and of functions that are looked up in them."""
    for call in module.calls:
        if call.calls(*openers("names")) and call.arguments:
            for literal in literals_behind(module, call.arguments[0].value):
                yield from _library(unit, literal)
    opened = [call for call in module.calls if _opens(module, call)]
    if opened:
        handles = frozenset(name for call in opened if (name := _holder(call.node)))
        yield from _attributes(unit, module, handles)
        yield from _strings(unit, module, handles)


def _opens(module: PythonModule, call: Call) -> bool:
    by_method = any(
        call.method_name == method.name and method.module in imported_packages(module) for method in opening_methods()
    )
    return (by_method or call.calls(*openers("files"))) and _may_be_cuda(module, call)


def _may_be_cuda(module: PythonModule, call: Call) -> bool:
    """Whether the library that is opened may be CUDA's: its name is not known here, or mentions CUDA."""
    names = [literal.text for argument in call.arguments[:1] for literal in literals_behind(module, argument.value)]
    return not names or any(cuda_words().search(name) for name in names)


def _library(unit: BuildUnit, literal: StringLiteral) -> Iterator[Edit | Finding]:
    """`find_library("cudart")`."""
    known = unit.book.link_names.get(literal.text)
    place = literal.locate(0, len(literal.text))
    if known is None or place is None:
        return
    name, target = literal.text.decode("utf-8", "replace"), known[0].decode()
    if target:
        yield Edit(place, known[0], LIBRARY_FILE, Applicability.REVIEW, name, known[1].id, "code")
    outcome = f"renamed to {target}" if target else "left as it is: no counterpart is known"
    outcome_zh = f"已改为 {target}" if target else "保持原样：没有已知的对应物"
    yield Finding("MUS108", place, name, {"outcome": outcome, "outcome_zh": outcome_zh})


def _holder(call: Node) -> str:
    """The variable or attribute that an opened library is assigned to, also through `a if b else c`; else empty."""
    node, parent = call, call.parent
    while parent is not None and parent.type in ("conditional_expression", "parenthesized_expression"):
        node, parent = parent, parent.parent
    if parent is None or parent.type != "assignment" or parent.child_by_field_name("right") != node:
        return ""
    return _last_name(parent.child_by_field_name("left"))


def _last_name(node: Node | None) -> str:
    if node is not None and node.type == "attribute":
        node = node.child_by_field_name("attribute")
    return name_of(node) if node is not None and node.type == "identifier" else ""


def _attributes(unit: BuildUnit, module: PythonModule, handles: frozenset[str]) -> Iterator[Edit | Finding]:
    """`lib.cudaMalloc`, where `lib` is an opened library."""
    for attribute in module.of_type("attribute"):
        node = attribute.child_by_field_name("attribute")
        if node is not None and _last_name(attribute.child_by_field_name("object")) in handles:
            rule = unit.book.name(text_of(node))
            if rule is not None and rule.kind in _FUNCTIONS:
                yield from _looked_up(rule, span_of(node))


def _strings(unit: BuildUnit, module: PythonModule, handles: frozenset[str]) -> Iterator[Edit | Finding]:
    """`getattr(lib, "cudaMalloc")`, `lib["cudaMalloc"]`; other names too, where what is looked up stands elsewhere."""
    lookups = list(_lookups(module, handles))
    direct = {literal.node.id for node in lookups if (literal := module.string(node)) is not None}
    any_name = any(module.string(node) is None for node in lookups)
    for literal in module.strings:
        rule = unit.book.name(literal.text) if any_name or literal.node.id in direct else None
        place = literal.locate(0, len(literal.text))
        if rule is not None and rule.kind in _FUNCTIONS and place is not None:
            yield from _looked_up(rule, place)


def _lookups(module: PythonModule, handles: frozenset[str]) -> Iterator[Node]:
    """What is looked up in the libraries, by whatever expression."""
    for call in module.calls:
        if call.method_name == "getattr" and len(call.arguments) > 1 and _last_name(call.arguments[0].value) in handles:
            yield call.arguments[1].value
    for item in module.of_type("subscript"):
        key = item.child_by_field_name("subscript")
        if key is not None and _last_name(item.child_by_field_name("value")) in handles:
            yield key


def _looked_up(rule: NameRule, place: Span) -> Iterator[Edit | Finding]:
    name = rule.name.decode()
    if rule.action is Action.IDENTITY:
        return
    if rule.action is not Action.RENAME:
        left = {"outcome": "left as it is", "outcome_zh": "保持原样", "target": "it"}
        kept = kept_finding(rule.library, place, name) if rule.library.finding else Finding("MUS107", place, name, left)
        yield kept
        return
    target = rule.target.decode()
    yield Edit(place, rule.target, LOOKED_UP_NAME, Applicability.REVIEW, name, rule.library.id, rule.evidence.value)
    arguments = {"outcome": f"renamed to {target}", "outcome_zh": f"已改为 {target}", "target": target}
    yield Finding("MUS107", place, name, arguments)
    if rule.absent is not None:
        yield from doubts(rule, place)
