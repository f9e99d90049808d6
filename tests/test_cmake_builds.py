"""Converted CMake projects configure and build: real CMake, a stand-in for the MUSA toolkit, nvcc in mcc's place."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import HEAT, ROOT, musify, write
from tests.toolkit_stand_in import Toolkit, make_toolkit

WAVES = ROOT / "fixtures" / "projects" / "waves"
# Targets that public code was seen to link.
SEEN = {"musart", "musart_static", "mublas", "mublas_static", "mublasLt", "mufft", "musolver", "musa_driver"}

Converted = Callable[..., Path]


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Toolkit:
    return make_toolkit(tmp_path_factory.mktemp("toolkit"))


def convert(project: Path, folder: Path, *options: str) -> Path:
    output = folder / "converted"
    done = musify("convert", project, "-o", output, "-q", "--arch", "mp_22", "--arch", "mp_31", *options)
    assert done.code == 0, done.err
    return output


def compiled(calls: list[list[str]]) -> dict[str, list[str]]:
    """The calls of mcc, by the source that each compiles."""
    return {
        Path(next(word for word in call if Path(word).suffix in (".mu", ".cu", ".cpp"))).name: call for call in calls
    }


COMPILER = {"findmusa": False, "cxx": True, "language": False}


@pytest.mark.parametrize("form", COMPILER)
def test_waves_builds(toolkit: Toolkit, tmp_path: Path, form: str) -> None:
    project = convert(WAVES, tmp_path, "--cmake", form)
    options = [f"-DCMAKE_CXX_COMPILER={toolkit.home}/bin/clang++"] if COMPILER[form] else []
    calls = compiled(toolkit.build(project, *options))
    assert set(calls) == {"step.mu", "show.mu", "fill.cpp"}
    for call in calls.values():
        assert {"--offload-arch=mp_22", "--offload-arch=mp_31", "-use_fast_math"} <= set(call)
        assert any(word in ("-std=c++17", "-std=gnu++17") for word in call)
    assert "-DSHOW_PRECISION=3" in calls["show.mu"]
    assert "-DSHOW_PRECISION=3" not in calls["step.mu"]
    assert (tmp_path / "converted-build" / "app" / "waves").is_file()


def test_heat_builds(toolkit: Toolkit, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    project = convert(HEAT, tmp_path, "--report", f"json:{report}")
    calls = compiled(toolkit.build(project, "-DMUSA_ARCHITECTURES=mp_21"))
    assert set(calls) == {"solver.mu"}
    assert [word for word in calls["solver.mu"] if word.startswith("--offload")] == ["--offload-arch=mp_21"]
    assert (tmp_path / "converted-build" / "heat").is_file()
    assert targets_of(project) - SEEN <= inferred(json.loads(report.read_text(encoding="utf-8")))


def targets_of(project: Path) -> set[str]:
    words = (project / "CMakeLists.txt").read_text(encoding="utf-8").replace(")", " ").split()
    return {word.removeprefix("MUSA::") for word in words if word.startswith("MUSA::")}


def inferred(report: Any) -> set[str]:
    """Names that the report says nobody was seen to write."""
    said = [item for file in report["files"] for item in file["findings"] if item["id"] == "MUS513"]
    return {word.removeprefix("MUSA::").rstrip(",") for item in said for word in item["message"].split()}


FINDCUDA = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.10)
project(legacy CXX)
find_package(CUDA 9.0 REQUIRED)
set(CUDA_NVCC_FLAGS "${CUDA_NVCC_FLAGS};-gencode arch=compute_70,code=sm_70;-gencode arch=compute_80,code=sm_80")
list(APPEND CUDA_NVCC_FLAGS -O3 --expt-extended-lambda -Xcompiler -fPIC)
cuda_include_directories(${CMAKE_CURRENT_SOURCE_DIR}/include)
file(GLOB SOURCES src/*.cu src/*.cpp)
CUDA_ADD_LIBRARY(parts STATIC ${SOURCES} OPTIONS -DOPTION=1)
cuda_add_executable(legacy main.cpp twice.cu)
target_link_libraries(legacy parts ${CUDA_LIBRARIES})
""",
    "include/value.cuh": "#pragma once\n__device__ inline int value() { return OPTION; }\n",
    "src/one.cu": "#include <value.cuh>\n__global__ void one(int* p) { *p = value(); }\nvoid call(int* p) { one<<<1, 1>>>(p); }\n",
    "src/host.cpp": "int host() { return 0; }\n",
    "twice.cu": "__global__ void twice(int* p) { *p *= 2; }\nvoid again(int* p) { twice<<<1, 1>>>(p); }\n",
    "main.cpp": "#include <cuda_runtime.h>\nint host();\nvoid call(int*);\nvoid again(int*);\n"
    "int main() { int* p; cudaMalloc(&p, 4); call(p); again(p); return host(); }\n",
}  # fmt: skip


def test_findcuda_becomes_findmusa(toolkit: Toolkit, tmp_path: Path) -> None:
    project = convert(write(tmp_path / "legacy", FINDCUDA), tmp_path)
    calls = compiled(toolkit.build(project))
    assert set(calls) == {"one.mu", "twice.mu"}
    assert [word for word in calls["one.mu"] if word.startswith(("-gencode", "--offload"))] == [
        "--offload-arch=mp_22",
        "--offload-arch=mp_31",
    ]


OPTIONAL = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.18)
project(optional CXX)
option(WITH_CUDA "Use the GPU" OFF)
file(GLOB SOURCES src/*.cpp)
if(WITH_CUDA)
  enable_language(CUDA)
  add_definitions(-DWITH_CUDA)
  file(GLOB SOURCES src/*.cpp src/*.cu)
endif()
add_executable(optional ${SOURCES})
""",
    "src/main.cpp": "void work();\nint main() {\n#ifdef WITH_CUDA\n  work();\n#endif\n  return 0;\n}\n",
    "src/work.cu": "__global__ void kernel() {}\nvoid work() { kernel<<<1, 1>>>(); }\n",
}


@pytest.mark.parametrize("form", ["findmusa", "cxx"])
def test_a_project_builds_without_its_kernels_too(toolkit: Toolkit, tmp_path: Path, form: str) -> None:
    project = convert(write(tmp_path / "optional", OPTIONAL), tmp_path, "--cmake", form)
    assert not toolkit.build(project, "-DWITH_CUDA=OFF")
    shutil.rmtree(tmp_path / "converted-build")
    options = [f"-DCMAKE_CXX_COMPILER={toolkit.home}/bin/clang++"] if COMPILER[form] else []
    assert set(compiled(toolkit.build(project, "-DWITH_CUDA=ON", *options))) == {"work.mu"}


def test_the_stand_in_refuses_what_was_not_converted(toolkit: Toolkit, tmp_path: Path) -> None:
    """A test that a converted project builds can fail."""
    project = convert(write(tmp_path / "legacy", FINDCUDA), tmp_path)
    lists = project / "CMakeLists.txt"
    lists.write_text(lists.read_text(encoding="utf-8").replace("-O3", "-O3 -lineinfo"), encoding="utf-8")
    with pytest.raises(AssertionError, match="unknown argument: '-lineinfo'"):
        toolkit.build(project)
