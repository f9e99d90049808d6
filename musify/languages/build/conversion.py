"""The passes over a build file, in order; a later one is silent where an earlier one spoke."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from musify.languages.build import way_back
from musify.languages.build.facts import cuda_literals, cuda_words
from musify.languages.build.files import find_files
from musify.languages.build.leftovers import find_leftovers
from musify.languages.build.own_words import find_own_words, mentions_own_words
from musify.languages.build.torch_architectures import find_torch_architectures
from musify.languages.build.unit import BuildUnit
from musify.languages.build.words import find_words
from musify.languages.surroundings import BuildSurroundings, Settings
from musify.model import Edit, Finding, Span
from musify.rules.book import RuleBook

_SUMMARIES = ("MUS109",)


@dataclass
class BuildConversion:
    """Edits that do not overlap, and findings."""

    edits: list[Edit] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def spoken(self) -> Iterator[Span]:
        """The places of all edits and findings; a summary speaks of no word."""
        yield from (edit.span for edit in self.edits)
        yield from (finding.span for finding in self.findings if finding.rule_id not in _SUMMARIES)

    def take(self, more: Iterable[Edit | Finding]) -> None:
        """Add what does not touch an edit that is there already: edits beside it, findings that begin outside it."""
        earlier = sorted(edit.span for edit in self.edits)
        starts = [span.start for span in earlier]
        for item in more:
            # The last edit that begins before the item ends; edits do not overlap, so that earlier ones end before it.
            finding = isinstance(item, Finding)
            index = bisect_left(starts, item.span.start + 1 if finding else item.span.end) - 1
            before = earlier[index] if index >= 0 else None
            if isinstance(item, Finding):
                if before is None or item.span.start >= before.end:
                    self.findings.append(item)
            elif before is None or item.span.start >= before.end:
                self.edits.append(item)


def mentions_cuda(data: bytes) -> bool:
    """Whether there is anything in a build file to look at."""
    lowered = data.lower()
    return any(text in lowered for text in cuda_literals()) and cuda_words().search(data) is not None


def concerns_cuda(data: bytes, surroundings: BuildSurroundings) -> bool:
    """Whether a file mentions CUDA, or is made one with files that name its compiler."""
    linked = surroundings.variables
    targets = surroundings.cmake is not None and surroundings.cmake.is_concerned(data)
    return mentions_cuda(data) or targets or (linked is not None and bool(linked.compilers))


def is_of_interest(data: bytes, book: RuleBook, settings: Settings, surroundings: BuildSurroundings) -> bool:
    """Whether there is anything for this run to do in a build file."""
    if mentions_own_words(data, book):
        return True
    if settings.reverse:
        return way_back.mentions_musa(data, book)
    return concerns_cuda(data, surroundings)


def convert(unit: BuildUnit) -> BuildConversion:
    """All edits and findings of one build file. With a finding about the whole of it, it stays as it is."""
    result = BuildConversion()
    if unit.settings.names_only or unit.settings.reverse:
        result.take(find_own_words(unit))
        result.take(find_files(unit) if unit.settings.names_only else way_back.convert(unit))
        return result
    result.take(unit.reader.convert(unit))
    if any(finding.span == Span(0, len(unit.data)) for finding in result.findings):
        return result
    for results in (find_own_words(unit), find_files(unit), find_torch_architectures(unit), find_words(unit)):
        result.take(results)
    result.findings += find_leftovers(unit, list(result.spoken()))
    return result
