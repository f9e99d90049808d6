"""Puts the stand-in for the MUSA toolkit together (tests/musa_toolkit), and builds CMake projects with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.commands import ROOT
from tests.toolkit import cuda_headers

PARTS = ROOT / "tests" / "musa_toolkit"
LIBRARIES = ("musa", "mublas", "mublasLt", "mufft", "murand", "musolver", "musparse")


class Toolkit:
    """A toolkit in a folder of its own."""

    def __init__(self, home: Path, cuda: Path) -> None:
        self.home = home
        shutil.copytree(PARTS, home)
        (home / "bin" / "clang++").symlink_to("mcc")
        (home / "include" / "cuda").symlink_to(cuda)
        (home / "lib").mkdir()
        for name in LIBRARIES:
            library = home / "lib" / f"lib{name}.so"
            run("gcc", "-shared", "-fPIC", "-w", home / "stubs.c", "-o", library)
        # A script of the linker's that leads on to CUDA's runtime.
        folder = next(path for name in ("lib64", "lib") if (path := cuda.parent / name).is_dir())
        (home / "lib" / "libmusart.so").write_text(f"INPUT({folder}/libcudart.so)\n", encoding="utf-8")
        (home / "lib" / "libmusart_static.a").symlink_to(folder / "libcudart_static.a")

    def build(self, source: Path, *options: str) -> list[list[str]]:
        """Configure and build a project; the arguments of each call of mcc."""
        log = self.home / "calls.jsonl"
        log.unlink(missing_ok=True)
        folder = source.parent / f"{source.name}-build"
        self.configure(source, folder, *options)
        run("cmake", "--build", folder, "--verbose", home=self.home)
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []

    def configure(self, source: Path, folder: Path, *options: str) -> str:
        """Configure a project; what CMake says."""
        return run("cmake", "-S", source, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *options, home=self.home)


def make_toolkit(folder: Path) -> Toolkit:
    """A toolkit in a new folder; skips where what it is made of is missing, unless the environment demands it."""
    missing = [tool for tool in ("cmake", "nvcc", "gcc", "g++") if shutil.which(tool) is None]
    if missing and os.environ.get("MUSIFY_REQUIRE_CUDA") == "1":
        pytest.fail(f"MUSIFY_REQUIRE_CUDA=1, but there is no {', '.join(missing)}")
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    return Toolkit(folder / "musa", cuda_headers().resolve())


def run(*command: object, home: Path | None = None) -> str:
    """Run a command; its output, after it succeeded."""
    environment = {**os.environ, **({"MUSA_HOME": str(home)} if home else {})}
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr
