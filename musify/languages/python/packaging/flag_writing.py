"""Writes changed words back into lists and into statements that add to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from musify.languages.build.flags import BUILD_FLAG
from musify.languages.python.import_edits import line_start
from musify.languages.python.packaging.flag_words import Run, Slot, elements
from musify.languages.python.strings import StringLiteral
from musify.model import Applicability, Edit, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_GAP = re.compile(rb"[\s,\\]*")
_BLANK_REST = re.compile(rb"[ \t]*(?:\r?\n|\Z)")
_BLANKS = re.compile(rb"[ \t]*")


class Rewritten(NamedTuple):
    """The new words of a slot, none where it goes. `together`: they stand in one literal."""

    words: Sequence[bytes]
    together: bool
    name: bytes
    applicability: Applicability
    library: str
    evidence: str


@dataclass
class FlagWriter:
    """Collects changes to runs, then gives the edits: what empties a block is only known at the end."""

    data: bytes
    _edits: list[Edit] = field(default_factory=list)
    _gone: dict[int, tuple[Node, Rewritten]] = field(default_factory=dict)

    def add(self, run: Run, new: Mapping[int, Rewritten]) -> None:
        """Take in the new words of a run, by the number of the slot."""
        if run.statements:
            self._add_statements(run, new)
        elif run.container is not None:
            self._add_list(run, run.container, new)
        else:
            self._edits += [self._edit(run.slots[number], item, b", ") for number, item in new.items()]

    def edits(self) -> Iterator[Edit]:
        """All edits."""
        yield from self._edits
        blocks: dict[int, list[tuple[Node, Rewritten]]] = {}
        for node, item in self._gone.values():
            if node.parent is not None:
                blocks.setdefault(node.parent.id, []).append((node, item))
        for gone in blocks.values():
            yield from self._without_statements(sorted(gone, key=lambda pair: pair[0].start_byte))

    # --- statements

    def _add_statements(self, run: Run, new: Mapping[int, Rewritten]) -> None:
        for number, item in new.items():
            slot, statement = run.slots[number], run.statements[number]
            if not item.words:
                self._gone[statement.id] = (statement, item)
            elif len(item.words) == 1 or item.together:
                self._edits.append(self._edit(slot, item, b", "))
            else:
                self._edits += self._extended(slot, statement, item)

    def _extended(self, slot: Slot, statement: Node, item: Rewritten) -> Iterator[Edit]:
        """`x.append("a")` becomes `x.extend(["b", "c"])`."""
        function = statement.named_children[0].child_by_field_name("function")
        method = function.child_by_field_name("attribute") if function is not None else None
        assert method is not None and slot.literal is not None
        text = b"[" + self._listed(slot.literal, item, b", ") + b"]"
        yield _edit(Span(method.start_byte, method.end_byte), b"extend", item)
        yield _edit(slot.literal.span, text, item)

    def _without_statements(self, gone: Sequence[tuple[Node, Rewritten]]) -> Iterator[Edit]:
        """Statements of one block go; `pass` stands for the first where nothing else would be left."""
        block = gone[0][0].parent
        assert block is not None
        left = [child for child in block.named_children if child.type != "comment"]
        emptied = len(left) == len(gone) and block.type == "block"
        for number, (statement, item) in enumerate(gone):
            span = Span(statement.start_byte, statement.end_byte)
            start = line_start(self.data, span.start)
            rest = _BLANK_REST.match(self.data, span.end)
            alone = rest is not None and not self.data[start : span.start].strip()
            if (emptied and number == 0) or not alone or rest is None:
                yield _edit(span, b"pass", item)
            else:
                yield _edit(Span(start, rest.end()), b"", item)

    # --- lists

    def _add_list(self, run: Run, container: Node, new: Mapping[int, Rewritten]) -> None:
        gone = {number: item for number, item in new.items() if not item.words}
        if len(gone) == len(run.slots) and (statement := _adding_statement(container)) is not None:
            self._gone[statement.id] = (statement, next(iter(gone.values())))
            return
        for number, item in new.items():
            if item.words:
                self._edits.append(self._edit(run.slots[number], item, self._separator(run, number)))
        removals = list(_removals(self.data, container, gone))
        self._edits += _merged(self.data, removals)
        single = _single(container, removals, gone)
        if single is not None:  # ("a") is no tuple
            self._edits.append(_edit(Span(single, single), b",", next(iter(gone.values()))))

    def _separator(self, run: Run, number: int) -> bytes:
        """What stands between two elements of the list at this place."""
        for first, second in ((number, number + 1), (number - 1, number)):
            if first >= 0 and second < len(run.slots):
                gap = self.data[run.slots[first].node.end_byte : run.slots[second].node.start_byte]
                if _GAP.fullmatch(gap):
                    return gap
        return b", "

    def _edit(self, slot: Slot, item: Rewritten, separator: bytes) -> Edit:
        assert slot.literal is not None
        return _edit(slot.literal.span, self._listed(slot.literal, item, separator), item)

    def _listed(self, literal: StringLiteral, item: Rewritten, separator: bytes) -> bytes:
        """The new words in the quotes of the old one."""
        content = literal.contents[0]
        piece = literal.pieces[0]
        before = self.data[piece.start_byte : content.start]
        after = self.data[content.end : piece.end_byte]
        words = [b" ".join(item.words)] if item.together else item.words
        return separator.join(before + word + after for word in words)


def _adding_statement(container: Node) -> Node | None:
    """The statement `x += [...]` or `x.extend([...])` that a list is all of."""
    parent = container.parent
    if parent is not None and parent.type == "argument_list":
        call = parent.parent
        function = call.child_by_field_name("function") if call is not None else None
        method = function.child_by_field_name("attribute") if function is not None else None
        if method is None or method.text != b"extend":
            return None
        parent = call
    elif parent is None or parent.type != "augmented_assignment":
        return None
    statement = parent.parent if parent is not None else None
    return statement if statement is not None and statement.type == "expression_statement" else None


def _removals(data: bytes, container: Node, gone: Mapping[int, Rewritten]) -> Iterator[tuple[Span, Rewritten]]:
    """What goes with the elements of a list that are taken out: a comma, blanks, the whole line."""
    listed = elements(container)
    if gone and len(gone) == len(listed) and not any(child.type == "comment" for child in container.children):
        yield _emptied(data, container), next(iter(gone.values()))
        return
    for number, item in sorted(gone.items()):
        comma = _comma_after(listed[number])
        if comma is not None:
            yield _with_comma(data, listed[number], comma), item
        else:
            yield Span(_kept_before(data, listed, number, gone), listed[number].end_byte), item


def _comma_after(element: Node) -> Node | None:
    following = element.next_sibling
    while following is not None and following.type == "comment":
        following = following.next_sibling
    return following if following is not None and following.type == "," else None


def _kept_before(data: bytes, listed: Sequence[Node], number: int, gone: Mapping[int, Rewritten]) -> int:
    """Where the removal of the last element begins: behind the last one that stays, if no comment stands between."""
    before = number - 1
    while before in gone:
        before -= 1
    parts = listed[max(before, 0) : number + 1]
    gaps = (data[first.end_byte : second.start_byte] for first, second in pairwise(parts))
    if before < 0 or any(b"#" in gap for gap in gaps):
        return listed[number].start_byte
    return listed[before].end_byte


def _single(container: Node, removals: Sequence[tuple[Span, Rewritten]], gone: Mapping[int, Rewritten]) -> int | None:
    """Where a comma is needed: behind the one element of a tuple that stays, where none is left there."""
    kept = [element for number, element in enumerate(elements(container)) if number not in gone]
    if container.type != "tuple" or not gone or len(kept) != 1:
        return None
    comma = _comma_after(kept[0])
    lost = comma is None or any(span.start <= comma.start_byte < span.end for span, _ in removals)
    return kept[0].end_byte if lost else None


def _emptied(data: bytes, container: Node) -> Span:
    """All that a list holds; with the list itself and the `+`, where it is only added to something."""
    parent = container.parent
    operator = parent.child_by_field_name("operator") if parent is not None else None
    left = parent.child_by_field_name("left") if parent is not None else None
    right = parent.child_by_field_name("right") if parent is not None else None
    inside = Span(container.start_byte + 1, container.end_byte - 1)
    if operator is None or operator.type != "+" or left is None or right is None:
        return inside
    other = left if right == container else right
    # What is left must still be a list of its own, for somebody may add to it.
    if other.type not in ("binary_operator", "list_comprehension") or b"#" in data[left.end_byte : right.start_byte]:
        return inside
    return Span(left.end_byte, right.end_byte) if other == left else Span(left.start_byte, right.start_byte)


def _with_comma(data: bytes, node: Node, comma: Node) -> Span:
    """An element and the comma after it; its line, where nothing else stands on it."""
    if data[node.end_byte : comma.start_byte].strip():  # a comment between them
        return Span(node.start_byte, node.end_byte)
    start = line_start(data, node.start_byte)
    head = data[start : node.start_byte].rstrip(b" \t")
    rest = _BLANK_REST.match(data, comma.end_byte)
    if rest is not None and not head:
        return Span(start, rest.end())
    blanks = _BLANKS.match(data, comma.end_byte)
    end = blanks.end() if blanks else comma.end_byte
    if head and (rest is not None or data[end : end + 1] in (b"]", b")", b"}")):
        return Span(start + len(head), comma.end_byte)
    return Span(node.start_byte, end)


def _merged(data: bytes, removals: Sequence[tuple[Span, Rewritten]]) -> list[Edit]:
    """Edits of removals; those that touch become one."""
    found: list[Edit] = []
    for span, item in removals:
        if found and span.start <= found[-1].span.end:
            last = found.pop()
            name = f"{last.name} {_shown(item.name)}"
            found.append(last._replace(span=Span(min(last.span.start, span.start), span.end), name=name))
        else:
            found.append(_edit(span, b"", item))
    return [edit._replace(span=_to_comment(data, edit.span)) for edit in found]


def _to_comment(data: bytes, span: Span) -> Span:
    """Blanks go too where nothing but a comment is left of a line."""
    blanks = _BLANKS.match(data, span.end)
    end = blanks.end() if blanks else span.end
    alone = not data[line_start(data, span.start) : span.start].strip()
    return Span(span.start, end) if alone and data[end : end + 1] == b"#" else span


def _edit(span: Span, text: bytes, item: Rewritten) -> Edit:
    return Edit(span, text, BUILD_FLAG, item.applicability, _shown(item.name), item.library, item.evidence)


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "replace")
