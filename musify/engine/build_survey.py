"""What the build files of a run say of each other, read before any of them is converted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from musify.engine.processes import Progress, Work, spread
from musify.languages.build.conversion import mentions_cuda
from musify.languages.registry import Language
from musify.source.document import text_or_nothing

if TYPE_CHECKING:
    from musify.languages.cmake.survey import CMakeSurvey
    from musify.project.files import SourceFile

_TORCH_IMPORT = re.compile(rb"^[ \t]*(?:import|from)[ \t]+torch\b", re.MULTILINE)


def survey_cmake(
    files: Sequence[SourceFile], sizes: Sequence[int], jobs: int, progress: Progress | None
) -> CMakeSurvey | None:
    """The facts of all CMake files; None where none of them mentions CUDA. `sizes` holds the bytes of every file."""
    numbers = [
        number for number, file in enumerate(files) if file.language is Language.CMAKE and not file.is_link
    ]  # fmt: skip
    if not any(mentions_cuda(text_or_nothing(files[number].path)) for number in numbers):
        return None
    from musify.languages.cmake.survey import together

    return together(survey for _, survey in spread(files, _SURVEY, numbers, sizes, jobs, progress))


def imports_torch(files: Sequence[SourceFile]) -> bool:
    """Whether a Python file imports PyTorch. Reads until one does."""
    scripts = (file for file in files if file.language is Language.PYTHON and not file.is_link)
    return any(_TORCH_IMPORT.search(text_or_nothing(file.path)) is not None for file in scripts)


def _survey(files: Sequence[SourceFile], number: int) -> CMakeSurvey:
    from musify.languages.cmake.survey import survey

    return survey(files[number].relative, text_or_nothing(files[number].path))


def _lost(files: Sequence[SourceFile], number: int) -> CMakeSurvey:
    from musify.languages.cmake.survey import CMakeSurvey

    return CMakeSurvey()


_SURVEY = Work("reading", _survey, _lost)
