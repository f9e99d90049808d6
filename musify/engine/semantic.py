"""libclang in a run: which file is asked about by way of which, and what is said where it fails."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from musify.model import Finding, Span
from musify.project.survey import ProjectIndex
from musify.source.document import Document

if TYPE_CHECKING:
    from musify.clang.run import LazyAnswers, SemanticRun
    from musify.project.files import SourceFile

_DIED = "it brought down the process"


def answers_for(
    run: SemanticRun | None, index: ProjectIndex, paths: dict[str, Path], file: SourceFile, source: Document
) -> LazyAnswers | None:
    """The answers about a file of the run; None where nobody asked for them. `paths` are all files, by relative path.

    A header is looked at as the first source does that includes it, for it seldom stands alone: one of those that
    the commands name comes first.
    """
    if run is None:
        return None
    includers = [paths[name] for name in index.sources_including(file.relative)]
    known = [path for path in includers if run.database is not None and run.database.knows(path)]
    return run.answers(file.path, source.data, next(iter(known or includers), None))


def settle(answers: LazyAnswers | None, path: str) -> list[Finding]:
    """Let go of what libclang made of the file shown as `path`; the finding that says that it failed, if it did."""
    if answers is None:
        return []
    answers.close()
    return [_finding(path, answers.problem)] if answers.problem else []


def death(path: str) -> Finding:
    """The finding for a file on which libclang brought down its process."""
    return _finding(path, _DIED)


def _finding(path: str, reason: str) -> Finding:
    return Finding("MUS908", Span(0, 0), path, {"reason": " ".join(reason.split())})
