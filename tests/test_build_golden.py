"""Golden trees in fixtures/build, one folder a case: `before/` becomes `after/`, and `findings.json` is what is said.

`SYSTEM/CASE/before` and `after` are small trees with build files of one system; `findings.json` holds
[[path, id, line], ...] without notes. Each runs three ways: result, idempotence, and back through the edits.
`options.json` (optional) holds further arguments of the command.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from musify.cli import cli
from tests.commands import contents

CASES = sorted(path.parent for path in (Path(__file__).parent.parent / "fixtures" / "build").glob("*/*/before"))


def name_of(case: Path) -> str:
    return f"{case.parent.name}-{case.name}"


def options_of(case: Path) -> list[str]:
    path = case / "options.json"
    options: list[str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return options


def run(tree: Path, case: Path, *arguments: str) -> Any:
    result = CliRunner().invoke(cli, ["convert", str(tree), *arguments, *options_of(case)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def test_there_are_cases() -> None:
    assert CASES


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_result(case: Path, tmp_path: Path) -> None:
    run(case / "before", case, "-q", "-o", str(tmp_path / "out"))
    assert contents(tmp_path / "out") == contents(case / "after")


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_findings(case: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    run(case / "before", case, "-q", "--report", f"json:{report}")
    found = [
        [Path(file["path"]).relative_to(case / "before").as_posix(), finding["id"], finding["line"]]
        for file in json.loads(report.read_text(encoding="utf-8"))["files"]
        for finding in file["findings"]
        if finding["severity"] != "note"
    ]
    assert sorted(found) == sorted(json.loads((case / "findings.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_idempotence(case: Path) -> None:
    assert run(case / "after", case, "-q").stdout == ""
