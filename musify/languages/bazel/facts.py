"""What rules/build/bazel.toml says, ready to look up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from musify.languages.build.flag_values import linked
from musify.languages.build.known import Known, known_names
from musify.rules.book import RuleBook
from musify.rules.loader import Table
from musify.rules.model import Library
from musify.rules.shipped import shipped_tables

_FILE = "bazel.toml"
_LABEL = re.compile(r"@{1,2}(?P<repository>[\w.+~-]+)(?://(?P<package>[^:\"'\s=]*))?(?::(?P<target>[^\"',;\s=]*))?")


class Label(NamedTuple):
    """A label of one of CUDA's repositories: `@local_cuda//:cublas`.

    `target` is MUSA's library, `headers`, or empty where none is known; `library` is CUDA's, where it is one.
    """

    written: str
    target: str
    library: Library | None


def known() -> Mapping[str, Known]:
    """Rules, macros and questions of CUDA's, by name."""
    return known_names(_FILE)


@cache
def keywords(kind: str) -> frozenset[str]:
    """Keyword arguments of one kind: `host` flags, or names of `macros`."""
    return frozenset(_tables()["keywords"][kind].split())


@cache
def repositories() -> frozenset[str]:
    """The repositories whose labels are CUDA's."""
    return frozenset(_tables()["repositories"]["names"].split())


def read_label(text: str, book: RuleBook) -> Label | None:
    """The label of CUDA's that a text begins with; None for any other."""
    match = _LABEL.match(text)
    if match is None or match.group("repository") not in repositories():
        return None
    target = match.group("target") or (match.group("package") or "").rpartition("/")[2] or match.group("repository")
    named: str | None = _tables()["targets"].get(target)
    if named is not None:
        return Label(match.group(), named, None)
    library = linked(target.encode(), book)
    return Label(match.group(), library.target.decode() if library.library else "", library.library)


def _tables() -> Table:
    return shipped_tables("build")[_FILE]
