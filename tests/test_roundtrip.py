"""The round trip of the fixtures through the shim headers, with nvcc and CUDA's own headers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands import ROOT, musify, write
from tests.toolkit import nvcc

pytestmark = pytest.mark.usefixtures("own_state")

PROJECTS = ROOT / "fixtures" / "projects"
TRAPS = PROJECTS / "traps"


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the deepest proof says of the project with the traps, by file name."""
    folder = tmp_path_factory.mktemp("traps")
    assert musify("convert", TRAPS, "-o", folder / "out", "-q").code == 0
    options = ("--depth", "compile", "--compiler", nvcc(), "-I", TRAPS / "include", "--flag=-std=c++17")
    done = musify("verify", TRAPS, folder / "out", *options, "--json", "-")
    assert done.code == 0, done.out
    return {Path(file["path"]).name: file for file in json.loads(done.out)["files"]}


EXPECTED = {
    "README.md": {"tokens": "passed"},
    "check.h": {"tokens": "passed", "preprocess": "passed"},
    "tiles.cuh": {"tokens": "passed", "preprocess": "passed"},
    "main.cpp": {"tokens": "passed", "preprocess": "passed", "compile": "passed"},
    # A threshold above sm_80 is carried over to one that the nearest MUSA architecture passes.
    "kernels.cu": {"tokens": "passed", "preprocess": "explained", "compile": "explained"},
}


@pytest.mark.parametrize(("name", "checks"), EXPECTED.items(), ids=EXPECTED.keys())
def test_traps(traps: dict[str, Any], name: str, checks: dict[str, str]) -> None:
    assert traps[name]["checks"] == checks


def test_the_edits_that_explain_are_named(traps: dict[str, Any]) -> None:
    messages = " ".join(finding["message"] for finding in traps["kernels.cu"]["findings"])
    assert "inline-ptx at src/kernels.cu:24" in messages and "architecture-threshold at src/kernels.cu" in messages
    assert '"__get_laneid" is undefined' in messages


def test_no_threshold_differs_between_the_tiers(tmp_path: Path) -> None:
    """On sm_88 every threshold of a tier falls on the same side as the tier."""
    source = (TRAPS / "src" / "kernels.cu").read_text(encoding="utf-8").replace("asm(", "noasm(")
    tree = write(tmp_path / "in", {"src/kernels.cu": source})
    assert musify("convert", tree, "-o", tmp_path / "out", "-q").code == 0
    options = ("--depth", "preprocess", "--compiler", nvcc(), "-I", TRAPS / "include", "--flag=-std=c++17")
    done = musify("verify", tree, tmp_path / "out", *options, "--cuda-arch", "88", "--json", "-")
    assert json.loads(done.out)["files"][0]["checks"]["preprocess"] == "passed"


def test_a_wrong_rename_does_not_compile_and_is_mapped_back(tmp_path: Path) -> None:
    write(tmp_path, {"mine.toml": '[rename]\ncudaFree = "poolFree"\n'})
    source = "#include <cuda_runtime.h>\n#include <cuda_runtime.h>\nvoid f(void* p) {\n  cudaFree(p);\n}\n"
    tree = write(tmp_path / "in", {"a.cu": source})
    report = tmp_path / "r.json"
    options = ("--rules", tmp_path / "mine.toml", "--report", f"json:{report}", "-q")
    assert musify("convert", tree, "-o", tmp_path / "out", *options).code == 0
    done = musify(
        "verify", tree, tmp_path / "out", "--report", report, "--depth", "compile", "--compiler", nvcc(), "--json", "-"
    )
    (file,) = json.loads(done.out)["files"]
    assert file["checks"]["compile"] == "failed" and done.code == 1
    found = [finding for finding in file["findings"] if finding["id"] == "MUS956"]
    assert found[0]["line"] == 4 and "poolFree" in found[0]["message"] and "a.cu:4" in found[0]["message"]


def test_the_tool_on_a_tree() -> None:
    tool = str(ROOT / "tools" / "roundtrip.py")
    options = ["-I", str(TRAPS / "include"), "--only", "main.cpp", "--only", "check.h", "--compile", "1"]
    further = ["--", "--flag=-std=c++17", f"--compiler={nvcc()}"]
    command = [sys.executable, tool, str(TRAPS), *options, *further]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "preprocess: 2 of 2 (100.0 %), 0 of them explained" in done.stdout
    assert "compile: 1 of 1 (100.0 %), 0 of them explained" in done.stdout
