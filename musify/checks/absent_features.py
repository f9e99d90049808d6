"""Features that names give away: textures and surfaces, thread block clusters. The names lie in rules/device."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from musify.checks._device_code import device_code
from musify.languages.cuda.references import is_identifier
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span
from musify.rules.device import Feature, features
from musify.source.words import WordFinder

# Pieces of all names of rules/device/features.toml.
TRIGGERS = (
    b"tex1D", b"tex2D", b"tex3D", b"texCube", b"surf1D", b"surf2D", b"surf3D", b"surfCube", b"Texture", b"Surface",
    b"TexObject", b"SurfObject", b"TexRef", b"texture", b"surface", b"luster", b"map_shared_rank",
)  # fmt: skip
_AFTER = {
    "call": re.compile(rb"\s*(?:<[^;(){}]*>)?\s*\("),
    "template": re.compile(rb"\s*<[\w\s:,*]+>"),
    "any": re.compile(rb""),
}
_OWN = re.compile(rb"\b(?:class|struct|namespace)\s+(\w+)")
_MOST_NAMES = 5


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a feature and file or function, at its first use."""
    reported: dict[tuple[str, int], tuple[Span, list[str]]] = {}
    named = _named(unit)
    for feature in features():
        for place in _uses(unit, feature, named):
            function = device_code(unit).function_at(place.start) if feature.per == "function" else None
            first, names = reported.setdefault((feature.finding, function.start if function else -1), (place, []))
            name = unit.text(place).decode()
            if name not in names:
                names.append(name)
    for (finding, _), (first, names) in reported.items():
        more = ", ..." if len(names) > _MOST_NAMES else ""
        yield Finding(finding, first, names[0], {"names": ", ".join(names[:_MOST_NAMES]) + more})


@cache
def _finder() -> WordFinder:
    return WordFinder((), tuple({name.encode() for feature in features() for name in feature.names}))


def _named(unit: Unit) -> dict[bytes, list[Span]]:
    """Where names of features stand in the code and its macros."""
    found: dict[bytes, list[Span]] = {}
    text = device_code(unit).with_macros
    for word in _finder().find(text).words:
        found.setdefault(text[word.start : word.end], []).append(word)
    return found


def _uses(unit: Unit, feature: Feature, named: Mapping[bytes, list[Span]]) -> Iterator[Span]:
    """Where a feature is used; a name that the file declares itself is its own."""
    code = device_code(unit)
    words = sorted(word for name in feature.names for word in named.get(name.encode(), ()))
    places = [word for word in words if _AFTER[feature.form].match(code.with_macros, word.end)]
    if not places:
        return
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
