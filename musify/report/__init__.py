"""One module a format; each turns a run's result into text and knows nothing of where it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from musify.engine.results import RunResult
from musify.model import MusifyError, Target
from musify.report import json_report, text_report
from musify.source.writing import write_atomically

Format = Callable[[RunResult, Target], str]
FORMATS: Mapping[str, Format] = {"json": json_report.render, "text": text_report.render}


def parse_request(request: str) -> tuple[str, Path | None]:
    """`FORMAT[:PATH]` as its parts. Raises MusifyError for a format that does not exist."""
    name, _, path = request.partition(":")
    if name not in FORMATS:
        raise MusifyError(f"--report {request}: no such format; there are {', '.join(sorted(FORMATS))}")
    return name, Path(path) if path else None


def write_report(result: RunResult, target: Target, name: str, path: Path) -> None:
    """Render the report and put it at `path`. Raises MusifyError where that cannot be written."""
    try:
        write_atomically(path, FORMATS[name](result, target).encode("utf-8", "replace"))
    except OSError as error:
        raise MusifyError(f"{path}: cannot write the report: {error.strerror}") from error
