"""#include lines."""

from __future__ import annotations

import pytest

from musify.languages.surroundings import IncludeTarget, Surroundings
from tests.conftest import Convert

UNCHANGED = {
    "project header with cuda in its name": '#include "decode_jpegs_cuda.h"',
    "project folder": '#include "mylib/cuda.h"',
    "other extension": '#include "cuda_helpers.hpp"',
    "CUB keeps its suffix": "#include <cub/cub.cuh>",
    "Thrust": "#include <thrust/sort.h>",
    "path inside a comment": "// #include <cuda.h>",
    "path inside a string": 'const char* s = "#include <cuda.h>";',
    "standard header": "#include <algorithm>",
    "MUSA header": "#include <musa_runtime.h>",
    "cooperative groups": "#include <cooperative_groups.h>",
    "file outside the run": '#include "kernels.cuh"',
    "longer path that ends alike": "#include <other/cuda.h>",
}


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(convert: Convert, source: str) -> None:
    assert convert(source).text == source


RENAMED = {
    "angle brackets": ("#include <cuda_runtime.h>", "#include <musa_runtime.h>"),
    "quotes": ('#include "cuda.h"', '#include "musa.h"'),
    "blanks": ("  #  include  <cuda.h>  // x", "  #  include  <musa.h>  // x"),
    "CRLF": ("#include <cuda.h>\r\n#include <cufft.h>\r\n", "#include <musa.h>\r\n#include <mufft.h>\r\n"),
    "code before table": ("#include <cusolverDn.h>", "#include <musolver.h>"),
    "thrust's CUDA backend": ("#include <thrust/system/cuda/execution_policy.h>",
                              "#include <thrust/system/musa/execution_policy.h>"),
    "libcu++": ("#include <cuda/std/tuple>", "#include <musa/std/tuple>"),
    "has_include": ("#if __has_include(<cuda_fp8.h>)\n#endif", "#if __has_include(<musa_fp8.h>)\n#endif"),
    "path in a macro": ("#define RT_HEADER <cuda_runtime.h>\n#include RT_HEADER",
                        "#define RT_HEADER <musa_runtime.h>\n#include RT_HEADER"),
    "fp8": ("#include <cuda_fp8.h>\n#include <cuda_bf16.h>", "#include <musa_fp8.h>\n#include <musa_bf16.h>"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), RENAMED.values(), ids=RENAMED.keys())
def test_renamed(convert: Convert, source: str, expected: str) -> None:
    assert convert(source).text == expected
    assert convert(expected).text == expected


MERGED = {
    "two in a row": ("#include <cublas.h>\n#include <cublas_v2.h>\nint a;\n", "#include <mublas.h>\nint a;\n"),
    "the second one keeps its comment": ("#include <cublas.h>\n#include <cublas_v2.h>  // gemm\n",
                                         "#include <mublas.h>\n  // gemm\n"),
    "CRLF": ("#include <cublas.h>\r\n#include <cublas_v2.h>\r\nint a;\r\n", "#include <mublas.h>\r\nint a;\r\n"),
    "the outer one serves the inner": ("#include <cublas.h>\n#if A\n#include <cublas_v2.h>\n#endif\n",
                                       "#include <mublas.h>\n#if A\n#endif\n"),
    "different branches both stay": ("#if A\n#include <cublas.h>\n#else\n#include <cublas_v2.h>\n#endif\n",
                                     "#if A\n#include <mublas.h>\n#else\n#include <mublas.h>\n#endif\n"),
    "the inner one does not serve the outer": ("#if A\n#include <cublas.h>\n#endif\n#include <cublas_v2.h>\n",
                                               "#if A\n#include <mublas.h>\n#endif\n#include <mublas.h>\n"),
    "the same header twice stays twice": ("#include <cuda.h>\n#include <cuda.h>\n", "#include <musa.h>\n#include <musa.h>\n"),
    "last line without newline": ("#include <cublas.h>\n#include <cublas_v2.h>", "#include <mublas.h>\n"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), MERGED.values(), ids=MERGED.keys())
def test_two_headers_become_one(convert: Convert, source: str, expected: str) -> None:
    assert convert(source).text == expected
    assert convert(expected).text == expected


def test_project_header_of_the_same_name_stays(convert: Convert) -> None:
    own = Surroundings("a/test.cu", includes={b"cuda.h": IncludeTarget("a/cuda.h", "a/cuda.h")})
    assert (
        convert('#include "cuda.h"\n#include <cuda.h>', surroundings=own).text == '#include "cuda.h"\n#include <musa.h>'
    )


def test_include_follows_a_renamed_file(convert: Convert) -> None:
    own = Surroundings("a/test.cu", includes={b"../k/body.cuh": IncludeTarget("k/body.cuh", "k/body.muh")})
    assert convert('#include "../k/body.cuh"\n', surroundings=own).text == '#include "../k/body.muh"\n'


def test_unknown_header_is_reported(convert: Convert) -> None:
    assert convert("#include <cuda_next_big_thing.h>").ids == ["MUS114"]
    assert convert("#include <cudnn.h>").ids == ["MUS401"]
    assert convert("#include <device_launch_parameters.h>").ids == ["MUS110"]
    assert convert('#include "kernels.cuh"').ids == ["MUS115"]
