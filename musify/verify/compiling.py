"""Compilers: what compiled before the conversion compiles after it, through the shim or with a real SDK."""

from __future__ import annotations

import tempfile
from pathlib import Path

from musify.engine.results import FindingRecord
from musify.triage.log import Diagnostic
from musify.verify.compilers import Compiler, Done, Kind, Source, execute
from musify.verify.diagnostics import errors, path_below
from musify.verify.model import Check, Status
from musify.verify.preprocessed import Line
from musify.verify.records import Record
from musify.verify.reporter import Reporter, causes, first_error, in_original, is_tried
from musify.verify.workshop import Workshop

_MOST_SHOWN = 5


def check_compile(workshop: Workshop, record: Record) -> Check | None:
    """What compiled before the conversion compiles after it."""
    compiler = workshop.plan.compiler
    if compiler is None or not is_tried(workshop, record) or workshop.original(record).is_header:
        return None
    report = Reporter(workshop, record)
    real = compiler.kind is Kind.MCC
    after = _compile(workshop, compiler, workshop.converted(record, shim=not real))
    if after.code == 0:
        return Check(Status.PASSED)
    if real:
        return Check(Status.FAILED, _compile_errors(workshop, report, after))
    before = _compile(workshop, compiler, workshop.original(record))
    if before.code != 0:
        reason = first_error(before)
        return report.skipped(f"the original does not compile: {reason}", f"原文件无法编译：{reason}")
    if workshop.twin.differs and _compile(workshop, compiler, workshop.reverted(record)).code == 0:
        place = _place(workshop, errors(after.err + after.out)[0]) or Line(record.file.relative, 1, ())
        cause = causes(workshop, place)
        note = report.whole(
            "MUS959", target=record.output_path, reason=first_error(after), cause=cause[0], cause_zh=cause[1]
        )
        return Check(Status.EXPLAINED, [note])
    return Check(Status.FAILED, _compile_errors(workshop, report, after))


def _compile(workshop: Workshop, compiler: Compiler, source: Source) -> Done:
    with tempfile.TemporaryDirectory(prefix="musify-compile-") as folder:
        command = compiler.compile(source, Path(folder) / "object.o")
        return execute(command, source.flags.folder, workshop.plan.seconds)


def _compile_errors(workshop: Workshop, report: Reporter, done: Done) -> list[FindingRecord]:
    if done.code is None:
        return [report.whole("MUS956", place="", reason=first_error(done), after="")]
    return [_compile_error(workshop, report, error) for error in errors(done.err + done.out)[:_MOST_SHOWN]]


def _compile_error(workshop: Workshop, report: Reporter, error: Diagnostic) -> FindingRecord:
    met = f"{error.path}:{error.line}" if error.path else ""
    place = _place(workshop, error)
    if place is None:
        return report.whole("MUS956", place=met, reason=error.text, after=met)
    shown = f"{place.path}:{place.number}"
    return report.in_file(place, "MUS956", place=shown, reason=error.text, after=met)


def _place(workshop: Workshop, error: Diagnostic) -> Line | None:
    """Where an error in the converted tree lies in the original; None for an error in nobody's file."""
    below = path_below(error.path, workshop.plan.converted) if error.path else None
    return None if below is None else in_original(workshop, Line(below, error.line, ()))
