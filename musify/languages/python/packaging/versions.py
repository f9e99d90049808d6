"""The version of nvcc: read from its output, and compared with CUDA's versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.build.unit import BuildUnit
from musify.languages.python.module import PythonModule, unwrapped
from musify.languages.python.nodes import above, name_of, operators_of, parts_of, span_of, text_of, within
from musify.languages.python.packaging.flag_words import elements, says_nvcc
from musify.languages.python.scopes import Scope
from musify.languages.python.strings import StringLiteral
from musify.model import Applicability, Edit, Finding, Span, version_number

if TYPE_CHECKING:
    from tree_sitter import Node

COMPILER_VERSION = "compiler-version"
_ASKS = frozenset((b"-V", b"--version"))
_COMMAND = re.compile(rb"(?:\S*[/}])?nvcc\s+(?:-V|--version)\b")
# In nvcc's output the version follows `release`; in that of a Clang, `version`.
_RELEASE = re.compile(rb"(?:.*[\s(,^?])?(release)(?:\Z|\s*[\s(\\:].*)", re.S)
# nvcc says the version a second time, behind a V.
_SECOND = re.compile(rb"(?<![A-Za-z])V(?:\d|\(|\\|\[)")
# Functions that look for their argument in a text.
_LOOKS = re.compile(rb"(?:index|find\w*|split|r?partition|search|\w*match\w*|compile|startswith|replace)\Z")
_NUMBERS = re.compile(rb"\d+(?:\.\d+)*")
_ORDER = ("<", "<=", ">", ">=", "==", "!=")
_STOPPING = re.compile(rb"(?:sys\.)?exit\b|os\._exit\b")


class CompilerVersions:
    """Where one file asks nvcc for its version, and what hangs on the answer."""

    def __init__(self, unit: BuildUnit, module: PythonModule) -> None:
        self._unit = unit
        self._module = module
        self._asked = [node for node in self._commands() if node is not None]

    def results(self) -> Iterator[Edit | Finding]:
        """Edits where the answer is read; findings, and edits of checks that would always stop the build."""
        for node in self._asked:
            yield from self._reading(self._function(node))
        for comparison in self._module.of_type("comparison_operator"):
            if self._is_about_version(comparison):
                yield from self._comparison(comparison)

    # --- where the version is asked for

    def _commands(self) -> Iterator[Node]:
        for node in self._module.of_type("list", "tuple"):
            listed = elements(node)
            literals = [self._module.string(element) for element in listed[1:]]
            if any(literal and literal.text in _ASKS for literal in literals) and says_nvcc(self._module, listed[0]):
                yield node
        for literal in self._module.strings:
            if _COMMAND.match(literal.text):
                yield literal.node

    def _function(self, node: Node) -> Node:
        return above(node, "function_definition") or self._module.root

    def _reading(self, function: Node) -> Iterator[Edit | Finding]:
        """`release` in the code that takes the answer apart."""
        for literal in self._module.strings:
            match = _RELEASE.fullmatch(literal.text) if within(literal.node, function) else None
            span = literal.locate(*match.span(1)) if match else None
            if span is None or not self._innermost(literal, function) or not _takes_apart(literal.node):
                continue
            if _SECOND.search(literal.text):
                what = "it is read behind a V, as nvcc writes it; what mcc prints is not known to have one"
                yield self._finding(
                    literal.span,
                    literal.text.decode("utf-8", "replace"),
                    what,
                    "按 nvcc 的格式读取 V 之后的版本号；未知 mcc 的输出有此格式",
                )
            else:
                what = "in what a Clang prints, the version follows the word version; it was changed to that"
                what_zh = "Clang 的输出中版本号位于 version 一词之后，已改为 version"
                yield Edit(span, b"version", COMPILER_VERSION, Applicability.REVIEW, "release", "", "none")
                yield self._finding(span, "release", what, what_zh)

    def _innermost(self, literal: StringLiteral, function: Node) -> bool:
        return self._function(literal.node) == function

    # --- what hangs on it

    def _is_about_version(self, comparison: Node) -> bool:
        return any(self._holds_version(part) for part in parts_of(comparison))

    def _holds_version(self, node: Node) -> bool:
        """Whether an expression is the version, or a part of it."""
        node = unwrapped(node) or node
        while node.type in ("attribute", "subscript"):
            held = node.child_by_field_name("object") or node.child_by_field_name("value")
            if held is None:
                return False
            node = held
        if node.type == "call":
            return self._asks(node)
        return node.type == "identifier" and name_of(node) in self._variables(self._module.scopes.owner(node))

    def _variables(self, scope: Scope | None) -> set[str]:
        """Names that a scope gives to what the functions return which ask for the version."""
        if scope is None:
            return set()
        found: set[str] = set()
        for call in self._module.calls:
            statement = above(call.node, "assignment")
            value = statement.child_by_field_name("right") if statement is not None else None
            if statement is None or value is None or unwrapped(value) != call.node or not self._asks(call.node):
                continue
            left = statement.child_by_field_name("left")
            names = [left] if left is not None and left.type == "identifier" else parts_of(left) if left else []
            if names and self._module.scopes.owner(names[-1]) is scope:
                found.update(name_of(node) for node in names)
        return found - {"_"}

    def _asks(self, call: Node) -> bool:
        """Whether a call is of a function of the file that asks for the version."""
        function = call.child_by_field_name("function")
        if function is None or function.type != "identifier":
            return False
        bindings = self._module.scopes.lookup(function)
        return any(
            binding.value is not None and self._function(node) == binding.value
            for binding in bindings
            for node in self._asked
        )

    def _comparison(self, comparison: Node) -> Iterator[Edit | Finding]:
        operators = [operator for operator in operators_of(comparison) if operator in _ORDER]
        parts = parts_of(comparison)
        number = self._number(parts[-1]) if len(parts) == 2 and operators else None
        if number is None:
            return
        literal, written = number
        stops = self._stops(comparison, operators[0])
        if stops:
            yield Edit(literal, b"0", COMPILER_VERSION, Applicability.REVIEW, written, "", "none")
        yield self._about(comparison, operators[0], written, stops)

    def _about(self, comparison: Node, operator: str, written: str, stops: bool) -> Finding:
        name = text_of(comparison).decode("utf-8", "replace")
        if stops:
            what = "CUDA's version does not matter here; the check lets every version pass now"
            what_zh = "CUDA 版本在此无意义，该检查现在放行所有版本"
        else:
            sdk = self._unit.settings.target.sdk
            verdict = _verdict(version_number(sdk), operator, version_number(written)) if "." in written else None
            shown = {True: "it holds", False: "it does not hold", None: "it was left"}[verdict]
            shown_zh = {True: "条件成立", False: "条件不成立", None: "保持原样"}[verdict]
            what, what_zh = (
                f"a CUDA version is compared with; for SDK {sdk} {shown}",
                f"与 CUDA 版本比较；SDK {sdk} 时{shown_zh}",
            )
        return self._finding(span_of(comparison), name, what, what_zh)

    def _number(self, node: Node) -> tuple[Span, str] | None:
        """The version that an expression writes: `Version("11.6")`, `"11.6"`, `11.6`, `1106`."""
        node = unwrapped(node) or node
        if node.type in ("float", "integer"):
            return span_of(node), text_of(node).decode()
        if node.type == "call":
            arguments = node.child_by_field_name("arguments")
            node = arguments.named_children[0] if arguments is not None and len(arguments.named_children) == 1 else node
        literal = self._module.string(node)
        if literal is None or not _NUMBERS.fullmatch(literal.text):
            return None
        span = literal.locate(0, len(literal.text))
        return (span, literal.text.decode()) if span is not None else None

    def _stops(self, comparison: Node, operator: str) -> bool:
        """Whether the build ends where the version is too old."""
        holder = comparison.parent
        while holder is not None and holder.type == "parenthesized_expression":
            holder = holder.parent
        if holder is None:
            return False
        if holder.type == "assert_statement":
            return operator in (">", ">=")
        body = holder.child_by_field_name("consequence") if holder.type == "if_statement" else None
        if body is None or operator not in ("<", "<="):
            return False
        return any(
            child.type == "raise_statement" or _STOPPING.match(text_of(child)) is not None for child in parts_of(body)
        )

    def _finding(self, span: Span, name: str, what: str, what_zh: str) -> Finding:
        arguments = {"what": what, "what_zh": what_zh, "sdk": self._unit.settings.target.sdk}
        return Finding("MUS543", span, name, arguments)


def _takes_apart(node: Node) -> bool:
    """Whether a literal is looked for in a text."""
    parent = node.parent
    if parent is None or parent.type == "comparison_operator":
        return parent is not None
    function = parent.parent.child_by_field_name("function") if parent.parent is not None else None
    return parent.type == "argument_list" and _LOOKS.search(text_of(function)) is not None


def _verdict(sdk: tuple[int, ...], operator: str, written: tuple[int, ...]) -> bool:
    outcomes = {
        "<": sdk < written, "<=": sdk <= written, ">": sdk > written, ">=": sdk >= written,
        "==": sdk == written, "!=": sdk != written,
    }  # fmt: skip
    return outcomes[operator]


def find_versions(unit: BuildUnit, module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits and findings about the version of nvcc."""
    if b"nvcc" in unit.data:
        yield from CompilerVersions(unit, module).results()
