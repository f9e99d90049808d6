"""Functions that take other arguments on MUSA under the same name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.checks._device_code import device_code
from musify.languages.cuda.unit import Unit
from musify.model import Finding
from musify.rules.device import changed_arguments


def run(unit: Unit) -> Iterator[Finding]:
    """One finding a function and file, at its first call."""
    names = [name for name in changed_arguments() if name.encode() in unit.names]
    for name in names:
        group = changed_arguments()[name]
        for call in device_code(unit).calls(re.compile(rb"\b" + name.encode() + rb"\b")):
            if device_code(unit).is_elsewhere(call.name.start):
                continue
            arguments = {"why": group.why, "why_zh": group.why_zh, "source": group.source}
            yield Finding("MUS240", call.name, name, arguments)
            break
