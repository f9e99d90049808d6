"""Where a MUSA name was seen: counts and one example each. Read only for `explain`."""

from __future__ import annotations

import csv
from functools import lru_cache
from typing import NamedTuple

from musify.rules.location import rules_folder


class Attestation(NamedTuple):
    """How often public MUSA code writes the counterpart of a name, in how many repositories, and where for one.

    `grade`: A three or more repositories or a header audit; B two, or a compiled tree; C compatibility headers or
    text-ported code only. Counts are empty for names that only a document gives.
    """

    uses: str
    repositories: str
    grade: str
    example: str


@lru_cache(maxsize=1)
def _attestations() -> dict[str, Attestation]:
    with (rules_folder() / "evidence.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        return {row[0]: Attestation(*row[1:5]) for row in rows}


def attestation(name: str) -> Attestation | None:
    """What is known of a CUDA name's counterpart, None where nothing is."""
    return _attestations().get(name)
