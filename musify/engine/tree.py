"""A run over many files: survey them all, convert each, put the results where they belong.

Work is spread over processes, since parsing holds the interpreter's lock. A file that cannot be read or converted
becomes a finding; it never stops the others.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from musify.engine.build_survey import imports_torch, survey_cmake
from musify.engine.document import UNKNOWN_NAMES, Conversion, convert_build, convert_source, too_deep
from musify.engine.processes import Progress, Work, spread
from musify.engine.results import (
    FileResult,
    FindingRecord,
    RunResult,
    finding_record,
    keep_lines,
    record_conversion,
)
from musify.engine.semantic import answers_for, death, settle
from musify.languages.registry import Language
from musify.languages.surroundings import BuildSurroundings, IncludeTarget, Settings
from musify.model import Finding, Span
from musify.project.files import SourceFile
from musify.project.layout import Layout
from musify.project.makefiles import linked_variables
from musify.project.output import Destination
from musify.project.survey import FileSurvey, ProjectIndex, survey_source
from musify.rules.book import RuleBook
from musify.source import diff, document
from musify.source.document import Document, NotText

if TYPE_CHECKING:
    from musify.clang.run import LazyAnswers, SemanticRun
    from musify.languages.build.variables import Variables
    from musify.languages.cmake.survey import CMakeSurvey

_DIED = "the process that worked on the file died"

Result = TypeVar("Result")


@dataclass
class Plan:
    """Everything that the work on one file needs; handed to each worker process once."""

    files: Sequence[SourceFile]
    layout: Layout
    book: RuleBook
    settings: Settings
    destination: Destination
    language: str = "en"
    details: bool = False
    diff: bool = False
    lines: bool = False
    index: ProjectIndex | None = None
    renamed: dict[bytes, list[IncludeTarget]] = field(default_factory=dict)
    variables: dict[str, Variables] = field(default_factory=dict)
    cmake: CMakeSurvey | None = None
    uses_torch: bool = False
    semantics: SemanticRun | None = None
    paths: dict[str, Path] = field(default_factory=dict)


Look = Callable[[Plan, SourceFile, Conversion], Result]


def run(plan: Plan, jobs: int, progress: Progress | None = None) -> RunResult:
    """Do the whole run. The order of results is that of the plan's files, however many processes worked."""
    started = time.perf_counter()
    sizes = [_size(file) for file in plan.files]
    _survey_all(plan, sizes, jobs, progress)
    results: dict[int, FileResult] = {}
    numbers = [number for number, file in enumerate(plan.files) if not file.is_context]
    try:
        for number, result in spread(plan, _work(plan, _PROCESS), numbers, sizes, jobs, progress):
            results[number] = result
    except BaseException:
        for file in (plan.files[number] for number in numbers):
            plan.destination.abandon(file, plan.layout.new_paths[file.relative])
        raise
    _finish(plan, results)
    _report_blocked(plan, results)
    whole = RunResult([results[number] for number in numbers])
    whole.drop_declared(_declared_in_context(plan, whole))
    _report_left_includers(plan, results)
    whole.seconds = time.perf_counter() - started
    return whole


def _finish(plan: Plan, results: dict[int, FileResult]) -> None:
    for number, result in sorted(results.items()):
        file = plan.files[number]
        if result.settled is None:
            continue
        try:
            plan.destination.finish(file, result.settled)
        except OSError as error:
            plan.destination.abandon(file, result.settled)
            result.findings.append(_whole_file(plan, "MUS901", file.shown, {"reason": f"{error.strerror or error}"}))


def inspect(plan: Plan, jobs: int, look: Look[Result], progress: Progress | None = None) -> list[Result]:
    """Convert the sources of the plan, write nothing, and return what `look` makes of each, in the plan's order.

    Links and files that are only read are passed over. `look` crosses to worker processes, so it is a function of a
    module. A file that cannot be read or converted comes as an empty conversion with the finding that says so.
    """
    sizes = [_size(file) for file in plan.files]
    _survey_all(plan, sizes, jobs, progress)
    numbers = [
        number
        for number, file in enumerate(plan.files)
        if file.language is Language.CUDA and not file.is_link and not file.is_context
    ]
    work = _work(plan, Work("converting", partial(_inspect, look), partial(_lost_look, look)))
    found = dict(spread(plan, work, numbers, sizes, jobs, progress))
    return [found[number] for number in numbers]


def _survey_all(plan: Plan, sizes: Sequence[int], jobs: int, progress: Progress | None) -> None:
    """Look at every source once, so that each can be told what the others say."""
    surveys: dict[str, FileSurvey] = {}
    paths = {file.relative: file.path for file in plan.files}
    sources = [number for number, file in enumerate(plan.files) if file.language is Language.CUDA]
    for number, survey in spread(plan, _SURVEY, sources, sizes, jobs, progress):
        surveys[plan.files[number].relative] = survey
    plan.paths = paths
    plan.index = ProjectIndex(surveys, plan.layout, plan.book, partial(_read, paths))
    plan.renamed = plan.layout.renamed
    makefiles = [file.relative for file in plan.files if file.language is Language.MAKE]
    plan.variables = linked_variables(makefiles, partial(_read, paths))
    plan.cmake = survey_cmake(plan.files, sizes, jobs, progress)
    plan.uses_torch = imports_torch(plan.files)


def _read(paths: dict[str, Path], relative: str) -> bytes:
    return document.text_or_nothing(paths[relative])


def _survey(plan: Plan, number: int) -> FileSurvey:
    file = plan.files[number]
    try:
        return survey_source(file.relative, document.read(file.path).data, plan.book)
    except (OSError, NotText):
        return FileSurvey()  # reported when it is converted


def _process(plan: Plan, number: int) -> FileResult:
    file = plan.files[number]
    new_path = plan.layout.new_paths[file.relative]
    shown = file.shown[: len(file.shown) - len(file.relative)] if file.shown.endswith(file.relative) else ""
    output_path = shown + new_path if shown or file.shown == file.relative else _sibling(file.shown, new_path)
    result = FileResult(file.shown, output_path, file.language.value if file.language else None)
    try:
        if file.language is None or file.is_link:
            plan.destination.keep(file, new_path)
            result.settled = new_path
        else:
            _work_on(plan, file, new_path, result)
    except OSError as error:
        result.findings.append(_whole_file(plan, "MUS901", file.shown, {"reason": f"{error.strerror or error}"}))
    return result


def _work_on(plan: Plan, file: SourceFile, new_path: str, result: FileResult) -> None:
    try:
        raw = file.path.read_bytes()
        source = Document.from_bytes(raw)
    except NotText as error:
        result.findings.append(_whole_file(plan, "MUS905", file.shown, {"reason": str(error)}))
        plan.destination.keep(file, file.relative)
        result.output_path, result.settled = result.path, file.relative
        return
    result.size = len(raw)
    answers = _answers(plan, file, source)
    conversion = _convert(plan, file, source, answers)
    if answers is not None:
        result.asked, result.answered = answers.asked, answers.answered
    record_conversion(result, conversion, plan.language, details=plan.details)
    if plan.lines:
        keep_lines(result, source)
    changed = conversion.new_data != source.data
    if changed:
        plan.destination.write(file, new_path, source.encode(conversion.new_data))
    else:
        plan.destination.keep(file, new_path)
    result.settled = new_path
    if plan.diff and source.encoding is not None and changed:
        finding = Finding("MUS907", Span(0, 0), file.shown, {"encoding": source.encoding.upper()})
        result.findings.append(finding_record(source, finding, plan.language))
    elif plan.diff:
        text = diff.unified(
            source, conversion.edits, _diff_path(result.path, file), _diff_path(result.output_path, file)
        )
        result.diff = text


def _inspect(look: Look[Result], plan: Plan, number: int) -> Result:
    file = plan.files[number]
    try:
        source = document.read(file.path)
        conversion = _convert(plan, file, source, _answers(plan, file, source))
    except OSError as error:
        conversion = _unreadable("MUS901", file, f"{error.strerror or error}")
    except NotText as error:
        conversion = _unreadable("MUS905", file, str(error))
    return look(plan, file, conversion)


def _unreadable(identifier: str, file: SourceFile, reason: str) -> Conversion:
    return Conversion(Document(b""), [], [Finding(identifier, Span(0, 0), file.shown, {"reason": reason})])


def _work(plan: Plan, work: Work[Plan, Result]) -> Work[Plan, Result]:
    """The work as it is done: what calls libclang may bring its process down."""
    return work if plan.semantics is None else replace(work, isolated=True)


def _answers(plan: Plan, file: SourceFile, source: Document) -> LazyAnswers | None:
    if plan.semantics is None or plan.index is None or file.language is not Language.CUDA:
        return None
    return answers_for(plan.semantics, plan.index, plan.paths, file, source)


def _convert(plan: Plan, file: SourceFile, source: Document, answers: LazyAnswers | None) -> Conversion:
    assert plan.index is not None and file.language is not None
    try:
        if file.language is not Language.CUDA:
            variables = plan.variables.get(file.relative)
            cmake = plan.cmake if file.language is Language.CMAKE else None
            surroundings = BuildSurroundings(
                file.relative, plan.renamed, variables, cmake, plan.layout.keeps_names, plan.uses_torch
            )
            return convert_build(source, file.language, plan.book, plan.settings, surroundings)
        conversion = convert_source(source, plan.book, plan.settings, plan.index.surroundings(file.relative), answers)
        conversion.findings[:0] = settle(answers, file.shown)
        return conversion
    except RecursionError:
        return too_deep(source, file.shown)
    except Exception as error:  # a fault of ours in one file must not lose the others
        reason = f"internal error: {type(error).__name__}: {error}"
        return Conversion(source, [], [Finding("MUS902", Span(0, 0), file.shown, {"reason": reason})])


def _report_blocked(plan: Plan, results: dict[int, FileResult]) -> None:
    numbers = {file.relative: number for number, file in enumerate(plan.files)}
    for file, wanted in plan.layout.blocked:
        finding = _whole_file(plan, "MUS116", file.relative, {"target": wanted})
        if numbers[file.relative] in results:
            results[numbers[file.relative]].findings.append(finding)


def _report_left_includers(plan: Plan, results: dict[int, FileResult]) -> None:
    """A finding where a file of the context includes, under its old name, one that this run renames."""
    assert plan.index is not None
    numbers = {file.relative: number for number, file in enumerate(plan.files)}
    for includer in (file for file in plan.files if file.is_context):
        for target in plan.index.surroundings(includer.relative).includes.values():
            if target.path != target.new_path:
                arguments = {"target": target.new_path, "includer": includer.shown}
                results[numbers[target.path]].findings.append(_whole_file(plan, "MUS121", target.path, arguments))


def _declared_in_context(plan: Plan, result: RunResult) -> frozenset[bytes]:
    """The unknown names of the run that a file of the context declares."""
    wanted = {item.name.encode() for file in result.files for item in file.findings if item.id in UNKNOWN_NAMES}
    found: frozenset[bytes] = frozenset()
    for file in plan.files if wanted else ():
        if file.is_context and file.language is Language.CUDA:
            data = _read(plan.paths, file.relative)
            if any(name in data for name in wanted):
                found |= _convert(plan, file, Document(data), None).declared
    return found


def _whole_file(plan: Plan, identifier: str, name: str, arguments: dict[str, str]) -> FindingRecord:
    """A finding about a file whose text is not at hand."""
    return finding_record(Document(b""), Finding(identifier, Span(0, 0), name, arguments), plan.language)


def _sibling(shown: str, new_path: str) -> str:
    return shown.rpartition("/")[0] + "/" + new_path if "/" in shown else new_path


def _diff_path(shown: str, file: SourceFile) -> str:
    """A path as a diff names it: relative to where the command runs, else to the folder that is converted."""
    folder, name = os.path.split(shown)
    if folder and shown[:1] in ("/", "."):
        folder = _relative_folder(folder, os.getcwd())
    path = name if folder in ("", ".") else f"{folder}/{name}"
    if not path.startswith(".."):
        return path.replace(os.sep, "/")
    folder = os.path.dirname(file.relative)
    return f"{folder}/{name}" if folder else name


@lru_cache(maxsize=1)
def _relative_folder(folder: str, start: str) -> str:
    """The way from `start` to a folder; many files in a row ask for the same one."""
    return os.path.relpath(folder, start)


def _size(file: SourceFile) -> int:
    try:
        return file.path.lstat().st_size if file.language is not None else 1000
    except OSError:
        return 0


def _lost_survey(plan: Plan, number: int) -> FileSurvey:
    return FileSurvey()


def _without_libclang(plan: Plan, work: Work[Plan, Result], number: int) -> Result:
    """The work on a file whose process died, once more and in a process of its own, but without libclang."""
    sizes = [_size(file) for file in plan.files]
    alone: Work[Plan, Result] = replace(work, isolated=True)
    return next(spread(replace(plan, semantics=None), alone, [number], sizes, 1))[1]


def _lost_file(plan: Plan, number: int) -> FileResult:
    file = plan.files[number]
    if plan.semantics is not None:
        result = _without_libclang(plan, _PROCESS, number)
        result.findings.append(finding_record(Document(b""), death(file.shown), plan.language))
        return result
    result = FileResult(file.shown, file.shown, file.language.value if file.language else None)
    result.findings.append(_whole_file(plan, "MUS902", file.shown, {"reason": _DIED}))
    return result


def _lost_look(look: Look[Result], plan: Plan, number: int) -> Result:
    file = plan.files[number]
    if plan.semantics is not None:
        work: Work[Plan, Result] = Work("", partial(_inspect, look), partial(_lost_look, look))
        return _without_libclang(plan, work, number)
    return look(plan, file, _unreadable("MUS902", file, _DIED))


_SURVEY = Work("reading", _survey, _lost_survey)
_PROCESS = Work("converting", _process, _lost_file)
