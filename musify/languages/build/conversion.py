"""The passes over a build file, in order; a later one is silent where an earlier one spoke."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from musify.languages.build.facts import cuda_literals, cuda_words
from musify.languages.build.files import find_files
from musify.languages.build.leftovers import find_leftovers
from musify.languages.build.unit import BuildUnit
from musify.languages.build.words import find_words
from musify.languages.surroundings import BuildSurroundings
from musify.model import Edit, Finding, Span


@dataclass
class BuildConversion:
    """Edits that do not overlap, and findings."""

    edits: list[Edit] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def spoken(self) -> Iterator[Span]:
        """The places of all edits and findings."""
        yield from (edit.span for edit in self.edits)
        yield from (finding.span for finding in self.findings)


def mentions_cuda(data: bytes) -> bool:
    """Whether there is anything in a build file to look at."""
    lowered = data.lower()
    return any(text in lowered for text in cuda_literals()) and cuda_words().search(data) is not None


def concerns_cuda(data: bytes, surroundings: BuildSurroundings) -> bool:
    """Whether a file mentions CUDA, or is made one with files that name its compiler."""
    linked = surroundings.variables
    targets = surroundings.cmake is not None and surroundings.cmake.is_concerned(data)
    return mentions_cuda(data) or targets or (linked is not None and bool(linked.compilers))


def convert(unit: BuildUnit) -> BuildConversion:
    """All edits and findings of one build file."""
    result = BuildConversion()
    for results in (unit.reader.convert(unit), find_files(unit), find_words(unit)):
        _take(result, results)
    result.findings += find_leftovers(unit, list(result.spoken()))
    return result


def _take(result: BuildConversion, more: Iterator[Edit | Finding]) -> None:
    """Add what does not touch an edit of an earlier pass; findings always."""
    earlier = sorted(edit.span for edit in result.edits)
    for item in more:
        if isinstance(item, Finding):
            if not any(span.start <= item.span.start < span.end for span in earlier):
                result.findings.append(item)
        elif not any(span.start < item.span.end and item.span.start < span.end for span in earlier):
            result.edits.append(item)
