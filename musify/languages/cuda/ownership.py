"""Which uses of listed names are the project's own: those that its declarations reach, from this file or included."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from musify.languages.cuda.declarations import EXPORTED_AGAIN, UNNAMED, Declaration, listed_declarations
from musify.languages.cuda.references import Scope, qualifier_of
from musify.languages.cuda.unit import Unit
from musify.languages.surroundings import OwnName
from musify.model import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_DERIVED = re.compile(rb"\b(?:struct|class)\s+([A-Za-z_]\w*)(?:\s+final)?\s*:(?!:)([^{};()]*)\{")


class Ownership:
    """Which uses of listed names are the project's own, in one file."""

    def __init__(self, unit: Unit) -> None:
        every = listed_declarations(unit)
        self._again = {(item.path[-1], item.name) for item in every if item.kind == EXPORTED_AGAIN and item.path}
        self._again |= {(item.path[-1], item.name) for item in unit.surroundings.own if item.kind == EXPORTED_AGAIN}
        self.declarations = [item for item in every if not self._hands_on(unit, item)]
        self._data = unit.data
        self._places = {item.place.start for item in self.declarations if not self.is_ported(item)}
        self._exported = {
            item.place.start for item in self.declarations if item.exported and not item.path and not item.mirrors_api
        }
        self._file_names: set[bytes] = set()
        self._scopes: dict[bytes, list[Span]] = {}
        for item in self.declarations:
            elsewhere = item.exported and not item.path and item.conditional
            if not self.is_ported(item) and not (elsewhere and item.kind != "macro"):
                self._scopes.setdefault(item.name, []).append(item.scope)
                if item.exported and not item.path and not elsewhere:
                    self._file_names.add(item.name)
        self._add_included(unit)
        self._merged = {name: _merged(spans) for name, spans in self._scopes.items()}

    @staticmethod
    def is_ported(item: Declaration) -> bool:
        """Whether a declaration is converted like any use: it repeats the API's, or is a stub that only some see."""
        stub = item.exported and not item.path and item.conditional and item.kind != "macro"
        return item.mirrors_api or stub

    def is_declaration(self, word: Span) -> bool:
        """Whether a finding of its own speaks of the declaration at `word` (see MUS106)."""
        return word.start in self._exported

    def exports_again(self, name: bytes, qualifier: bytes) -> bool:
        """Whether `qualifier::name` is the API's, for a namespace of that name has `using ::name;`."""
        return (qualifier, name) in self._again

    def _hands_on(self, unit: Unit, item: Declaration) -> bool:
        """Whether a declaration is `using`, of a name of the API's that a namespace hands on."""
        if item.kind != "using":
            return item.kind == EXPORTED_AGAIN
        return self.exports_again(item.name, qualifier_of(unit.outline, unit.neighbours(item.place)))

    def owns(self, name: bytes, word: Span, scope: Scope) -> bool:
        """Whether the name at `word` is the project's. `::name` is so only if the file itself declares it."""
        if word.start in self._places:
            return True
        if scope is Scope.GLOBAL:
            return name in self._file_names
        merged = self._merged.get(name)
        if merged is None:
            return False
        index = bisect_right(merged, (word.start, len(self._data))) - 1
        return index >= 0 and word.start < merged[index][1]

    def _add_included(self, unit: Unit) -> None:
        entries = {
            *(entry for entry in unit.surroundings.own if entry.kind != EXPORTED_AGAIN),
            *(OwnName(d.name, d.path, d.kind, d.conditional) for d in self.declarations if d.exported and d.path),
        }
        if not entries:
            return
        used = {unit.text(word) for word in unit.words}
        relevant = [entry for entry in entries if entry.name in used]
        for entry in relevant:
            if not entry.path and not entry.conditional:
                self._scopes.setdefault(entry.name, []).append(Span(0, len(unit.data)))
                self._file_names.add(entry.name)
        nested: dict[bytes, list[OwnName]] = {}
        for entry in relevant:
            if entry.path and UNNAMED not in entry.path:
                nested.setdefault(entry.path[-1], []).append(entry)
        if nested:
            for path, span in _regions(unit):
                for part in set(path):
                    for entry in nested.get(part, ()):
                        if _holds(path, entry.path):
                            self._scopes.setdefault(entry.name, []).append(span)


def _holds(path: tuple[bytes, ...], inner: tuple[bytes, ...]) -> bool:
    """Whether `inner` occurs in `path` as it is: names of a namespace are seen in those nested in it."""
    return any(path[i : i + len(inner)] == inner for i in range(len(path) - len(inner) + 1))


def _merged(spans: list[Span]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _regions(unit: Unit) -> Iterable[tuple[tuple[bytes, ...], Span]]:
    """Bodies of namespaces and classes, and functions defined as `A::B::f`, with the names around them.

    A class that derives from another counts as that one too.
    """
    bases = _bases(unit)
    pending: list[tuple[Node, tuple[bytes, ...]]] = [(unit.tree, ())]
    while pending:
        node, path = pending.pop()
        for child in node.named_children:
            inner = path + _names_of(unit, child)
            body = child.child_by_field_name("body")
            if inner != path and body is not None:
                start = child.start_byte if child.type == "function_definition" else body.start_byte
                for seen in {inner, *((base,) for part in inner for base in bases.get(part, ()))}:
                    yield seen, Span(start, body.end_byte)
            if child.type not in ("compound_statement", "expression_statement"):
                pending.append((child, inner))


def _bases(unit: Unit) -> dict[bytes, set[bytes]]:
    """The base classes of each class that the file names, those of the bases too."""
    found: dict[bytes, set[bytes]] = {}
    for match in _DERIVED.finditer(unit.data):
        names = set(re.findall(rb"[A-Za-z_]\w*", match.group(2))) - {b"public", b"private", b"protected", b"virtual"}
        found.setdefault(match.group(1), set()).update(names)
    for _ in range(3):
        for names in found.values():
            names.update(*(found.get(name, set()) for name in list(names)))
    return found


def _names_of(unit: Unit, node: Node) -> tuple[bytes, ...]:
    if node.type in ("namespace_definition", "class_specifier", "struct_specifier", "union_specifier"):
        name = node.child_by_field_name("name")
    elif node.type == "function_definition":
        name = node.child_by_field_name("declarator")
        while name is not None and name.type != "qualified_identifier":
            name = name.child_by_field_name("declarator")
    else:
        return ()
    if name is None:
        return ()
    parts: Sequence[bytes] = re.findall(rb"[A-Za-z_]\w*", unit.data[name.start_byte : name.end_byte])
    return tuple(parts[:-1] if node.type == "function_definition" else parts)
