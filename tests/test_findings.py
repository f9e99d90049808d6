"""The catalogue of findings: every example holds, every id that the code uses is explained, and in both languages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from musify.model import ARCHITECTURES
from musify.rules import book
from musify.rules.findings import Example, catalogue
from tests.commands import musify, write
from tests.conftest import Convert

PACKAGE = Path(__file__).parent.parent / "musify"
EXAMPLES = [
    pytest.param(kind.id, example, id=f"{kind.id}-{number}")
    for kind in catalogue().values()
    for number, example in enumerate(kind.examples)
]
# Findings about files and folders, which a text alone cannot show; test_tree, test_writing and test_semantic make them.
WITHOUT_EXAMPLE = {"MUS116", "MUS121", "MUS901", "MUS902", "MUS903", "MUS905", "MUS907", "MUS908"}
# Findings of a verification: tests/test_verify.py makes them.
WITHOUT_EXAMPLE |= {f"MUS95{digit}" for digit in range(10)}
# Findings in build files and Python: fixtures/build and the tests of each language make them.
BUILD = ("MUS5", "MUS602", "MUS603", "MUS604", "MUS607", "MUS61")


@pytest.mark.parametrize(("identifier", "example"), EXAMPLES)
def test_example(convert: Convert, tmp_path: Path, identifier: str, example: Example) -> None:
    if example.command:
        found = musify(example.command, write(tmp_path, {"a.cpp": example.before}), "--report", "json").out
        assert {item["id"] for item in json.loads(found)["files"][0]["findings"]} == set(example.findings)
        return
    if example.file:
        check_build_file(tmp_path, example)
        return
    files = [*write(tmp_path, {"own.toml": example.rules}).iterdir()] if example.rules else []
    own = book.load(files, reverse=example.reverse) if files or example.reverse else None
    target = {"sdk": example.sdk or "5.2", "architectures": example.architectures or ARCHITECTURES}
    result = convert(example.before, own=own, reverse=example.reverse, **target)
    assert result.text == example.after
    assert sorted(set(result.ids)) == sorted(example.findings)


def check_build_file(folder: Path, example: Example) -> None:
    tree = write(folder / "in", {example.file: example.before})
    targets = [option for name in example.architectures for option in ("--arch", name)]
    way = ("--reverse",) * example.reverse
    done = musify("convert", tree, *way, "-o", folder / "out", "--report", f"json:{folder / 'report.json'}", *targets)
    assert done.code == 0, done.err
    assert (folder / "out" / example.file).read_text(encoding="utf-8") == example.after
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    found = {item["id"] for file in report["files"] for item in file["findings"]}
    assert found == set(example.findings)


def test_every_kind_has_an_example() -> None:
    without = {kind.id for kind in catalogue().values() if not kind.examples and not kind.id.startswith(BUILD)}
    assert without <= WITHOUT_EXAMPLE


def test_every_id_in_the_code_is_explained() -> None:
    used = {
        identifier
        for path in PACKAGE.rglob("*.py")
        for identifier in re.findall(r'"(MUS\d{3})"', path.read_text(encoding="utf-8"))
    }
    assert used <= set(catalogue())


@pytest.mark.parametrize("kind", catalogue().values(), ids=catalogue().keys())
def test_texts(kind: object) -> None:
    from musify.rules.findings import FindingKind

    assert isinstance(kind, FindingKind)
    for part in ("title", "message", "suggestion", "why"):
        english, chinese = kind.text(part), kind.text(part, "zh")
        assert english and chinese and re.search(r"[\u4e00-\u9fff]", chinese)
        fields = [set(re.findall(r"\{(\w+?)(?:_zh)?\}", text)) for text in (english, chinese)]
        assert fields[0] == fields[1]
