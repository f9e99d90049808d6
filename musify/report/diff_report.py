"""The changes as one unified diff, which `git apply` takes."""

from __future__ import annotations

from musify.report.content import Need, Report

NEEDS = (Need.DIFF,)


def render(report: Report) -> bytes:
    """The diffs of all files, in order, in the bytes of the files."""
    return b"".join(file.diff for file in report.result.files)
