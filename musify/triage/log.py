"""Reading a build log: what mcc (clang), nvcc, gcc, linkers, make, ninja and CMake said, whatever stands around it.

Each error is read from its own line, since parallel builds mix the lines of several compilers; only notes and the
lines that belong to an error of CMake or lld are taken from the lines that follow.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from musify.model import MusifyError
from musify.source.document import Document, NotText

_ESCAPES = re.compile(
    r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|[\x00-\x08\x0b\x0c\x0e-\x1f]"
)
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "`": "'"})
_SEVERITY = r"(?P<severity>catastrophic error|[Ff]atal error|fatal|[Ee]rror|[Ww]arning|note|remark|Remark)"
_PATH = r"(?P<path>(?:[A-Za-z]:[\\/])?[^:\"']*?[^:\"'\s])"
# path:line:column: error: text (clang, gcc); Assembler messages have no column.
_PLACED = re.compile(rf"^{_PATH}:(?P<line>\d+)(?::(?P<column>\d+))?: *{_SEVERITY}(?: #[\w-]+)?: ?(?P<text>.*)$")
# path(line): error #20: text (nvcc, MSVC)
_BRACKETED = re.compile(
    rf"^{_PATH}\((?P<line>\d+)(?:,(?P<column>\d+))?\) *: *{_SEVERITY}(?: #?[\w-]+)?: ?(?P<text>.*)$"
)
# What remains of such a line where another process wrote in between.
_TORN = re.compile(rf"(?P<path>[^\s:\"'()]+):(?P<line>\d+):(?P<column>\d+): {_SEVERITY}: ?(?P<text>.*)$")
_TOOL = re.compile(
    r"^(?:[^\s:]*/)?(?P<tool>[\w.+-]*(?:clang|mcc|gcc|g\+\+|c\+\+|cc1plus|cc1|nvcc|ld|lld|collect2|nvlink|ptxas|fatbinary|ninja|LLVM)"
    r"[\w.+-]*?)(?: [^:]*?, line (?P<line>\d+);)? *:? *(?P<severity>fatal error|error|fatal|warning|ERROR) *: "
    r"(?P<text>.*)$"
)
_CMAKE = re.compile(
    r"^CMake Error(?: at (?P<path>[^:]+):(?P<line>\d+)| in (?P<file>[^:]+))?(?: \(\w+\))?: ?(?P<text>.*)$"
)
_LINKER = re.compile(
    r"(?:(?P<path>[^\s:]+):(?:(?P<line>\d+)|\([^)]*\)): )?"
    r"(?P<text>(?:undefined reference to|multiple definition of) .*|cannot find -l.*)$"
)
_REFERENCED = re.compile(r"^>>> referenced by (?P<path>[^\s:]+):(?P<line>\d+)")
_MAKE = re.compile(r"^g?make(?:\[(?P<level>\d+)\])?: (?P<text>.*)$")
_ENTERING = re.compile(r"^(Entering|Leaving) directory '(?P<folder>[^']*)'")
_SHELL = re.compile(r"^(?:/bin/)?(?:ba|da|z)?sh: (?:line )?(?:\d+: )?(?P<text>[\w./+-]+: (?:command )?not found)$")
_BARE = re.compile(r"^(?P<severity>fatal error): (?P<text>.*)$")
_CRASH = re.compile(r"(?P<text>PLEASE submit a bug report|Segmentation fault|internal compiler error|Stack dump:).*")
# Most lines of a log are source text and commands: those without one of these words need no closer look.
_HINT = re.compile(
    r"[Ee]rror|ERROR|[Ff]atal|[Ww]arning|note|[Rr]emark|undefined|cannot find|not found|multiple def|make|directory|>>>"
    r"|submit a bug|dump|[Ss]egmentation"
)
_ERRORS = frozenset({"error", "fatal error", "catastrophic error", "fatal"})


class Remark(NamedTuple):
    """A note that follows an error."""

    path: str
    text: str


@dataclass
class Diagnostic:
    """One error of the log, 1-based lines; `column` is 0 where none is given, `path` empty where no file is.

    `folders` are where a relative path may start, the likeliest first.
    """

    tool: str
    text: str
    log_line: int
    path: str = ""
    line: int = 0
    column: int = 0
    folders: tuple[str, ...] = ()
    notes: list[Remark] = field(default_factory=list)


@dataclass
class Log:
    """What a log says: its errors in order, how many warnings, how many lines."""

    name: str
    errors: list[Diagnostic] = field(default_factory=list)
    warnings: int = 0
    lines: int = 0


def read_log(path: Path) -> Log:
    """The log at `path`. Raises MusifyError where it cannot be read or is not text."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise MusifyError(f"{path}: cannot read the build log: {error.strerror or error}") from error
    return parse_log(raw, path.name)


def parse_log(raw: bytes, name: str) -> Log:
    """The log in `raw`, in UTF-8 or UTF-16. Raises MusifyError for what is not text."""
    try:
        text = Document.from_bytes(raw).data.decode("utf-8", "replace")
    except NotText as problem:
        raise MusifyError(f"{name}: is no build log: it {problem}") from problem
    log = Log(name)
    _Reader(log).read(text.removeprefix("\ufeff").split("\n"))
    return log


class _Reader:
    """Goes through the lines of a log and keeps the errors."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._folders: dict[str, str] = {}
        self._last: Diagnostic | None = None  # what notes belong to
        self._open: Diagnostic | None = None  # an error of CMake whose text goes on

    def read(self, lines: Iterable[str]) -> None:
        """Read all lines."""
        for number, raw in enumerate(lines, 1):
            for line in _visible(raw):
                self._line(line, number)
            self._log.lines = number

    def _line(self, line: str, number: int) -> None:
        if self._open is not None:
            if line[:1] in ("", " "):
                self._open.text = f"{self._open.text} {line.strip()}".strip()
                return
            self._open = None
        if _HINT.search(line) is None:
            return
        for form in (self._compiler, self._cmake, self._make, self._unplaced):
            if form(line.translate(_QUOTES), number):
                return

    def _compiler(self, line: str, number: int) -> bool:
        match = _PLACED.match(line) or _BRACKETED.match(line) or _TORN.search(line)
        if match is None:
            return False
        severity = match["severity"].lower()
        if severity == "note":
            if self._last is not None:
                self._last.notes.append(Remark(match["path"], match["text"]))
        elif severity in _ERRORS:
            # A path that is a number is what is left of a torn line.
            path = "" if match["path"].isdigit() else match["path"].replace("\\", "/")
            self._add("compiler", match["text"], number, path, match["line"], match["column"])
        else:
            self._log.warnings += severity == "warning"
            self._last = None
        return True

    def _cmake(self, line: str, number: int) -> bool:
        match = _CMAKE.match(line)
        if match is None:
            self._log.warnings += line.startswith("CMake Warning")
            return False
        self._open = self._add("cmake", match["text"], number, match["path"] or match["file"] or "", match["line"])
        return True

    def _make(self, line: str, number: int) -> bool:
        match = _MAKE.match(line)
        if match is None:
            return False
        entering = _ENTERING.match(match["text"])
        if entering:
            self._folders.pop(match["level"] or "", None)
            if entering[1] == "Entering":
                self._folders[match["level"] or ""] = entering["folder"]
        else:
            self._add("make", match["text"].removeprefix("*** "), number)
        return True

    def _unplaced(self, line: str, number: int) -> bool:
        entering = re.match(r"ninja: Entering directory '(?P<folder>[^']*)'", line)
        if entering:
            self._folders["ninja"] = entering["folder"]
            return True
        referenced = _REFERENCED.match(line)
        if referenced and self._last is not None and not self._last.path:
            self._last.path, self._last.line = referenced["path"], int(referenced["line"])
            return True
        linker, tool = _LINKER.search(line), _TOOL.match(line)
        if linker:
            path = linker["path"] or ""
            self._add("linker", linker["text"], number, "" if path.endswith(".o") else path, linker["line"])
        elif tool and "warning" in tool["severity"]:
            self._log.warnings += 1
        elif tool:
            self._add(tool["tool"], tool["text"], number)
        else:
            other = _SHELL.match(line) or _CRASH.search(line) or _BARE.match(line)
            if other is None:
                return False
            self._add({_SHELL: "shell", _CRASH: "crash", _BARE: "compiler"}[other.re], other["text"], number)
        return True

    def _add(
        self, tool: str, text: str, number: int, path: str = "", line: str | None = None, column: str | None = None
    ) -> Diagnostic:
        folders = tuple(reversed(self._folders.values()))
        found = Diagnostic(tool, text.strip(), number, path, int(line or 0), int(column or 0), folders)
        self._log.errors.append(found)
        self._last = found
        return found


def _visible(raw: str) -> Iterator[str]:
    """The lines that a terminal shows for one of the log: without colours, and split where a progress bar went back."""
    for part in raw.rstrip("\r").split("\r"):
        yield _ESCAPES.sub("", part).rstrip()


def candidates(path: str, folders: Sequence[str]) -> Iterator[str]:
    """The paths that `path` in a log may mean, the likeliest first, without `.` and `..`.

    What stands before a blank or a parenthesis may be another process's text.
    """
    for shown in dict.fromkeys((path, path.split()[-1], re.split(r"[\s(]", path)[-1])):
        if not shown.startswith("/"):
            yield from (posixpath.normpath(posixpath.join(folder, shown)) for folder in folders)
        yield posixpath.normpath(shown)
