"""Reports. One module a format, found by walking this package; each turns a run into text and knows not where it goes.

A module `NAME_report` has `render(report: Report) -> str` (or bytes) and may name in `NEEDS` what the run must have
kept for it. Nothing else knows of a format.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from musify.model import MusifyError
from musify.report.content import Need, Report
from musify.source.writing import write_atomically

_SUFFIX = "_report"


class Format(NamedTuple):
    """A format: how a report is rendered in it, and what the run must keep for that."""

    render: Callable[[Report], str | bytes]
    needs: frozenset[Need]


class Request(NamedTuple):
    """A report that was asked for: its format, and where it goes (None: stdout)."""

    name: str
    path: Path | None


@cache
def format_names() -> tuple[str, ...]:
    """The names of all formats."""
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in modules if name.endswith(_SUFFIX)))


def format_of(name: str) -> Format:
    """The format of this name, loaded when it is asked for."""
    module = importlib.import_module(f"{__name__}.{name}{_SUFFIX}")
    return Format(module.render, frozenset(getattr(module, "NEEDS", ())))


def parse_request(request: str) -> Request:
    """`FORMAT[:PATH]` as its parts. Raises MusifyError for a format that does not exist."""
    name, _, path = request.partition(":")
    if name not in format_names():
        raise MusifyError(f"--report {request}: no such format; there are {', '.join(format_names())}")
    return Request(name, Path(path) if path else None)


def needs_of(requests: Iterable[str]) -> frozenset[Need]:
    """What the run must keep for these reports. Raises MusifyError for a format that does not exist."""
    return frozenset[Need]().union(*(format_of(parse_request(request).name).needs for request in requests))


def render(report: Report, name: str) -> bytes:
    """The report in a format."""
    text = format_of(name).render(report)
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


def write_report(report: Report, name: str, path: Path) -> None:
    """Render the report and put it at `path`. Raises MusifyError where that cannot be written."""
    try:
        write_atomically(path, render(report, name))
    except OSError as error:
        raise MusifyError(f"{path}: cannot write the report: {error.strerror}") from error
