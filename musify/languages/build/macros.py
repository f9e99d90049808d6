"""Lists of macros that a build file defines, without `-D` before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from musify.languages.build.flag_changes import flag_changes
from musify.languages.build.flags import BUILD_FLAG, FlagWord
from musify.languages.build.unit import BuildUnit
from musify.model import Edit, Span


def macro_edits(unit: BuildUnit, words: Sequence[FlagWord]) -> Iterator[Edit]:
    """Edits for macros of CUDA's in a list of `NAME` and `NAME=value`."""
    for word in (word for word in words if word.text):
        for change in flag_changes([b"-D" + word.text], unit.book, unit.settings):
            before, found, after = unit.text(word.span).partition(word.text)
            if found and change.new is not None and len(change.new) == 1 and change.new[0].startswith(b"-D"):
                start, end = word.span.start + len(before), word.span.end - len(after)
                yield Edit(
                    Span(start, end), change.new[0][2:], BUILD_FLAG, change.applicability,
                    change.name.decode("utf-8", "replace"), change.library, change.evidence,
                )  # fmt: skip
