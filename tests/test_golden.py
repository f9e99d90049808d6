"""Golden pairs in fixtures/golden, each run three ways: result, idempotence, self-check.

`NAME.in.EXT` is the input, `NAME.out.EXT` what it becomes, `NAME.json` the findings as [[id, line], ...].
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from musify.source import selfcheck
from musify.source.edits import apply, inverse
from musify.source.outline import Outline
from tests.conftest import Convert

GOLDEN = Path(__file__).parent.parent / "fixtures" / "golden"
INPUTS = sorted(GOLDEN.glob("*.in.*"))


def output_of(path: Path) -> Path:
    stem = path.name.split(".in.")[0]
    return next(GOLDEN.glob(f"{stem}.out.*"))


def test_there_are_pairs() -> None:
    assert len(INPUTS) >= 5


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name.split(".in.")[0])
def test_result(convert: Convert, path: Path) -> None:
    result = convert(path.read_bytes())
    assert result.conversion.new_data == output_of(path).read_bytes()


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name.split(".in.")[0])
def test_findings(convert: Convert, path: Path) -> None:
    result = convert(path.read_bytes())
    document = result.conversion.document
    held = [item for item in result.conversion.findings if item.name.encode() not in result.conversion.declared]
    found = [[item.rule_id, document.position(item.span.start).line] for item in held]
    expected = json.loads((GOLDEN / (path.name.split(".in.")[0] + ".json")).read_text(encoding="utf-8"))
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name.split(".in.")[0])
def test_idempotence(convert: Convert, path: Path) -> None:
    data = output_of(path).read_bytes()
    assert convert(data).conversion.new_data == data


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name.split(".in.")[0])
def test_selfcheck_and_way_back(convert: Convert, path: Path) -> None:
    data = path.read_bytes()
    conversion = convert(data).conversion
    assert selfcheck.failure(Outline(data), conversion.edits, conversion.new_data) is None
    assert apply(conversion.new_data, inverse(data, conversion.edits)) == data
