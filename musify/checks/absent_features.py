"""Features that names give away: textures and surfaces, thread block clusters. The names lie in rules/device."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from musify.checks._device_code import continues_a_word, device_code
from musify.languages.cuda.references import is_identifier
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span
from musify.rules.device import Feature, features

# Pieces of all names of rules/device/features.toml.
TRIGGERS = (
    b"tex1D", b"tex2D", b"tex3D", b"texCube", b"surf1D", b"surf2D", b"surf3D", b"surfCube", b"Texture", b"Surface",
    b"TexObject", b"SurfObject", b"TexRef", b"texture", b"surface", b"luster", b"map_shared_rank",
)  # fmt: skip
_AFTER = {"call": rb"(?=\s*(?:<[^;(){}]*>)?\s*\()", "template": rb"(?=\s*<[\w\s:,*]+>)", "any": rb""}
_OWN = re.compile(rb"\b(?:class|struct|namespace)\s+(\w+)")
_MOST_NAMES = 5


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a feature and file or function, at its first use."""
    reported: dict[tuple[str, int], tuple[Span, list[str]]] = {}
    for feature in features():
        for place in _uses(unit, feature):
            function = device_code(unit).function_at(place.start) if feature.per == "function" else None
            first, names = reported.setdefault((feature.finding, function.start if function else -1), (place, []))
            name = unit.text(place).decode()
            if name not in names:
                names.append(name)
    for (finding, _), (first, names) in reported.items():
        more = ", ..." if len(names) > _MOST_NAMES else ""
        yield Finding(finding, first, names[0], {"names": ", ".join(names[:_MOST_NAMES]) + more})


@cache
def _pattern(name: bytes, form: str) -> re.Pattern[bytes]:
    """A name in a form; it begins with a literal text, so that the search skips quickly to the next one."""
    return re.compile(re.escape(name) + rb"\b" + _AFTER[form])


def _places(text: bytes, names: Iterable[bytes], form: str) -> list[Span]:
    """Where these names stand in this form, in order."""
    found = (match.span() for name in names for match in _pattern(name, form).finditer(text))
    return sorted(Span(*place) for place in found if not continues_a_word(text, place[0]))


def _uses(unit: Unit, feature: Feature) -> Iterator[Span]:
    """Where a feature is used; a name that the file declares itself is its own."""
    present = [name.encode() for name in feature.names if name.encode() in unit.data]
    if not present:
        return
    code = device_code(unit)
    places = _places(code.with_macros, present, feature.form)
    own = {unit.text(place) for place in places if _declares(unit, feature, place)}
    own |= {match.group(1) for match in _OWN.finditer(code.text)}
    for place in places:
        if unit.text(place) in own or code.is_elsewhere(place.start):
            continue
        if feature.form == "any" or unit.text(unit.outline.before(place.start)) not in (b".", b"->"):
            yield place


def _declares(unit: Unit, feature: Feature, place: Span) -> bool:
    directive = unit.outline.directive_at(place.start)
    if directive is not None and directive.name_start == place.start:
        return True
    before = unit.outline.before(place.start)
    text = unit.text(before)
    if feature.form != "call":
        return text in (b"class", b"struct", b"namespace")
    # A type before a name that is followed by a parenthesis: `float tex2D(`.
    return (
        is_identifier(text) and text not in (b"return", b"else", b"case") and not _follows_a_line(unit, before, place)
    )


def _follows_a_line(unit: Unit, before: Span, place: Span) -> bool:
    return b"\n" in unit.data[before.end : place.start] or unit.text(before).isupper()
