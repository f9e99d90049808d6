"""Variables of a build file that hold GPU architectures: their values become those of the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from musify.languages.build.flags import FlagWord
from musify.languages.build.unit import BuildUnit
from musify.languages.build.variables import Variables, is_architecture_value
from musify.model import Applicability, Edit, Finding, Span

ARCHITECTURE_VALUE = "architecture-value"


def architecture_edits(
    unit: BuildUnit, variables: Variables, name: bytes, words: Sequence[FlagWord], *, several: bool = False
) -> Iterator[Edit | Finding]:
    """Edits for `words` where the variable `name` holds architectures (`sm_80`), or their numbers (`80`).

    `several`: the place can hold more than one. Where it cannot and the target has more than one, a value that is one
    stays and is reported; one that is a list can take a list.
    """
    texts = [word.text for word in words]
    for kind, prefix, numbers in ((variables.architectures, "", False), (variables.numbers, "mp_", True)):
        if name not in kind or not is_architecture_value(texts, numbers=numbers):
            continue
        names = [item.removeprefix(prefix) for item in unit.settings.target.architectures]
        if len(names) > 1 and len(words) == 1 and not several:
            yield Finding("MUS524", words[0].span, name.decode("utf-8", "replace"), {"architectures": " ".join(names)})
            return
        yield Edit(
            Span(words[0].span.start, words[-1].span.end), b" ".join(item.encode() for item in names),
            ARCHITECTURE_VALUE, Applicability.REVIEW, b" ".join(texts).decode("utf-8", "replace"), "", "code",
        )  # fmt: skip
        return
