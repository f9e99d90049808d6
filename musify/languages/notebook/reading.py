"""The cells of a notebook, with the place of every byte of their source in the file."""

from __future__ import annotations

import json
from dataclasses import dataclass

from musify.model import Span
from musify.source.embedding import EmbeddedText
from musify.source.json import JsonError, JsonFile, JsonValue, joined_strings, quoted, read_json


@dataclass(frozen=True)
class Cell:
    """A code cell: its 1-based number among all cells, its source, and what stands between two lines of that.

    `separator` is empty where the source is one string.
    """

    number: int
    text: EmbeddedText
    separator: bytes

    def written(self, text: bytes) -> bytes:
        """How new text stands in the file: escaped, and each line a string of its own where the file does so."""
        return quoted(text).replace(rb"\n", rb"\n" + self.separator) if self.separator else quoted(text)

    @property
    def place(self) -> Span:
        """From the first byte of the source to the last."""
        return Span(self.text.contents[0].start, self.text.contents[-1].end)


@dataclass(frozen=True)
class Notebook:
    """The code cells that hold any source, in order, and the language of the kernel in lower case."""

    cells: tuple[Cell, ...]
    language: str


def read_notebook(data: bytes) -> Notebook:
    """Read a notebook (format 4, or 3 with its worksheets). Raises JsonError."""
    file = read_json(data)
    if file.comments:
        raise JsonError("a notebook has no comments", file.comments[0].start)
    _check(data)
    sheets = file.member(file.root, b"worksheets")
    holders = sheets.items if sheets is not None else [file.root] if file.root is not None else []
    listed = [cells for holder in holders if (cells := file.member(holder, b"cells")) is not None]
    values = [value for cells in listed for value in cells.items]
    found = (_cell(file, number, value) for number, value in enumerate(values, 1))
    return Notebook(tuple(cell for cell in found if cell is not None), _language(file))


def skeleton(data: bytes) -> object:
    """What a notebook holds beside the source of its code cells, to compare. Raises ValueError."""
    content = json.loads(data.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
    for sheet in content.get("worksheets", [content]):
        for cell in sheet.get("cells", []):
            if cell.get("cell_type") == "code":
                cell.pop("source", None)
                cell.pop("input", None)
    return content


def _check(data: bytes) -> None:
    """Jupyter reads strict JSON only."""
    try:
        skeleton(data)
    except json.JSONDecodeError as error:
        offset = len(error.doc[: error.pos].encode("utf-8", "surrogateescape"))
        raise JsonError(error.msg, offset + (3 if data.startswith(b"\xef\xbb\xbf") else 0)) from error
    except (AttributeError, TypeError) as error:
        raise JsonError("this is no notebook", 0) from error


def _language(file: JsonFile) -> str:
    metadata = file.member(file.root, b"metadata")
    for holder, key in ((b"language_info", b"name"), (b"kernelspec", b"language")):
        value = file.member(file.member(metadata, holder), key)
        if value is not None:
            return file.text(value).decode("utf-8", "replace").lower()
    return "python"


def _cell(file: JsonFile, number: int, value: JsonValue) -> Cell | None:
    kind = file.member(value, b"cell_type")
    source = file.member(value, b"source") or file.member(value, b"input")
    if kind is None or source is None or file.text(kind) != b"code":
        return None
    strings = [source] if source.kind == "string" else source.items
    spans = [item.span for item in strings if item.kind == "string"]
    if not spans:
        return None
    return Cell(number, joined_strings(file.data, spans), _separator(file.data, source, spans))


def _separator(data: bytes, source: JsonValue, spans: list[Span]) -> bytes:
    """What ends one line of a source and begins the next: quotes, and what stands between these."""
    if source.kind == "string":
        return b""
    if len(spans) > 1:
        return b'"' + data[spans[0].end : spans[1].start] + b'"'
    return b'",' + (data[source.span.start + 1 : spans[0].start] or b" ") + b'"'
