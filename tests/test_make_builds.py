"""Converted makefiles build: real make, a stand-in for the MUSA toolkit, nvcc in mcc's place."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.commands import ROOT, musify, write
from tests.toolkit_stand_in import Toolkit, make_toolkit, run

TIDES = ROOT / "fixtures" / "projects" / "tides"


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Toolkit:
    if shutil.which("make") is None:
        if os.environ.get("MUSIFY_REQUIRE_CUDA") == "1":
            pytest.fail("MUSIFY_REQUIRE_CUDA=1, but there is no make")
        pytest.skip("needs make")
    return make_toolkit(tmp_path_factory.mktemp("toolkit"))


def convert(project: Path, folder: Path, *options: str) -> Path:
    output = folder / "converted"
    done = musify("convert", project, "-o", output, "-q", *options)
    assert done.code == 0, done.err
    return output


def build(toolkit: Toolkit, project: Path, *arguments: str) -> dict[str, list[str]]:
    """Run make; the calls of mcc by the source that each compiles."""
    log = toolkit.home / "calls.jsonl"
    log.unlink(missing_ok=True)
    run("make", "-C", project, f"MUSA_PATH={toolkit.home}", *arguments, home=toolkit.home)
    calls = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return {next(word for word in call if word.endswith((".mu", ".cu"))): call for call in calls}


def architectures(call: list[str]) -> list[str]:
    return [word for word in call if word.startswith("--offload-arch")]


def test_tides_builds(toolkit: Toolkit, tmp_path: Path) -> None:
    project = convert(TIDES, tmp_path)
    calls = build(toolkit, project)
    assert set(calls) == {"src/rise.mu", "src/mean.mu"}
    for call in calls.values():
        assert architectures(call) == ["--offload-arch=mp_21", "--offload-arch=mp_22", "--offload-arch=mp_31"]
        assert {"-std=c++17", "-Wall", "-O3", "-use_fast_math"} <= set(call)
    assert (project / "build" / "tides").is_file()
    assert (project / "build" / "rise.mu.o").is_file()


def test_variables_of_the_project_still_choose(toolkit: Toolkit, tmp_path: Path) -> None:
    calls = build(toolkit, convert(TIDES, tmp_path), "SMS=22", "dbg=1")
    assert architectures(calls["src/rise.mu"]) == ["--offload-arch=mp_22"]
    assert "-g" in calls["src/rise.mu"] and "-O3" not in calls["src/rise.mu"]


def test_names_can_stay(toolkit: Toolkit, tmp_path: Path) -> None:
    calls = build(toolkit, convert(TIDES, tmp_path, "--keep-names"))
    assert set(calls) == {"src/rise.cu", "src/mean.cu"}
    assert all(call[call.index("-x") + 1] == "musa" for call in calls.values())


PLAIN = {
    "Makefile": """\
CC = nvcc
ARCH = sm_80
CFLAGS = -O2 -Xcompiler -Wall -arch=$(ARCH)
main: main.o twice.o
	$(CC) $(CFLAGS) $^ -o $@
%.o: %.cu
	$(CC) $(CFLAGS) -c $< -o $@
""",
    "main.cu": "#include <cuda_runtime.h>\nvoid twice(int*);\nint main() { int* p; cudaMalloc(&p, 4); twice(p); return 0; }\n",
    "twice.cu": "__global__ void k(int* p) { *p *= 2; }\nvoid twice(int* p) { k<<<1, 1>>>(p); }\n",
}


@pytest.mark.parametrize("target", [("mp_31",), ("mp_22", "mp_31")], ids=["one", "several"])
def test_the_runtime_is_linked(
    toolkit: Toolkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: tuple[str, ...]
) -> None:
    """nvcc links it by itself; here the linker is told where the toolkit's libraries are, but not which."""
    monkeypatch.setenv("LIBRARY_PATH", str(toolkit.home / "lib"))
    monkeypatch.setenv("PATH", f"{toolkit.home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    options = [word for name in target for word in ("--arch", name)]
    project = convert(write(tmp_path / "plain", PLAIN), tmp_path, *options)
    calls = build(toolkit, project)
    assert architectures(calls["twice.mu"]) == [f"--offload-arch={name}" for name in target]
    assert (project / "main").is_file()


def test_what_is_not_converted_does_not_build(toolkit: Toolkit, tmp_path: Path) -> None:
    """A test that a converted project builds can fail."""
    project = convert(TIDES, tmp_path)
    rules = project / "make" / "rules.mk"
    rules.write_text(rules.read_text(encoding="utf-8").replace("-O3", "-O3 -lineinfo"), encoding="utf-8")
    with pytest.raises(AssertionError, match="unknown argument: '-lineinfo'"):
        build(toolkit, project)
