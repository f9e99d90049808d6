"""What the cells of a notebook say, by language: Python of all cells together, shell lines, cells that become files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from musify.languages.notebook.facts import cell_kinds, python_lines
from musify.languages.notebook.reading import Cell, Notebook
from musify.languages.python import read
from musify.languages.recognition import language_of
from musify.languages.registry import Language
from musify.model import Span
from musify.source.embedding import EmbeddedText
from musify.source.syntax import parse

# Comments may come first: Colab has titles there.
_CELL_MAGIC = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*%%(?P<name>[\w.]+)(?P<rest>[^\n]*)")
_MAGIC = re.compile(rb"[ \t]*(?:[\w, \t.]+=[ \t]*)?(?P<mark>!!?|%%?)(?P<name>[A-Za-z_][\w.]*)?")
_OPTIONS = re.compile(rb"(?:[ \t]+-[a-zA-Z]+(?:[ \t]*\d+)?)*[ \t]*")
_HELP = re.compile(rb"[ \t]*\?{0,2}[\w.]+\?{0,2}\s*\Z")
_STRING = re.compile(
    rb"#[^\n]*|(?P<long>\"\"\"|''')|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|(?P<open>[(\[{])|(?P<close>[)\]}])"
)
_PYTHON = re.compile(rb"\s*(?:.*/)?python[\d.]*\s*\Z")
_SHELLS = re.compile(rb"(?:.*/)?(?:ba|z|k|da)?sh\Z")
Run = tuple[Span, bytes, bool]


class Piece(NamedTuple):
    """Text in one language; None: nobody knows which. `path` is what the file is called that it becomes.

    `cells` are those that it comes from. The first `context` bytes stand nowhere in it: what it is to know of others.
    """

    language: Language | None
    text: EmbeddedText
    cells: tuple[Cell, ...]
    path: str = ""
    context: int = 0


class Magic(NamedTuple):
    """A cell whose magic compiles CUDA: the place of the magic and its name."""

    place: Span
    name: str
    cell: Cell


@dataclass
class Pieces:
    """All that a notebook says."""

    pieces: list[Piece] = field(default_factory=list)
    magics: list[Magic] = field(default_factory=list)


def pieces_of(notebook: Notebook, *, reverse: bool = False) -> Pieces:
    """The pieces of a notebook: the Python of its cells as one text, since they share their names, then the others.

    `reverse`: cells that become sources of MUSA's count as sources too.
    """
    found = Pieces()
    together: list[tuple[Cell, list[Run]]] = []
    broken: list[tuple[Cell, list[Run]]] = []
    for cell in notebook.cells:
        reader = _CellReader(cell, found, reverse=reverse)
        runs = reader.python() if "python" in notebook.language else reader.foreign(notebook.language)
        if runs:
            (together if _is_python(runs) else broken).append((cell, runs))
    known = b""
    if together:
        found.pieces.insert(0, _joined(together))
        known = _imports(found.pieces[0].text.text) if broken else b""
    found.pieces += (_alone(cell, runs, known) for cell, runs in broken)
    return found


def _alone(cell: Cell, runs: list[Run], known: bytes) -> Piece:
    """A cell that is broken and must not tear down the others; it knows what they import."""
    start = cell.place.start
    text = EmbeddedText([(Span(start, start), known, False), *runs], cell.text.contents)
    return Piece(Language.PYTHON, text, (cell,), context=len(known))


def _imports(data: bytes) -> bytes:
    """The imports at the top of Python text, a line each."""
    module = read(data)
    statements = [item for item in module.imports if module.scopes.at(item.span.start) is module.scopes.module]
    return b"".join(data[slice(*item.span)] + b"\n" for item in statements)


def _joined(parts: Sequence[tuple[Cell, list[Run]]]) -> Piece:
    runs: list[Run] = []
    for cell, own in parts:
        end = cell.text.contents[-1].end
        runs += [*own, (Span(end, end), b"\n", False)]
    contents = [content for cell, _ in parts for content in cell.text.contents]
    return Piece(Language.PYTHON, EmbeddedText(runs, contents), tuple(cell for cell, _ in parts))


def _is_python(runs: Sequence[Run]) -> bool:
    return not parse(b"".join(run[1] for run in runs), "tree_sitter_python").has_error


class _CellReader:
    """Takes one cell apart."""

    def __init__(self, cell: Cell, found: Pieces, *, reverse: bool) -> None:
        self._reverse = reverse
        self._cell = cell
        self._found = found
        self._data = cell.text.text

    def foreign(self, language: str) -> list[Run]:
        """A cell of a kernel that does not run Python."""
        is_cpp = language.startswith(("c++", "cuda"))
        self._add(Language.CUDA if is_cpp else None, 0, len(self._data), "cell.cu")
        return []

    def python(self) -> list[Run]:
        """The runs of Python of the cell; the pieces in other languages are added to what is found."""
        match = _CELL_MAGIC.match(self._data)
        if match is None:
            return self._lines(0)
        body = self._data.find(b"\n", match.end()) + 1 or len(self._data)
        name = match.group("name").decode("utf-8", "replace")
        kind = cell_kinds().get(name, "")
        if kind == "script" and _PYTHON.match(match.group("rest")):
            kind = "python"
        head = self._masked(match.start("name") - 2, body)
        if kind == "python":
            return [*self._slice(0, match.start("name") - 2), *head, *self._lines(body)]
        self._other(kind, name, match, body)
        if not kind and self._fits_python(body):
            return [*head, *self._lines(body)]
        if not kind:
            self._add(None, body, len(self._data))
        return []

    def _fits_python(self, body: int) -> bool:
        return _is_python([(Span(0, 0), self._data[body:], False)])

    def _other(self, kind: str, name: str, match: re.Match[bytes], body: int) -> None:
        words = match.group("rest").split()
        if kind == "shell" or (kind == "script" and words and _SHELLS.match(words[0])):
            self._add(Language.SHELL, body, len(self._data))
        elif kind == "file" and words:
            path = words[-1].strip(b"\"'").decode("utf-8", "replace")
            language = language_of(path, reverse=self._reverse)
            if language is not None:
                self._add(language, body, len(self._data), path)
        elif kind == "cuda":
            place = self._cell.text.around(match.start("name") - 2, match.end("name"))
            self._found.magics.append(Magic(place, f"%%{name}", self._cell))
            self._add(Language.CUDA, body, len(self._data), "cell.cu")
            return
        if kind != "prose":
            self._add(Language.SHELL, match.start("name"), match.end("rest"))

    def _lines(self, start: int) -> list[Run]:
        """Python from `start` on, with magics of one line taken out."""
        runs: list[Run] = []
        depth, long = 0, b""
        while start < len(self._data):
            end = self._line_end(start)
            magic = _MAGIC.match(self._data, start, end) if depth == 0 and not long else None
            if magic is not None and (magic.group("mark").startswith(b"!") or magic.group("name")):
                end = self._end_of_command(start)
                runs += self._magic(magic, start, end)
            elif depth == 0 and not long and b"?" in self._data[start:end] and _HELP.match(self._data, start, end):
                runs += self._help(start, end)
            else:
                runs += self._slice(start, end)
                depth, long = _state(self._data[start:end], depth, long)
            start = end
        return runs

    def _line_end(self, start: int) -> int:
        return self._data.find(b"\n", start) + 1 or len(self._data)

    def _end_of_command(self, start: int) -> int:
        """Behind the last line of a command that goes on after backslashes."""
        end = self._line_end(start)
        while self._data[start:end].rstrip(b"\r\n").endswith(b"\\") and end < len(self._data):
            end = self._line_end(end)
        return end

    def _magic(self, magic: re.Match[bytes], start: int, end: int) -> list[Run]:
        mark, name = magic.start("mark"), (magic.group("name") or b"").decode("utf-8", "replace")
        if magic.group("mark") == b"%" and name in python_lines():
            options = _OPTIONS.match(self._data, magic.end())
            return [*self._slice(start, mark), *self._slice(options.end() if options else magic.end(), end)]
        words = mark + len(magic.group("mark"))
        if name in ("env", "set_env", "sx", "system", "script") and magic.group("mark") == b"%":
            words = magic.end()
        while self._data[words : words + 1] in (b" ", b"\t"):
            words += 1
        self._add(Language.SHELL, words, end)
        return [*self._slice(start, mark), *self._masked(mark, end)]

    def _help(self, start: int, end: int) -> list[Run]:
        """`name?` is the name."""
        return [run for at in range(start, end) if self._data[at : at + 1] != b"?" for run in self._slice(at, at + 1)]

    def _add(self, language: Language | None, start: int, end: int, path: str = "") -> None:
        if self._data[start:end].strip():
            text = EmbeddedText(self._slice(start, end), self._cell.text.contents)
            self._found.pieces.append(Piece(language, text, (self._cell,), path))

    def _slice(self, start: int, end: int) -> list[Run]:
        return list(self._cell.text.runs(start, end))

    def _masked(self, start: int, end: int) -> list[Run]:
        """What Python sees of lines that are none of its own: an expression and a comment, each line."""
        runs: list[Run] = []
        while start < end:
            stop = min(self._line_end(start), end)
            runs += [(self._cell.text.around(start, start), b"0#", False), *self._slice(start, stop)]
            start = stop
        return runs


def _state(line: bytes, depth: int, long: bytes) -> tuple[int, bytes]:
    """How many brackets are open behind a line, and which long string."""
    position = 0
    while True:
        if long:
            closing = line.find(long, position)
            if closing < 0:
                return depth, long
            position, long = closing + 3, b""
        match = _STRING.search(line, position)
        if match is None:
            return depth, long
        position = match.end()
        long = match.group("long") or b""
        depth = max(0, depth + bool(match.group("open")) - bool(match.group("close")))
