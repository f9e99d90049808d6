"""A verification from beginning to end: every file, every depth, in parallel."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import MappingProxyType

from musify.verify.compiling import check_compile
from musify.verify.model import Check, Depth, FileVerification, Verification
from musify.verify.preprocessing import check_preprocess
from musify.verify.records import Record
from musify.verify.tokens import check_tokens
from musify.verify.workshop import Plan, Workshop

Progress = Callable[[str, int, int], None]
_CHECKS: Mapping[Depth, Callable[[Workshop, Record], Check | None]] = MappingProxyType(
    {Depth.TOKENS: check_tokens, Depth.PREPROCESS: check_preprocess, Depth.COMPILE: check_compile}
)


def run(plan: Plan, jobs: int, progress: Progress | None = None) -> Verification:
    """Verify all files. The order is that of the records, however many work."""
    started = time.perf_counter()
    files = [FileVerification(record.file.shown, record.output_path) for record in plan.records]
    with tempfile.TemporaryDirectory(prefix="musify-verify-") as folder, ThreadPoolExecutor(jobs) as pool:
        workshop = Workshop(plan, Path(folder))
        for depth in plan.depth.steps:
            # Compilers are processes of their own: threads that wait for them are enough.
            waiting = pool.map(partial(_CHECKS[depth], workshop), plan.records)
            for number, check in enumerate(waiting):
                if check is not None:
                    files[number].checks[depth] = check
                if progress is not None:
                    progress(depth.value, number + 1, len(files))
    return Verification(plan.depth, files, _tools(plan), time.perf_counter() - started)


def _tools(plan: Plan) -> dict[Depth, str]:
    named = {Depth.PREPROCESS: plan.preprocessor, Depth.COMPILE: plan.compiler}
    return {depth: compiler.path for depth, compiler in named.items() if compiler is not None}
