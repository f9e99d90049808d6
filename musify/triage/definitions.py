"""Where a project declares names that a compiler did not see, and which conditions stand around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from musify.engine.document import Conversion
from musify.engine.results import FileResult, FindingRecord, finding_record, record_conversion
from musify.engine.tree import Plan
from musify.languages.cuda.references import OPERATOR_KEYWORDS, is_identifier
from musify.model import Span
from musify.project.files import SourceFile
from musify.source.conditions import Conditionals
from musify.source.outline import Outline
from musify.source.words import WordFinder
from musify.triage.origins import ConvertedFile, Definition, lines_of

_GUARD = re.compile(r"MUS3\d\d")
_TYPES = frozenset({b"struct", b"class", b"enum", b"union", b"using", b"namespace"})


def look(
    plan: Plan, file: SourceFile, conversion: Conversion, *, names: frozenset[str], sought: tuple[bytes, ...]
) -> ConvertedFile:
    """What is asked of one file: the whole conversion where a log names it, and which of the `sought` it declares."""
    new_path = plan.layout.new_paths[file.relative]
    output = file.shown[: len(file.shown) - len(file.relative)] + new_path
    found = list(definitions(conversion, file.shown, sought, plan.language))
    if not names & {file.relative.rpartition("/")[2], new_path.rpartition("/")[2]}:
        return ConvertedFile(file.shown, output, definitions=found)
    result = FileResult(file.shown, output, None)
    record_conversion(result, conversion, plan.language, details=True)
    return ConvertedFile(file.shown, output, result.edits, result.findings, lines_of(conversion.document.data), found)


def definitions(conversion: Conversion, path: str, sought: tuple[bytes, ...], language: str) -> Iterator[Definition]:
    """The declarations of `sought` names in a file, each name once."""
    data = conversion.document.data
    places = _finder(sought).find(data).words if sought else []
    if not places:
        return
    outline = Outline(data)
    conditionals = Conditionals(outline)
    seen: set[bytes] = set()
    for word in outline.in_code(places):
        name = outline.text(word)
        if name not in seen and _declares(outline, word):
            seen.add(name)
            line = conversion.document.position(word.start).line
            guard = _guard(conversion, conditionals, word.start, language)
            yield Definition(name.decode(), path, line, guard)


@lru_cache(maxsize=1)
def _finder(sought: tuple[bytes, ...]) -> WordFinder:
    return WordFinder((), sought)


def _declares(outline: Outline, word: Span) -> bool:
    """Whether the tokens around a name say that it is declared there."""
    directive = outline.directive_at(word.start)
    if directive is not None:
        return directive.keyword == b"define" and directive.name_start == word.start
    before, after = outline.text(outline.before(word.start)), outline.text(outline.after(word.end))
    if before in _TYPES or (before == b"}" and after == b";"):
        return True
    typed = is_identifier(before) and before not in OPERATOR_KEYWORDS
    return after in (b"(", b"=", b";", b"[", b",") and (typed or (before in (b"*", b"&", b">") and after == b"("))


def _guard(conversion: Conversion, conditionals: Conditionals, offset: int, language: str) -> FindingRecord | None:
    """What was found about the conditions around a place."""
    for branch in conditionals.branches_around(offset):
        for other in branch.group.branches:
            for finding in conversion.findings:
                inside = other.directive.start <= finding.span.start < other.directive.end
                if inside and _GUARD.match(finding.rule_id):
                    return finding_record(conversion.document, finding, language)
    return None
