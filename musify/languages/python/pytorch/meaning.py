"""What becomes of a dotted name of PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from musify.languages.python.nodes import span_of
from musify.languages.python.pytorch import facts
from musify.model import Applicability, Edit

if TYPE_CHECKING:
    from tree_sitter import Node

RENAME = "torch-name"


def renaming_of(dotted: str) -> tuple[facts.Renamed | None, facts.Without | None]:
    """The entry that renames a name, or the one that says why it stays; the longer entry wins."""
    renamed = longest(facts.modules(), dotted)
    stays = next((item for item in facts.without() if item.holds(dotted)), None)
    if stays is not None and (renamed is None or len(renamed.cuda) <= len(stays.name)):
        return None, stays
    return renamed, None


def doubt_of(dotted: str) -> Mapping[str, str] | None:
    """Why nothing vouches for the counterpart of a name, in two languages; None where something does."""
    found = next((item for item in facts.unproven() if item[0].match(dotted)), None)
    return {"why": found[1], "why_zh": found[2]} if found is not None else None


def edit_of(node: Node, text: str, renamed: facts.Renamed, how: Applicability = Applicability.SAFE) -> Edit:
    """The edit that writes `text` for a node, by an entry of the rules."""
    return Edit(span_of(node), text.encode(), RENAME, how, renamed.cuda, "torch", renamed.evidence)


def longest(entries: tuple[facts.Renamed, ...], dotted: str) -> facts.Renamed | None:
    """The first, and so the longest, entry that a name is, or lies in."""
    return next((item for item in entries if below(dotted, item.cuda)), None)


def below(dotted: str, prefix: str) -> bool:
    """Whether a dotted name is `prefix`, or lies in it."""
    return f"{dotted}.".startswith(f"{prefix}.")
