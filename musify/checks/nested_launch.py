"""Dynamic parallelism: kernels launched by kernels."""

from __future__ import annotations

from collections.abc import Iterator

from musify.checks._device_code import device_code
from musify.languages.cuda.unit import Unit
from musify.model import Finding, Span

TRIGGERS = (b"<<<",)


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a function that launches, at its first launch."""
    code = device_code(unit)
    for function in code.functions:
        launch = code.text.find(b"<<<", *function.body)
        if launch < 0 or code.is_elsewhere(launch):
            continue
        # What runs on the host too tells the two apart by macro; which branch this is, the branch knows.
        if not (function.on_host_too and _is_told_apart(unit, launch)):
            yield Finding("MUS231", Span(launch, launch + 3), function.name.decode())


def _is_told_apart(unit: Unit, offset: int) -> bool:
    for branch in unit.conditionals.branches_around(offset):
        directives = [item.directive for item in branch.group.branches]
        if any(b"__CUDA_ARCH__" in unit.data[item.start : item.end] for item in directives):
            return True
    return False
