"""What is worked out from the compiled rules: namespaces, and the words that make a source worth a look."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from musify.model import Evidence
from musify.rules.loader import Table

if TYPE_CHECKING:
    from musify.rules.book import RuleBook

# Below this many names on a two-letter stem, the names themselves go into the word pattern.
_RARE_STEM = 60
# At the end of a `lookalike` entry: the name goes on in lower case, not in upper case (CUstream).
THEN_LOWER = b"[a-z]"
_MARKS = frozenset(
    b"MUSIFY_EXCL musify: cub/ thrust/ cooperative_groups/ dlopen dlmopen LoadLibrary .cuh .cu> threadIdx __global__ "
    b"__device__".split()
)


def namespaces(tables: Table) -> dict[bytes, int]:
    """The namespaces that listed names lie in, each with the group of the best attested of them."""
    strength = {evidence.value: rank for rank, evidence in enumerate(Evidence)}
    best: dict[bytes, int] = {}
    for name, group in tables["names"].items():
        parts = name.split(b"::")
        for end in range(1, len(parts)):
            space = b"::".join(parts[:end])
            known = best.get(space)
            if known is None or strength[tables["groups"][group][2]] < strength[tables["groups"][known][2]]:
                best[space] = group
    return best


def words_of_interest(book: RuleBook, tables: Table) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Beginnings of words, whole words, and other marks that make a source worth a look.

    The words are all that are renamed, kept with a finding or noted; the marks are headers and keywords.
    """
    stems: dict[bytes, set[bytes]] = defaultdict(set)
    for name in [*tables["names"], *tables["version_macros"], *tables["architecture_macros"]]:
        head = name.split(b"::")[0]
        if b"::" in name or _matters(book, tables, name):
            stems[head[: 4 if head.startswith(b"_") else 2]].add(head)
    prefixes: set[bytes] = set()
    words: set[bytes] = set()
    for names in stems.values():
        if len(names) >= _RARE_STEM:
            prefixes.add(_common_beginning(names))
        else:
            words |= names
    lookalikes = {prefix.removesuffix(THEN_LOWER) for library in book.libraries for prefix in library.lookalike}
    prefixes |= {prefix for prefix in lookalikes if not prefix.startswith(tuple(prefixes))}
    headers = {path for path in tables["headers"] if not path.startswith(tuple(prefixes)) and b"/" not in path}
    return sorted(prefixes), sorted(words), sorted(headers | _MARKS)


def _common_beginning(names: set[bytes]) -> bytes:
    first, last = min(names), max(names)
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:length]


def _matters(book: RuleBook, tables: Table, name: bytes) -> bool:
    if name in tables["version_macros"] or name in tables["architecture_macros"]:
        return True
    rule = book.name(name)
    return rule is not None and rule.matters
