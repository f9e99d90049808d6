"""A CUDA toolkit of a few lines, for a preprocessor: what the shim has to mind about the real one's headers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.commands import write

HEADERS = {
    "cuda_runtime.h": """\
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__
#include <cuda_runtime_api.h>
#include <vector_types.h>
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#endif
""",
    "cuda_runtime_api.h": """\
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__
#define CUDART_VERSION 13000
#define cudaStreamNonBlocking 0x01
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cudaMemcpy cudaMemcpy_ptds
#endif
typedef int cudaError_t;
typedef struct CUstream_st* cudaStream_t;
extern "C" cudaError_t cudaFree(void*);
#endif
""",
    "vector_types.h": "#ifndef __VECTOR_TYPES_H__\n#define __VECTOR_TYPES_H__\nstruct float4 { float x, y, z, w; };\n#endif\n",
    "math_constants.h": "#pragma once\n#define CUDART_PI_F 3.14f\n",
    "cuda_fp16.h": "#pragma once\n#ifdef __CUDA_NO_HALF_OPERATORS__\nint no_operators;\n#endif\nstruct __half {};\ntypedef __half nv_half;\n",
    "cublas_v2.h": "#ifndef CUBLAS_V2_H_\n#define CUBLAS_V2_H_\n#include <cublas_api.h>\n#define cublasCreate cublasCreate_v2\n#endif\n",
    "cublas_api.h": "#ifndef CUBLAS_API_H_\n#define CUBLAS_API_H_\nint cublasCreate_v2(void**);\n#endif\n",
    "cublas.h": "#ifndef CUBLAS_H_\n#define CUBLAS_H_\n#include <cublas_api.h>\nint cublasInit();\n#endif\n",
    "cufft.h": "#pragma once\n#define CUFFT_FORWARD -1\n",
    "cuda/std/atomic": "#pragma once\nnamespace cuda { namespace std { struct atomic {}; } }\n",
    "mma.h": "#pragma once\nnamespace nvcuda { namespace wmma { struct fragment {}; } }\n",
}  # fmt: skip


def toolkit(folder: Path) -> Path:
    """The headers, written to `folder`."""
    return write(folder, HEADERS)


def preprocessor() -> str:
    """g++; skips the test where there is none."""
    found = shutil.which("g++")
    if found is None:
        pytest.skip("needs a preprocessor, and there is no g++")
    return found


def preprocessed(source: str, *arguments: str, folder: Path) -> list[str]:
    """The tokens of source text after preprocessing, without what headers say."""
    path = write(folder, {"source.cpp": source}) / "source.cpp"
    command = [preprocessor(), "-E", "-P", *arguments, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.rpartition("BEGIN")[2].split()
