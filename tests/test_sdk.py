"""Finding a MUSA SDK: what is none and why, and what one says of itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from musify import sdk
from musify.model import MusifyError
from tests.commands import ROOT, write

SDK = ROOT / "fixtures" / "sdk"
VARIABLES = ("MUSA_HOME", "MUSA_PATH", "MUSA_ROOT")


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sdk, "_SDK_FOLDERS", ())
    monkeypatch.setattr(sdk, "_CUDA_FOLDERS", ())


NO_SDK = {
    "nothing there": (None, "no such folder"),
    "an empty folder": ({}, "no MUSA SDK: include/ has none of musa.h"),
    "a project with an include folder": ({"include/mine.h": ""}, "no MUSA SDK"),
    "CUDA": ({"include/cuda_runtime.h": "", "bin/nvcc": ""}, "no MUSA SDK"),
    "a folder called as the header": ({"include/musa.h/x": ""}, "no MUSA SDK"),
}


@pytest.mark.parametrize(("files", "message"), NO_SDK.values(), ids=NO_SDK.keys())
def test_no_sdk(tmp_path: Path, files: dict[str, str] | None, message: str) -> None:
    root = tmp_path / "root"
    if files is not None:
        root.mkdir()
        write(root, files)
    with pytest.raises(MusifyError, match=message):
        sdk.find_sdk(root)


def test_none_installed_says_where_it_looked() -> None:
    with pytest.raises(MusifyError, match=r"no MUSA SDK found .*MUSA_HOME, MUSA_PATH, MUSA_ROOT"):
        sdk.find_sdk()


def test_a_variable_that_points_to_no_sdk_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSA_HOME", str(tmp_path))
    monkeypatch.setenv("MUSA_PATH", str(SDK))
    with pytest.raises(MusifyError, match="MUSA_HOME="):
        sdk.find_sdk()


@pytest.mark.parametrize("variable", VARIABLES)
def test_found_by_a_variable(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, str(SDK))
    assert sdk.find_sdk().root == SDK


def test_what_is_given_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSA_HOME", str(tmp_path))
    found = sdk.find_sdk(SDK)
    assert found == sdk.Sdk(SDK, SDK / "include", (SDK / "lib",), "5.2.0", None)


def test_compiler_and_both_library_folders(tmp_path: Path) -> None:
    write(tmp_path, {"include/musa_runtime.h": "", "lib/a.so": "", "lib64/b.so": "", "bin/mcc": "#!/bin/sh\n"})
    assert sdk.find_sdk(tmp_path).compiler is None
    (tmp_path / "bin" / "mcc").chmod(0o755)
    found = sdk.find_sdk(tmp_path)
    assert (found.compiler, len(found.libraries)) == (tmp_path / "bin" / "mcc", 2)


VERSIONS = {
    "nothing says": ({}, ""),
    "not a number": ({"include/musa.h": "#define MUSA_VERSION MUSART_VERSION\n"}, ""),
    "only in a comment": ({"include/musa.h": "/* MUSA_VERSION 50100 */\n"}, ""),
    "musa.h": ({"include/musa.h": "#  define MUSA_VERSION (40300)\n"}, "4.3.0"),
    "the runtime": ({"include/musart_version.h": "#define MUSART_VERSION 50102\n"}, "5.1.2"),
    "version.json": ({"version.json": '{"other": {"version": "9"}, "musa": {"version": "5.2.0"}}'}, "5.2.0"),
    "version.json that is none": ({"version.json": "{"}, ""),
    "version.json of another form": ({"version.json": '{"musa": ["5"], "musart": {"version": "five"}}'}, ""),
}


@pytest.mark.parametrize(("files", "version"), VERSIONS.values(), ids=VERSIONS.keys())
def test_version(tmp_path: Path, files: dict[str, str], version: str) -> None:
    write(tmp_path, {"include/musa_runtime.h": "", **files})
    assert sdk.find_sdk(tmp_path).version == version


def test_linked_include_folder(tmp_path: Path) -> None:
    shutil.copytree(SDK / "include", tmp_path / "elsewhere", symlinks=True)
    (tmp_path / "include").symlink_to("elsewhere")
    assert sdk.find_sdk(tmp_path).version == "5.2.0"


def test_cuda_include(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sdk.cuda_include() is None
    write(tmp_path, {"include/cuda.h": ""})
    monkeypatch.setenv("CUDA_PATH", str(tmp_path))
    assert sdk.cuda_include() == tmp_path / "include"
