"""Container images, packages and steps that bring CUDA's toolkit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from musify.languages.build.facts import cuda_words
from musify.languages.build.flags import FlagWord
from musify.languages.build.unit import BuildUnit
from musify.model import Applicability, Edit, Finding, Span
from musify.rules.shipped import shipped_tables

CONTAINER_IMAGE = "container-image"
_IMAGE = re.compile(rb"(?P<name>[\w.-]+(?:/[\w.-]+)+)(?::(?P<tag>[^@\s\"']+))?(?:@sha256:\w+)?")


class Image(NamedTuple):
    """An image with CUDA's toolkit; the fields are described in rules/build/containers.toml."""

    tag: re.Pattern[bytes] | None
    musa: bytes
    newest: str
    tags: Mapping[str, bytes]
    evidence: str


def image_results(unit: BuildUnit, span: Span) -> Iterator[Edit | Finding]:
    """Edits and findings for the name of an image; nothing where it is not one that brings CUDA."""
    match = _IMAGE.fullmatch(unit.data, *span)
    image = _images().get(match.group("name")) if match else None
    if match is None or image is None:
        return
    shown = match.group().decode("utf-8", "replace")
    new_tag = image.tags.get(unit.settings.target.sdk)
    tag = image.tag.fullmatch(match.group("tag") or b"") if image.tag else None
    if tag is None or new_tag is None:
        yield Finding("MUS534", span, shown, {"image": image.newest})
        return
    for key, value in tag.groupdict().items():
        new_tag = new_tag.replace(b"{" + key.encode() + b"}", value)
    new = image.musa + b":" + new_tag
    yield Edit(span, new, CONTAINER_IMAGE, Applicability.REVIEW, shown, "", image.evidence)


def images_in(unit: BuildUnit, span: Span) -> Iterator[Edit | Finding]:
    """Edits and findings for every name of an image in a text."""
    for match in _IMAGE.finditer(unit.data, *span):
        yield from image_results(unit, Span(*match.span()))


def is_installer(program: bytes, words: Sequence[FlagWord] = ()) -> bool:
    """Whether a program, with these words behind it, installs packages."""
    runs = next((word.text for word in words if not word.text.startswith(b"-")), b"") in _facts("installers", "others")
    return program in _facts("installers", "programs") and not runs


def package_findings(unit: BuildUnit, words: Sequence[FlagWord]) -> Iterator[Finding]:
    """A finding for every package of CUDA's among the arguments of a program that installs."""
    for word in words:
        if cuda_words().search(word.text):
            yield setup_finding(word.span, word.text)


def action_finding(span: Span, name: bytes) -> Iterator[Finding]:
    """A finding for a step of a workflow that sets CUDA up."""
    if name.lower().startswith(tuple(item.lower() for item in _facts("installers", "actions"))):
        yield setup_finding(span, name)


def device_findings(words: Sequence[FlagWord]) -> Iterator[Finding]:
    """A finding for arguments of a container's command that hand over NVIDIA's cards."""
    for word in words:
        if word.text in _facts("devices", "flags") or word.text.startswith(b"--gpus="):
            yield setup_finding(word.span, word.text, "devices")


def setup_finding(span: Span, name: bytes, table: str = "installers") -> Finding:
    """Something that sets up CUDA and has no counterpart."""
    facts = shipped_tables("build")["containers.toml"][table]
    return Finding("MUS533", span, name.decode("utf-8", "replace"), {"why": facts["why"], "why_zh": facts["why_zh"]})


@cache
def _facts(table: str, key: str) -> frozenset[bytes]:
    return frozenset(shipped_tables("build")["containers.toml"][table][key].encode().split())


@cache
def _images() -> Mapping[bytes, Image]:
    tables: list[dict[str, Any]] = shipped_tables("build")["containers.toml"]["image"]
    return {
        name: Image(
            re.compile(table["tag"].encode()) if "tag" in table else None,
            table.get("musa", "").encode(),
            table["newest"],
            {sdk: tag.encode() for sdk, tag in table.get("tags", {}).items()},
            table["evidence"],
        )
        for table in tables
        for name in table["cuda"].encode().split()
    }
