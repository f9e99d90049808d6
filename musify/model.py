"""The words every part of musify speaks: spans, edits, findings, targets.

Offsets are bytes into the file as it lies on disk (after decoding UTF-16, where a file uses it);
spans are half-open. Lines and columns appear only in reports and are 1-based.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import NamedTuple


class Span(NamedTuple):
    """A half-open range of byte offsets."""

    start: int
    end: int


class Applicability(str, Enum):
    """What happens with an edit: applied, applied and reported, or only reported."""

    SAFE = "safe"
    REVIEW = "review"
    MANUAL = "manual"


class Severity(str, Enum):
    """How much a finding matters: will not build or is wrong, look at it, good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """Order of severities, the gravest highest."""
        return _SEVERITY_RANK[self.value]


_SEVERITY_RANK = {"note": 0, "warning": 1, "error": 2}


class Evidence(str, Enum):
    """Why a MUSA name is believed to exist, the strongest first."""

    SDK = "sdk"
    CODE = "code"
    DOCUMENTED = "documented"
    TABLE = "table"
    NONE = "none"
    PROJECT = "project"


class ExitCode(IntEnum):
    """Exit codes of every command."""

    DONE = 0
    FINDINGS = 1
    ERROR = 2


class MusifyError(Exception):
    """An error that a user can cause: one clear line that says what, where and what to do."""


class Target(NamedTuple):
    """What the converted code is for: MUSA architectures (`mp_22`) and an SDK version (`5.2`)."""

    architectures: tuple[str, ...]
    sdk: str

    @property
    def sdk_number(self) -> tuple[int, ...]:
        """The SDK version as numbers that compare."""
        return version_number(self.sdk)


ARCHITECTURES = ("mp_21", "mp_22", "mp_31")
SDK_VERSIONS = ("4.3", "5.1", "5.2")
DEFAULT_TARGET = Target(ARCHITECTURES, "5.2")


def version_number(text: str) -> tuple[int, ...]:
    """`"5.10"` as `(5, 10)`, so that versions compare as numbers."""
    return tuple(int(part) for part in text.split("."))


_NO_ARGUMENTS: Mapping[str, str] = MappingProxyType({})


class Edit(NamedTuple):
    """Replace the bytes of `span` by `new_text`.

    `name`, `library` and `evidence` say which API name was renamed (empty for edits of another sort).
    """

    span: Span
    new_text: bytes
    rule_id: str
    applicability: Applicability = Applicability.SAFE
    name: str = ""
    library: str = ""
    evidence: str = ""


class Finding(NamedTuple):
    """Something a person should know, at a place.

    `arguments` fill the placeholders of the message in rules/findings, in whichever language is asked for.
    `severity` is None where the catalogue's own severity holds.
    """

    rule_id: str
    span: Span
    name: str = ""
    arguments: Mapping[str, str] = _NO_ARGUMENTS
    severity: Severity | None = None
    suppressed: bool = False
