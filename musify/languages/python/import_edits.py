"""Writing import statements: names taken out of one, a new one beside it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from musify.languages.python.imports import ImportItem, ImportStatement
from musify.languages.python.nodes import text_of
from musify.model import Applicability, Edit, Span

_LONGEST_LINE = 100
_BLANKS = b" \t"
_REST_OF_LINE = re.compile(rb"[ \t]*(?:#[^\r\n]*)?(?=\r?\n|\Z)")


def statement_text(module: str, names: Sequence[str], indentation: bytes, newline: bytes) -> bytes:
    """`from module import names`, in parentheses where it would be long; `import module` without names."""
    if not names:
        return f"import {module}".encode()
    head = f"from {module} import ".encode()
    listed = [name.encode() for name in names]
    single = head + b", ".join(listed)
    if len(indentation) + len(single) <= _LONGEST_LINE:
        return single
    inner = b"".join(newline + indentation + b"    " + name + b"," for name in listed)
    return head + b"(" + inner + newline + indentation + b")"


def without_items(
    data: bytes, statement: ImportStatement, items: Collection[ImportItem], rule_id: str, evidence: str
) -> list[Edit]:
    """Edits that take some, not all, of the items out of a statement; comments between them stay."""
    kept = [item for item in statement.items if item not in items]
    gaps = [
        data[a.node.end_byte : b.node.start_byte] for a, b in zip(statement.items, statement.items[1:], strict=False)
    ]
    first, last = statement.items[0].node.start_byte, statement.items[-1].node.end_byte
    if any(b"#" in gap for gap in gaps):
        return [
            _edit(_with_comma(data, item), rule_id, item.name, evidence) for item in statement.items if item in items
        ]
    text = b"".join(
        (gaps[statement.items.index(item) - 1] if number else b"") + text_of(item.node)
        for number, item in enumerate(kept)
    )
    return [Edit(Span(first, last), text, rule_id, Applicability.SAFE, "", "", evidence)]


def beside(data: bytes, statement: ImportStatement, module: str, names: Sequence[str]) -> tuple[Span, bytes]:
    """Where a new statement `from module import names` goes beside another one, and its text."""
    line = line_start(data, statement.span.start)
    indentation = data[line : statement.span.start]
    rest = _REST_OF_LINE.match(data, statement.span.end)
    if indentation.strip(_BLANKS) or rest is None:
        return Span(*[statement.span.start] * 2), statement_text(module, names, b"", b" ") + b"; "
    newline = newline_of(data, rest.end())
    text = newline + indentation + statement_text(module, names, indentation, newline)
    return Span(rest.end(), rest.end()), text


def line_start(data: bytes, offset: int) -> int:
    """Where the line begins that holds the byte at `offset`; a byte order mark is not part of it."""
    start = data.rfind(b"\n", 0, offset) + 1
    return 3 if start == 0 and data.startswith(b"\xef\xbb\xbf") else start


def newline_of(data: bytes, offset: int) -> bytes:
    """The line ending that the file uses at `offset`, or anywhere."""
    if data[offset : offset + 2] == b"\r\n" or (offset >= len(data) and b"\r\n" in data):
        return b"\r\n"
    return b"\n"


def _with_comma(data: bytes, item: ImportItem) -> Span:
    end = item.node.end_byte
    comma = re.compile(rb"[ \t]*,[ \t]*").match(data, end)
    return Span(item.node.start_byte, comma.end() if comma else end)


def _edit(span: Span, rule_id: str, name: str, evidence: str) -> Edit:
    return Edit(span, b"", rule_id, Applicability.SAFE, name, "", evidence)
