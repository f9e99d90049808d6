"""A stand-in for mcc: libclang on CUDA's language with the headers of fixtures/sdk, and what mcc has built in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from musify.clang.library import load
from tests.commands import ROOT, write

SDK = ROOT / "fixtures" / "sdk"
# What mcc brings without any #include; clang looks for the first one wherever a kernel is launched.
_BUILT_IN = """\
#include <musa_runtime.h>
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void* = 0);
"""
_TILES = """\
#include "musa_fp16.h"
namespace mtmusa { namespace wmma {
struct matrix_a {}; struct matrix_b {}; struct accumulator {}; struct row_major {}; struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment { T x[8]; };
template <class F, class T> __device__ void fill_fragment(F&, T);
template <class F, class T> __device__ void load_matrix_sync(F&, const T*, unsigned);
template <class C, class A, class B> __device__ void mma_sync(C&, const A&, const B&, const C&);
template <class F, class T> __device__ void store_matrix_sync(T*, const F&, unsigned, layout_t);
} }
"""


def extra_headers(folder: Path) -> Path:
    """Headers that the small SDK lacks, written to `folder`."""
    return write(folder, {"built_in.h": _BUILT_IN, "mma.h": _TILES})


def complaints(source: Path, extra: Path, arguments: Sequence[str], *, device: bool) -> list[str]:
    """The errors and warnings of one file, compiled for the host or for the device, as clang writes them."""
    library = load()
    assert library.resources is not None
    command = [
        *(("-x", "cuda", "-include", str(extra / "built_in.h"), "-include", "__clang_cuda_builtin_vars.h")
          if source.suffix in (".cu", ".mu") else ()),
        *(("--cuda-device-only", "--cuda-gpu-arch=sm_80") if device else ("--cuda-host-only",)),
        "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version", "-Xclang", "-target-sdk-version=12.0",
        "-resource-dir", str(library.resources), f"-I{SDK / 'include'}", f"-I{extra}",
        *(("-D__MUSACC__",) if source.suffix in (".cu", ".mu") else ("-DUSE_MUSA",)), *(("-D__MUSA_ARCH__=310",) if device else ()),
        *arguments,
    ]  # fmt: skip
    parsed = library.index.parse(str(source), command)
    return [item.format(item.DisplaySourceLocation) for item in parsed.diagnostics if item.severity >= item.Warning]
