"""YAML of CI, containers and environments: scripts in it are the shell's; images, actions, packages are reported."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from musify.languages.build.commands import Commands
from musify.languages.build.containers import action_finding, device_findings, images_in, package_findings
from musify.languages.build.edits import without_inner
from musify.languages.build.flags import FlagWord
from musify.languages.build.settings import is_sentence, key_findings, option_results, text_findings, value_results
from musify.languages.build.unit import BuildUnit, Token
from musify.languages.build.variables import Variables
from musify.languages.shell.conversion import own_names, script_results, setting_results, survey
from musify.languages.shell.quoting import words_around, words_of
from musify.languages.shell.script import Script, read_script
from musify.languages.yaml.matrix import matrix_edits
from musify.languages.yaml.shells import is_script
from musify.languages.yaml.structure import Content, Scalar, read
from musify.model import Edit, Finding, Severity, Span

_VARIABLES = frozenset(b"env environment variables global_env global".split())
_PACKAGES = frozenset(b"dependencies requirements packages apt_packages build host run_constrained pip".split())
_EXPRESSION = re.compile(rb"\$\{\{.*?\}\}", re.S)
_MATRIX = re.compile(rb"matrix\.([\w-]+)")
_SETTING = re.compile(rb"([A-Za-z_]\w*)=")


def tokens(data: bytes) -> list[Token]:
    """Comments, those of scripts too, and what stands between blanks outside them."""
    content = read(data)
    comments = [*content.comments]
    for scalar in content.scalars:
        if is_script(content, data, scalar):
            comments += _script(data, scalar).comments
    return words_around(data, sorted(comments))


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """What the scalars of a file ask for."""
    content = read(unit.data)
    variables = Variables()
    scripts = [
        (scalar, _script(unit.data, scalar)) for scalar in content.scalars if is_script(content, unit.data, scalar)
    ]
    for scalar, script in scripts:
        survey(script, unit.text(scalar.span), variables)
    settings = list(_settings(unit.data, content))
    for name, value in settings:
        variables.add_value(name, [word.text for word in words_of(unit.data, value)])
    commands = Commands(unit, variables)
    found: list[Edit | Finding] = []
    converted = set()
    for name, edit in matrix_edits(unit, content.scalars):
        converted.add(name)
        found.append(edit)
    for scalar, script in scripts:
        results = [*script_results(commands, script), *own_names(unit, script)]
        found += (_fitted(item, scalar, converted) for item in results)
    for name, value in settings:
        found += setting_results(commands, name, words_of(unit.data, value))
    for scalar in content.scalars:
        found += _setup(unit, scalar)
    found += _configuration(unit, content, {scalar.span for scalar, _ in scripts})
    yield from without_inner(found)


def _fitted(item: Edit | Finding, scalar: Scalar, converted: Collection[bytes]) -> Edit | Finding:
    """An edit with quotes that may stand in the scalar; a matrix that is converted is only worth a note."""
    if isinstance(item, Edit) and scalar.style == "double":
        return item._replace(new_text=item.new_text.replace(b'"', b"'"))
    if isinstance(item, Finding) and item.rule_id == "MUS524":
        used = set(_MATRIX.findall(item.name.encode()))
        return item._replace(severity=Severity.NOTE) if used and used <= set(converted) else item
    return item


def _script(data: bytes, scalar: Scalar) -> Script:
    """The commands of a scalar; none where escapes or doubled quotes make it mean something else than is written."""
    text = data[slice(*scalar.span)]
    if (scalar.style == "double" and b"\\" in text) or (scalar.style == "single" and b"''" in text):
        return Script()
    masked = bytearray(text)
    for match in _EXPRESSION.finditer(text):
        masked[match.start() : match.end()] = b"_" * len(match.group())
    if scalar.style not in ("literal",):
        masked = bytearray(_unfolded(bytes(masked)))
    return read_script(data, scalar.span, bytes(masked))


def _unfolded(text: bytes) -> bytes:
    """A line that goes on in the next one, as YAML reads it: their ends are blanks, but for empty lines."""
    return re.sub(rb"(?<![\n\\])(?<!\\\r)\n(?=[ \t]*[^\s])", b" ", text)


def _settings(data: bytes, content: Content) -> Iterator[tuple[bytes, Span]]:
    """Variables of the environment, as a mapping or as a list of `NAME=value`."""
    for scalar in content.scalars:
        if len(scalar.path) > 1 and scalar.path[-2] in _VARIABLES:
            yield scalar.path[-1], scalar.span
        elif scalar.path and scalar.path[-1] in _VARIABLES:
            match = _SETTING.match(data, *scalar.span)
            if match:
                yield match.group(1), Span(match.end(), scalar.span.end)


def _configuration(unit: BuildUnit, content: Content, scripts: Collection[Span]) -> Iterator[Edit | Finding]:
    """Devices and backends by their keys, options in lists, keys that speak of CUDA, and text."""
    for key in content.keys:
        yield from key_findings(unit.data, key)
    for items in content.lists:
        yield from option_results(unit.data, [FlagWord(item.span, unit.text(item.span)) for item in items])
    for scalar in content.scalars:
        text = unit.text(scalar.span)
        if scalar.span in scripts:
            continue
        if scalar.path and scalar.style in ("plain", "single", "double"):
            keys = [key for key in scalar.path if key]  # under an empty key the one around it counts
            yield from value_results(keys[-1] if keys else b"", text, scalar.span.start)
        if is_sentence(text):
            yield from text_findings(unit.data, scalar.span)


def _setup(unit: BuildUnit, scalar: Scalar) -> Iterator[Edit | Finding]:
    key = scalar.path[-1] if scalar.path else b""
    if key == b"uses":
        yield from action_finding(scalar.span, unit.text(scalar.span))
    elif key in (b"options", b"docker_run_options"):
        yield from device_findings(words_of(unit.data, scalar.span))
    elif key in _PACKAGES:
        yield from package_findings(unit, words_of(unit.data, scalar.span))
    if scalar.style in ("plain", "single", "double"):
        yield from images_in(unit, scalar.span)
