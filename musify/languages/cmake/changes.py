"""Changes to a CMake file, command by command: texts replaced, arguments and commands taken out, lines put in."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable, Sequence

from musify.languages.cmake.reader import Command
from musify.model import Applicability, Edit, Finding, Span

CMAKE = "cmake"
# How far a line may be blank.
_LOOK = 200


class Changes:
    """Collects edits that do not overlap: the first that wants a place has it. `result` writes them in order."""

    def __init__(self, data: bytes, commands: Sequence[Command]) -> None:
        self.findings: list[Finding] = []
        self._data = data
        self._commands = commands
        self._edits: list[Edit] = []
        self._taken: list[Span] = []
        self._removed: dict[int, Edit] = {}
        self._before: dict[int, list[bytes]] = defaultdict(list)
        self._after: dict[int, list[bytes]] = defaultdict(list)
        self._deeper: set[int] = set()
        self._newline = b"\r\n" if b"\r\n" in data else b"\n"

    def edit(self, edit: Edit) -> bool:
        """Take in an edit; False where its place is taken already."""
        if not self.is_free(edit.span):
            return False
        bisect.insort(self._taken, edit.span)
        self._edits.append(edit)
        return True

    def is_free(self, span: Span) -> bool:
        """Whether no edit has changed anything there yet."""
        index = bisect.bisect_left(self._taken, span)
        around = self._taken[max(0, index - 1) : index + 1]
        return not any((item.start < span.end and span.start < item.end) or item == span for item in around)

    def replace(self, span: Span, text: bytes, *, name: str = "", evidence: str = "", review: bool = False) -> bool:
        """Put `text` in the place of a span; True also where it stands there already."""
        if self._data[span.start : span.end] == text:
            return True
        applicability = Applicability.REVIEW if review else Applicability.SAFE
        return self.edit(Edit(span, text, CMAKE, applicability, name, "", evidence))

    def find(self, finding: str, span: Span, name: bytes, **arguments: str) -> None:
        """Report something at a place."""
        shown = b" ".join(name.split()).decode("utf-8", "replace")
        self.findings.append(Finding(finding, span, shown, arguments))

    def remove_arguments(self, index: int, positions: Iterable[int]) -> None:
        """Take out arguments of a command, by their places, with the blanks that held them apart."""
        wanted = sorted(set(positions))
        while wanted:
            first = last = wanted.pop(0)
            while wanted and wanted[0] == last + 1:
                last = wanted.pop(0)
            self.edit(Edit(self._without(index, first, last), b"", CMAKE))

    def remove(self, index: int, *, review: bool = False) -> None:
        """Take out a command; its line too, where nothing else stands on it."""
        applicability = Applicability.REVIEW if review else Applicability.SAFE
        self._removed.setdefault(index, Edit(self._commands[index].span, b"", CMAKE, applicability))

    def is_removed(self, index: int) -> bool:
        """Whether a command goes."""
        return index in self._removed

    def append_to(self, place: Span, text: bytes) -> None:
        """Put text in at an empty place behind an argument, whatever becomes of the argument."""
        self._edits.append(Edit(place, text, CMAKE))

    def add_before(self, index: int, *lines: bytes) -> None:
        """Put lines above a command, indented as it is."""
        self._before[index] += lines

    def add_after(self, index: int, *lines: bytes) -> None:
        """Put lines below a command, indented as it is."""
        self._after[index] += lines

    def deepen(self, index: int) -> None:
        """Indent a command by two more blanks, for a block that lines above and below it make."""
        self._deeper.add(index)

    def result(self) -> list[Edit]:
        """All edits, in no order."""
        gone = [self._commands[index].span for index in self._removed]
        edits = [edit for edit in self._edits if not any(_within(edit.span, span) for span in gone)]
        for index in sorted({*self._removed, *self._before, *self._after}):
            if index in self._removed:
                edits.append(self._replaced(index))
            else:
                edits += self._around(index)
        return edits

    def _replaced(self, index: int) -> Edit:
        edit = self._removed[index]
        lines = [*self._before[index], *self._after[index]]
        if lines:
            joined = (self._newline + self._indent(edit.span.start)).join(lines)
            return edit._replace(new_text=joined)
        return edit._replace(span=self._whole_line(edit.span))

    def _around(self, index: int) -> list[Edit]:
        span = self._commands[index].span
        edits = []
        indent = self._indent(span.start)
        if self._before[index]:
            text = b"".join(line + self._newline + indent for line in self._before[index])
            text += b"  " if index in self._deeper else b""
            edits.append(Edit(Span(span.start, span.start), text, CMAKE))
        if self._after[index]:
            end = self._data.find(b"\n", span.end)
            end = len(self._data) if end < 0 else end
            end -= self._data[end - 1 : end] == b"\r"
            text = b"".join(self._newline + indent + line for line in self._after[index])
            edits.append(Edit(Span(end, end), text, CMAKE))
        return edits

    def _without(self, index: int, first: int, last: int) -> Span:
        """The arguments from `first` to `last`, with the blanks before them, or after them where they begin a line."""
        arguments = self._commands[index].arguments
        start, end = arguments[first].start, arguments[last].end
        after = arguments[last + 1].start if last + 1 < len(arguments) else -1
        follows = after >= 0 and not self._data[end:after].strip(b" \t")
        before = self._data[arguments[first - 1].end : start] if first else b"#"
        if follows and (not first or b"\n" in before):
            return Span(start, after)
        if not before.strip():
            return Span(start - len(before), end)
        while self._data[start - 1 : start] in (b" ", b"\t"):
            start -= 1
        if self._data[start - 1 : start] == b"\n" and self._data[end : end + 1] in (b"\n", b"\r"):
            start -= 1 + (self._data[start - 2 : start - 1] == b"\r")
        return Span(start, end)

    def _whole_line(self, span: Span) -> Span:
        start, end = span
        while self._data[start - 1 : start] in (b" ", b"\t"):
            start -= 1
        if start and self._data[start - 1 : start] != b"\n":
            return span
        while self._data[end : end + 1] in (b" ", b"\t"):
            end += 1
        if self._data[end : end + 1] == b"#":
            return Span(span.start, end)
        end += self._data[end : end + 1] == b"\r"
        if self._data[end : end + 1] == b"\n":
            return Span(self._blank_before(start, end + 1), end + 1)
        return Span(start, end) if end == len(self._data) else span

    def _blank_before(self, start: int, end: int) -> int:
        """Where a line that goes begins, with the blank line above it where one stays below, or the file ends."""
        below = self._data[end : end + _LOOK].lstrip(b" \t\r")[:1] if end < len(self._data) else b"\n"
        above = self._data.rfind(b"\n", 0, max(0, start - 1)) + 1
        if below == b"\n" and start and not self._data[above:start].strip():
            return above
        return start

    def _indent(self, offset: int) -> bytes:
        line = self._data.rfind(b"\n", 0, offset) + 1
        text = self._data[line:offset]
        return text if not text.strip() else text[: len(text) - len(text.lstrip())]


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
