"""Uses of names, and calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from musify.languages.python.nodes import name_of
from musify.model import Span

if TYPE_CHECKING:
    from tree_sitter import Node


class Meaning(NamedTuple):
    """A full dotted name that a use may stand for (`torch.cuda.amp`, for `c.amp` after `from torch import cuda as c`).

    `first`: how many components of it the first written identifier stands for (2 there). `imported`: that identifier
    is the last of these components, as an import without `as` binds it. `certain`: the name has no other binding.
    """

    dotted: str
    first: int
    imported: bool
    certain: bool


class Reference(NamedTuple):
    """A name or chain of attributes as it is used. `parts` are its identifiers as written.

    `meanings` are empty for names that no import is behind: variables, parameters, builtins.
    """

    node: Node
    parts: Sequence[Node]
    meanings: tuple[Meaning, ...]

    @property
    def span(self) -> Span:
        """The whole chain."""
        return Span(self.node.start_byte, self.node.end_byte)

    @property
    def written(self) -> str:
        """The chain as written, blanks left out."""
        return ".".join(name_of(part) for part in self.parts)

    def meaning(self, prefix: str) -> Meaning | None:
        """The meaning that is the dotted name `prefix`, or one below it."""
        return next((item for item in self.meanings if f"{item.dotted}.".startswith(f"{prefix}.")), None)

    def component(self, meaning: Meaning, index: int) -> Node | None:
        """The identifier that writes component `index` (0-based) of a meaning.

        None where it is not written here: an import or an alias stands for it, or the name has fewer components.
        """
        number = index - meaning.first + 1
        if number < 0 or number >= len(self.parts) or (number == 0 and not meaning.imported):
            return None
        return self.parts[number]


class Argument(NamedTuple):
    """An argument of a call. `name` is that of a keyword, empty for a positional one, or `*` or `**`.

    `node` is all of it, `value` the expression.
    """

    name: str
    value: Node
    node: Node


class Call(NamedTuple):
    """A call. `reference` is what is called, where that is a name or a chain of attributes of a name."""

    node: Node
    function: Node | None
    reference: Reference | None
    arguments: tuple[Argument, ...]

    @property
    def span(self) -> Span:
        """The call with its arguments."""
        return Span(self.node.start_byte, self.node.end_byte)

    @property
    def method(self) -> Node | None:
        """The identifier before the parentheses: `cuda` in `model.to(x).cuda()` and in `cuda()`."""
        if self.function is None:
            return None
        return (
            self.function.child_by_field_name("attribute")
            if self.function.type == "attribute"
            else (self.function if self.function.type == "identifier" else None)
        )

    @property
    def method_name(self) -> str:
        """The text of `method`, empty where there is none."""
        return name_of(self.method)

    def calls(self, *names: str) -> bool:
        """Whether one of these full dotted names may be what is called."""
        return self.reference is not None and any(item.dotted in names for item in self.reference.meanings)

    def argument(self, name: str, position: int | None = None) -> Argument | None:
        """The argument with this keyword, or else the positional one at `position` (0-based).

        A position after `*args` is not known.
        """
        for number, item in enumerate(self.arguments):
            if item.name == name:
                return item
            if number == position and not item.name and not any(a.name for a in self.arguments[:number]):
                return item
        return None


def chain_of(node: Node | None) -> tuple[Node, ...]:
    """The identifiers of a name or chain of attributes of a name; empty for any other expression."""
    parts: list[Node] = []
    while node is not None and node.type == "attribute":
        attribute = node.child_by_field_name("attribute")
        if attribute is None:
            return ()
        parts.append(attribute)
        node = node.child_by_field_name("object")
    if node is None or node.type != "identifier":
        return ()
    parts.append(node)
    return tuple(reversed(parts))
