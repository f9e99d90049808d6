"""What a literal (or a name that holds it) is the value of: lists, choices and formats around it are looked through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from musify.languages.python.nodes import name_of, parts_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from musify.languages.python.pytorch.holders import Holders
    from musify.languages.python.references import Call

CONTAINERS = frozenset({"list", "tuple", "set", "expression_list", "pattern_list"})
_CHOICES = frozenset({"conditional_expression", "boolean_operator"})
_THROUGH = frozenset({"parenthesized_expression", "lambda", *_CHOICES, *CONTAINERS})
# Calls that hand on what they are given: a case of a test; the default of a field or of an option.
_CASES = frozenset({"param"})
_FIELDS = frozenset({"field", "Field", "Option", "Argument"})
_DEFAULTS = frozenset({"default", "default_factory"})


class Value(NamedTuple):
    """The outermost expression that has the literal for a value.

    `beside`: the literals in the lists around it, itself among them. `other`: the one that it is a choice against, and
    `condition` what decides. `column` and `columns`: where in the innermost tuple (or case of a test) it stands, and
    how many stand there. `is_settled`: a choice says what it is.
    """

    node: Node
    beside: tuple[bytes, ...] = ()
    other: bytes = b""
    condition: bytes = b""
    column: int = 0
    columns: int = 1
    is_settled: bool = False


def value_of(holders: Holders, node: Node, text: bytes) -> Value:
    """What the literal at `node`, which says `text`, is the value of."""
    value = Value(node)
    while value.node.parent is not None and not value.is_settled:
        parent = value.node.parent
        around = parent if parent.type in _THROUGH else _handed_on(holders, parent, value.node, text)
        if around is None:
            break
        value = _through(holders, value, parent, around)
    return value


def literals(holders: Holders, container: Node) -> tuple[bytes, ...]:
    """What the literals in a list say, each text once, those of the cases of a test among them.

    Read once a list, for each of its literals asks for all of them.
    """
    if container.id not in holders.literals:
        holders.literals[container.id] = tuple(dict.fromkeys(_literals(holders, container)))
    return holders.literals[container.id]


def _literals(holders: Holders, container: Node) -> Iterator[bytes]:
    for child in parts_of(container):
        call = holders.calls.get(child.id)
        is_case = call is not None and call.method_name in _CASES
        values = [argument.value for argument in call.arguments] if call is not None and is_case else [child]
        yield from (literal.text for literal in map(holders.module.string, values) if literal is not None)


def given(holders: Holders, call: Call) -> tuple[bytes, ...]:
    """What the literals among the arguments of a call say, each text once. Read once a call."""
    if call.node.id not in holders.literals:
        said = (holders.module.string(argument.value) for argument in call.arguments)
        holders.literals[call.node.id] = tuple(dict.fromkeys(item.text for item in said if item is not None))
    return holders.literals[call.node.id]


def call_around(holders: Holders, node: Node) -> Call | None:
    """The call that `node` is an argument of, by its place or by a keyword."""
    parent = node.parent
    listed = parent.parent if parent is not None and parent.type == "keyword_argument" else parent
    inside = listed is not None and listed.type == "argument_list"
    return holders.calls.get(listed.parent.id) if inside and listed and listed.parent else None


def _through(holders: Holders, value: Value, parent: Node, around: Node) -> Value:
    """The value, one step further out."""
    node = value.node
    if parent.type in CONTAINERS:
        value = value._replace(beside=(*value.beside, *literals(holders, parent)))
    if parent.type == "tuple" or (parent.type == "argument_list" and around.type == "call"):
        value = _in_row(value, parent, node)
    elif parent.type in _CHOICES:
        value = _choice(holders, value, parent)
    return value._replace(node=around)


def _in_row(value: Value, row: Node, node: Node) -> Value:
    """The value with its place in the innermost row; keywords (`marks=`) are none of it."""
    parts = [part for part in parts_of(row) if part.type != "keyword_argument"]
    if value.columns > 1 or node not in parts:
        return value
    return value._replace(column=parts.index(node), columns=len(parts))


def _choice(holders: Holders, value: Value, parent: Node) -> Value:
    """`"cuda" if torch.cuda.is_available() else "cpu"`, `args.device or "cuda"`: what the other side says."""
    parts, condition = parts_of(parent), b""
    if parent.type == "conditional_expression":
        if len(parts) != 3 or value.node == parts[1]:
            return value
        condition = text_of(parts[1])
        parts = [parts[0], parts[2]]
    other = next((part for part in parts if part != value.node), None)
    said = holders.module.string(other)
    settled = b"is_available" in condition or holders.holds(other)
    return value._replace(is_settled=settled, other=said.text if said is not None else b"", condition=condition)


def _handed_on(holders: Holders, parent: Node, node: Node, text: bytes) -> Node | None:
    """The call or operation around `node` that gives its value on."""
    if parent.type == "binary_operator":
        return parent if _is_joined(parent, node, text) else None
    if parent.type == "attribute":  # "cuda:{}".format(i)
        is_format = name_of(parent.child_by_field_name("attribute")) == "format"
        return parent.parent if is_format and parent.parent is not None and parent.parent.type == "call" else None
    call = call_around(holders, node if parent.type != "keyword_argument" else parent)
    if call is None or parent.type not in ("argument_list", "keyword_argument"):
        return None
    keyword = name_of(parent.child_by_field_name("name")) if parent.type == "keyword_argument" else ""
    first = not keyword and bool(call.arguments) and call.arguments[0].value == node
    fields = call.method_name in _FIELDS and (keyword in _DEFAULTS or first)
    return call.node if fields or (call.method_name in _CASES and not keyword) else None


def _is_joined(operation: Node, node: Node, text: bytes) -> bool:
    """`"cuda:%d" % i` and `"cuda:" + str(i)` are devices as much as the literal; `["cpu"] + ["cuda"]` is a list."""
    operator = text_of(operation.child_by_field_name("operator"))
    if node.type in CONTAINERS or node.type == "conditional_expression":
        return operator == b"+"
    left = operation.child_by_field_name("left") == node
    return left and (operator == b"%" or (operator == b"+" and text.endswith(b":")))
