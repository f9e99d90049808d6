"""Preprocessed tokens: the original, and the converted file through the shim, are the same to a compiler."""

from __future__ import annotations

from musify.engine.results import FindingRecord
from musify.verify.comparison import Difference, differences
from musify.verify.compilers import Compiler, Done, Pass, Source, execute
from musify.verify.model import Check, Status, failed
from musify.verify.preprocessed import Line, user_files, user_lines
from musify.verify.records import Record
from musify.verify.reporter import Reporter, causes, first_error, in_original, is_tried
from musify.verify.workshop import Workshop

_MOST_SHOWN = 5
_ARCHITECTURE_MACRO = b"CUDA_ARCH"
_WHICH = {Pass.DEVICE: ("device", "设备"), Pass.HOST: ("host", "主机")}


def check_preprocess(workshop: Workshop, record: Record) -> Check | None:
    """The original, and the converted file through the shim, have the same tokens after preprocessing."""
    compiler = workshop.plan.preprocessor
    if compiler is None or not is_tried(workshop, record):
        return None
    report = Reporter(workshop, record)
    comparison = _Comparison(workshop, record, compiler, report)
    for which in compiler.passes(workshop.original(record)):
        done = comparison.of(which)
        if done is not None:
            return done
        if not comparison.depends_on_side:
            break
    return comparison.outcome()


class _Comparison:
    """The comparison of one file's tokens, for device code and for host code."""

    def __init__(self, workshop: Workshop, record: Record, compiler: Compiler, report: Reporter) -> None:
        self._workshop = workshop
        self._record = record
        self._compiler = compiler
        self._report = report
        self._findings: list[FindingRecord] = []
        self._compared = 0
        self._paths: set[str] = set()

    def of(self, which: Pass) -> Check | None:
        """Compare for one side; a check where there is nothing to compare, or the file does not preprocess."""
        plan = self._workshop.plan
        before = self._preprocess(self._workshop.original(self._record), which)
        if before.code != 0 and self._paths:
            return None  # the other side was compared; this one says nothing
        if before.code != 0:
            reason = first_error(before)
            return self._report.skipped(f"the original does not preprocess: {reason}", f"原文件无法预处理：{reason}")
        after = self._preprocess(self._workshop.converted(self._record), which)
        if after.code != 0:
            reason = first_error(after)
            finding = self._report.whole("MUS955", target=self._record.output_path, reason=reason)
            return Check(Status.FAILED, [finding])
        original = user_lines(before.out, plan.original)
        self._paths |= user_files(before.out, plan.original)
        self._compared += sum(len(line.tokens) for line in original)
        found = differences(original, user_lines(after.out, plan.converted), self._workshop.same)
        if found:
            self._explain(which, original, found)
        return None

    def outcome(self) -> Check:
        """What it comes to."""
        status = Status.PASSED if not self._findings else Status.EXPLAINED
        return Check(Status.FAILED if failed(self._findings) else status, self._findings, compared=self._compared)

    def _preprocess(self, source: Source, which: Pass) -> Done:
        command = self._compiler.preprocess(source, which)
        return execute(command, source.flags.folder, self._workshop.plan.seconds)

    @property
    def depends_on_side(self) -> bool:
        """Whether a file that takes part mentions the architecture macro; else both sides see the same."""
        return any(_ARCHITECTURE_MACRO in self._text(path) for path in self._paths)

    def _text(self, path: str) -> bytes:
        record = self._workshop.original_record(path)
        way = None if record is None else self._workshop.way(record)
        return _ARCHITECTURE_MACRO if way is None else way.original.data

    def _explain(self, which: Pass, original: list[Line], found: list[Difference]) -> None:
        """Take the renames alone: where those give the original's tokens, the other edits explain the difference."""
        twin = self._workshop.twin
        remaining = found
        if twin.differs:
            alone = self._preprocess(self._workshop.reverted(self._record), which)
            if alone.code == 0:
                remaining = differences(original, user_lines(alone.out, twin.root), self._workshop.same)
        identifier = "MUS953" if remaining else "MUS954"
        for item in (remaining or found)[:_MOST_SHOWN]:
            self._findings.append(self._finding(identifier, item, which))

    def _finding(self, identifier: str, item: Difference, which: Pass) -> FindingRecord:
        workshop = self._workshop
        place = item.original[0] if item.original else in_original(workshop, item.converted[0])
        after = f"{item.converted[0].path}:{item.converted[0].number}" if item.converted else "-"
        cause = causes(workshop, place, self._paths)
        return self._report.in_file(
            place, identifier, before=f"{place.path}:{place.number}", old=item.old, new=item.new, after=after,
            which=_WHICH[which][0], which_zh=_WHICH[which][1], cause=cause[0], cause_zh=cause[1],
        )  # fmt: skip
