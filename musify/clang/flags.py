"""Arguments to parse with: no headers at all, plain C++ headers, or CUDA's.

Facts about clang and CUDA 13 were measured with libclang 22 and the headers of CUDA 13.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from musify.clang.library import load
from musify.model import MusifyError

STANDARD = "-std=c++17"
STUBS = Path(__file__).parent / "stubs"
# What header-less source is told of CUDA.
HEADER_LESS = STUBS / "header_less.h"
# clang asks the driver for the toolkit's version to know how kernels are launched; any from 9.2 on will do.
_LAUNCHES = ("-Xclang", "-target-sdk-version=12.0")


def header_less() -> list[str]:
    """CUDA source without the headers of the system and of CUDA: what they declare is unknown, save the basic types."""
    return ["-x", "cuda", "--cuda-host-only", "-nostdinc", "-nostdinc++", "-nocudainc", "-nocudalib", STANDARD,
            "-fgpu-rdc", "-ferror-limit=0", "-w", "-fno-spell-checking", *_LAUNCHES,
            "-include", str(HEADER_LESS)]  # fmt: skip


def plain(include: Sequence[Path] = ()) -> list[str]:
    """C++ with the system's headers and these folders. Raises MusifyError where clang's own headers are missing."""
    return ["-x", "c++", STANDARD, "-resource-dir", str(_resources()), "-ferror-limit=0", "-w", *_folders(include)]


def with_cuda(include: Sequence[Path], precompiled: Path | None = None) -> list[str]:
    """CUDA source, seen from the host, with the system's headers and a toolkit's.

    `include` are the toolkit's include folder and those beside it; no installed toolkit is looked for. What clang's
    driver does once it has found one is done here. `precompiled` holds what these arguments include (see the module of
    that name). Raises MusifyError where clang's own headers are missing.
    """
    resources = _resources()
    folders = [*include, *(folder / "cccl" for folder in include if (folder / "cccl").is_dir())]
    return [
        "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", STANDARD, "-fgpu-rdc", "-ferror-limit=0", "-w",
        *_LAUNCHES,
        "-resource-dir", str(resources), "-isystem", str(resources / "include" / "cuda_wrappers"),
        *_folders(folders), "-idirafter", str(STUBS),
        *(["-include-pch", str(precompiled)] if precompiled else ["-include", "__clang_cuda_runtime_wrapper.h"]),
    ]  # fmt: skip


def _folders(include: Sequence[Path]) -> list[str]:
    return [part for folder in include for part in ("-isystem", str(folder))]


def _resources() -> Path:
    folder = load().resources
    if folder is None:
        raise MusifyError("this libclang has no headers of its own; install libclang-ng in place of libclang")
    return folder
