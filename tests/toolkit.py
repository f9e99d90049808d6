"""The CUDA toolkit that some tests need."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


def cuda_headers() -> Path:
    """The toolkit's include folder; skips the test where there is none, unless the environment demands one."""
    compiler = shutil.which("nvcc")
    for home in (os.environ.get("CUDA_HOME"), compiler and Path(compiler).resolve().parent.parent):
        if home and (Path(home) / "include" / "cuda_runtime.h").is_file():
            return Path(home) / "include"
    if os.environ.get("MUSIFY_REQUIRE_CUDA") == "1":
        pytest.fail("MUSIFY_REQUIRE_CUDA=1, but no CUDA headers were found beside nvcc or in CUDA_HOME")
    pytest.skip("needs CUDA headers (nvcc on PATH, or CUDA_HOME)")


def nvcc() -> str:
    """The path of nvcc; skips the test where there is none, unless the environment demands one."""
    usual = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/cuda/bin"])
    compiler = shutil.which("nvcc", path=usual)
    if compiler is None and os.environ.get("MUSIFY_REQUIRE_CUDA") == "1":
        pytest.fail("MUSIFY_REQUIRE_CUDA=1, but nvcc was not found")
    if compiler is None:
        pytest.skip("needs nvcc")
    return compiler
