"""Commands that Python runs as a list of words: what mcc needs in them and nvcc does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.build.additions import Additions
from musify.languages.build.flags import FlagForm, FlagWord
from musify.languages.build.unit import BuildUnit
from musify.languages.build.variables import Variables
from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import span_of
from musify.languages.python.packaging.facts import shell_functions
from musify.languages.python.packaging.flag_words import elements, is_list, says_nvcc, slot_of
from musify.model import Edit, Finding

if TYPE_CHECKING:
    from tree_sitter import Node

_SEPARATOR = b", "


def find_list_commands(unit: BuildUnit, module: PythonModule) -> Iterator[Edit | Finding]:
    """Edits and findings for lists that are whole commands of nvcc: handed to a call as they are."""
    for call in module.calls:
        if call.calls(*shell_functions()) or call.method_name == "spawn":
            for argument in call.arguments[:1]:
                if is_list(argument.value) and _is_whole(module, argument.value):
                    yield from _additions(unit, module, argument.value)


def _is_whole(module: PythonModule, listed: Node) -> bool:
    parts = elements(listed)
    return len(parts) > 1 and says_nvcc(module, parts[0]) and all(part.type != "list_splat" for part in parts)


def _additions(unit: BuildUnit, module: PythonModule, listed: Node) -> Iterator[Edit | Finding]:
    slots = [slot_of(module, part) for part in elements(listed)]
    words = [FlagWord(span_of(slot.node), slot.text) for slot in slots[1:]]
    literal = next((slot.literal for slot in slots if slot.literal is not None), None)
    quote = b'"' if literal is None else unit.text(literal.span)[-1:]
    for item in Additions(unit, Variables(), (), FlagForm(_SEPARATOR)).results(words):
        if isinstance(item, Edit):
            parts = (quote + part + quote if part else b"" for part in item.new_text.split(_SEPARATOR))
            item = item._replace(new_text=_SEPARATOR.join(parts))
        yield item
