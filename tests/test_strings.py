"""String literals that are more than text."""

from __future__ import annotations

import pytest

from tests.conftest import Convert

UNCHANGED = {
    "message": 'void f() { puts("cudaMalloc"); }',
    "message in a file that opens libraries": 'void* h = dlopen("libfoo.so", 1);\nvoid f() { puts("cudaMalloc"); }',
    "library name that nobody opens": 'const char* s = "libcudart.so";',
    "device string that nobody takes for one": 'auto d = label("cuda:0");',
    "text about kernels": 'const char* s = "write a __global__ function that calls cudaFree";',
    "user's symbol": 'void* p = dlsym(h, "my_cudaMalloc");',
    "path": 'void* h = dlopen("/opt/cuda/libmine.so", 1);',
}


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(convert: Convert, source: str) -> None:
    assert convert(source).text == source


RENAMED = {
    "dlsym": ('auto f = (F)dlsym(h, "cuMemAlloc_v2");', 'auto f = (F)dlsym(h, "muMemAlloc_v2");'),
    "dlsym in a cast": ('f = reinterpret_cast<F>(dlsym(h, "cudaMalloc"));', 'f = reinterpret_cast<F>(dlsym(h, "musaMalloc"));'),
    "cuGetProcAddress": ('cuGetProcAddress("cuInit", &f, 1, 0);', 'muGetProcAddress("muInit", &f, 1, 0);'),
    "driver entry point": ('cudaGetDriverEntryPoint("cuInit", &f, 0);', 'musaGetDriverEntryPoint("muInit", &f, 0);'),
    "GetProcAddress": ('GetProcAddress(h, "cuInit");', 'GetProcAddress(h, "muInit");'),
    "dlopen": ('dlopen("libcudart.so", RTLD_NOW);', 'dlopen("libmusart.so", RTLD_NOW);'),
    "dlopen with version": ('dlopen("libcuda.so.1", RTLD_NOW);', 'dlopen("libmusa.so.1", RTLD_NOW);'),
    "dlopen of a path": ('dlopen("/usr/lib/libcublas.so.12", 1);', 'dlopen("/usr/lib/libmublas.so.12", 1);'),
    "name in a variable": ('const char* n = "libnccl.so.2"; void* h = dlopen(n, 1);',
                           'const char* n = "libmccl.so.2"; void* h = dlopen(n, 1);'),
    "raw source": ('auto s = R"(\n#include <cuda_fp16.h>\n__global__ void k(__nv_bfloat16* p) {}\n)";',
                   'auto s = R"(\n#include <musa_fp16.h>\n__global__ void k(__mt_bfloat16* p) {}\n)";'),
    "raw source with a delimiter": ('auto s = R"XX(__device__ int f() { return cudaSuccess; })XX";',
                                    'auto s = R"XX(__device__ int f() { return musaSuccess; })XX";'),
    "lines of source": ('const char* s =\n  "#include <curand_kernel.h>\\n"\n  "__global__ void k(curandState* s) {\\n"\n  "}\\n";',
                        'const char* s =\n  "#include <murand_kernel.h>\\n"\n  "__global__ void k(murandState* s) {\\n"\n  "}\\n";'),
    "source with escapes": ('auto s = "__global__ void k() {\\n printf(\\"cudaX\\"); int a = cudaSuccess;\\n}";',
                            'auto s = "__global__ void k() {\\n printf(\\"cudaX\\"); int a = musaSuccess;\\n}";'),
    "guard in source": ('auto s = R"(#if __CUDA_ARCH__ >= 800\n__device__ int f() { return 1; }\n#endif)";',
                        'auto s = R"(#if __MUSA_ARCH__ >= 220\n__device__ int f() { return 1; }\n#endif)";'),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), RENAMED.values(), ids=RENAMED.keys())
def test_renamed(convert: Convert, source: str, expected: str) -> None:
    assert convert(source).text == expected
    assert convert(expected).text == expected


REPORTED = {
    "looked up by a name from elsewhere": ('void* p = dlsym(h, n);\nconst char* t[] = {"cuInit"};', "MUS107"),
    "library without counterpart": ('dlopen("libnvidia-ml.so.1", 1);', None),
    "cuDNN library": ('dlopen("libcudnn.so.8", 1);', "MUS108"),
    "NVML symbol": ('dlsym(h, "nvmlInit_v2");', "MUS402"),
    "source in a string": ('auto s = R"(__global__ void k() { int a = cudaSuccess; })";', "MUS109"),
    "finding inside the string": ('auto s = R"(__global__ void k() { cudaBrandNew(); })";', "MUS101"),
}


@pytest.mark.parametrize(("source", "identifier"), REPORTED.values(), ids=REPORTED.keys())
def test_reported(convert: Convert, source: str, identifier: str | None) -> None:
    ids = convert(source).ids
    assert identifier in ids if identifier else "MUS108" in ids or ids == []


def test_positions_inside_strings(convert: Convert) -> None:
    source = 'auto s = R"(\n__global__ void k() {\n  cudaBrandNew();\n})";'
    result = convert(source).conversion
    finding = next(item for item in result.findings if item.rule_id == "MUS101")
    assert result.document.position(finding.span.start) == (3, 3)
