"""`musify header`: what the header holds and what it must not, what it cannot carry, and that both compilers take it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.commands import HEAT, ROOT, Run, contents, musify, write
from tests.mcc import complaints, extra_headers
from tests.toolkit import cuda_headers

ONE_SOURCE = ROOT / "fixtures" / "projects" / "one_source"
HEADER = "cuda_to_musa.h"


def _defines(text: str) -> dict[str, str]:
    return dict(re.findall(r"^#define (?!CUDA_TO_MUSA_H)(\w+) (\S+)", text, re.M))


def _ids(run: Run) -> list[str]:
    return re.findall(r"\[(MUS\d{3})\]$", run.err, re.M)


# --- what is not in it -----------------------------------------------------------------------------------------------

NOTHING = {
    "a comment": "// cudaMalloc, cudaFree\nint a;\n",
    "a string": 'const char* s = "cudaMalloc failed";\n',
    "a longer identifier": "int my_cudaMalloc_count;\n",
    "a member": "void* f(Pool& pool) { return pool.cudaMalloc(16); }\n",
    "the user's namespace": "namespace pool { void cudaFree(void*); }\nvoid f(void* p) { pool::cudaFree(p); }\n",
    "a name that stays": "__global__ void k(float4* p) { __syncthreads(); p[threadIdx.x] = {}; }\n",
    "a name that only looks like CUDA's": "int cudaHelper(int);\nint g() { return cudaHelper(1); }\n",
    "excluded by a mark": "cudaStream_t s;  // MUSIFY_EXCL_LINE\n",
    "a macro of the compiler": "#ifdef __CUDACC__\nint a;\n#endif\n",
    "an architecture": "#if __CUDA_ARCH__ >= 800\nint a;\n#endif\n",
    "a version": "#if CUDART_VERSION >= 12000\nint a;\n#endif\nint v = CUDART_VERSION;\n",
    "only asked for": "#ifdef CUFFT_FORWARD\nint a;\n#endif\n",
    "a name handed to dlsym": 'void* f(void* h) { return dlsym(h, "cuInit"); }\n',
    "the project's own macro": "#define cudaFree(p) my_free(p)\nvoid f(void* p) { cudaFree(p); }\n",
    "a macro that headers look at": "#define __CUDA_NO_HALF_OPERATORS__\nint a;\n",
}


@pytest.mark.parametrize("source", NOTHING.values(), ids=NOTHING.keys())
def test_defines_nothing(tmp_path: Path, source: str) -> None:
    done = musify("header", write(tmp_path, {"a.cu": source}))
    assert done.code == 0 and _defines(done.out) == {}


def test_nothing_of_files_that_are_not_sources_or_not_chosen(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.py": "cudaFree", "b/c.cu": "cudaStream_t s;\n", "d.cu": "cudaEvent_t e;\n"})
    assert _defines(musify("header", tree, "--exclude", "b/").out) == {"cudaEvent_t": "musaEvent_t"}


# --- what is in it ---------------------------------------------------------------------------------------------------


def test_heat() -> None:
    out = musify("header", HEAT).out
    defines = _defines(out)
    assert defines["cudaMalloc"] == "musaMalloc" and defines["__nv_bfloat16"] == "__mt_bfloat16"
    assert len(defines) == 21 and "cudaFree" not in defines and "CUDART_VERSION" not in out
    names = [name for name in defines if name.startswith("cuda")]
    assert names == sorted(names)
    assert re.search(r"^#define cudaMalloc musaMalloc /\* code, \d+ repositories \*/$", out, re.M)
    assert re.search(r"^#include <mublas.h> /\* cublas_v2.h: code", out, re.M)
    # Only device sources include curand.h.
    assert re.search(r"^#ifdef __MUSACC__\n#include <murand.h>[^#]*(#include .*\n)*#endif$", out, re.M)


FORMS = {
    "pasted in a macro": (
        "#define RT(name) cuda##name\nvoid f(void* p) { RT(Free)(p); }\n",
        "#define cudaFree musaFree",
    ),
    "pasted at the call": (
        "#define J(a, b) a##b\nvoid f(void* p) { J(cuda, Free)(p); }\n",
        "#define cudaFree musaFree",
    ),
    "not by the convention": ("int a = CUBLAS_TF32_TENSOR_OP_MATH;\n", "TF32_TENSOR_OP_MATH MUBLAS_TENSOR_OP_MATH"),
    "by convention only": ("cudaKernel_t k;\n", "#define cudaKernel_t musaKernel_t /* not attested, by convention"),
    "without counterpart": ("auto f = &cuTensorMapEncodeTiled;\n", "#define cuTensorMapEncodeTiled _Pragma("),
    "of another shape, asked for": (
        "#ifdef NVJPEGAPI\nnvjpegStatus_t s;\n#endif\n",
        "/* NVJPEGAPI (nvJPEG) has no counterpart on MUSA",
    ),
    "of another shape": ("cudnnHandle_t h;\n", '#define cudnnHandle_t _Pragma("GCC error'),
    "unknown": ("void f() { cudaTotallyNewApi(1); }\n", "/* cudaTotallyNewApi: looks like CUDA's"),
    "a namespace": ("using namespace nvcuda;\n", "namespace mtmusa {} namespace nvcuda = mtmusa;\n"),
    "a nested namespace": (
        "auto p = thrust::cuda::par;\n",
        "namespace thrust { namespace musa {} namespace cuda = musa; }\n/* thrust::cuda::par is thrust::musa::par: code",
    ),
    "a header that MUSA may lack": ("#include <device_launch_parameters.h>\n", "#if __has_include(<device_launch_"),
    "a header of another shape": ("#include <cudnn.h>\n", "/* cudnn.h (cuDNN) has no counterpart on MUSA"),
}


@pytest.mark.parametrize(("source", "line"), FORMS.values(), ids=FORMS.keys())
def test_forms(tmp_path: Path, source: str, line: str) -> None:
    assert line in musify("header", write(tmp_path, {"a.cpp": source})).out


def test_known_issues_are_said_for_the_target(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cu": "void f(void** p, cudaStream_t s) { cudaMallocAsync(p, 4, s); }\n"})
    assert re.search(r"cudaMallocAsync musaMallocAsync /\* .*known issue: ", musify("header", tree, "--sdk", "4.3").out)
    assert "known issue" not in musify("header", tree, "--sdk", "5.2").out


def test_unattested_names_can_be_left(tmp_path: Path) -> None:
    out = musify("header", write(tmp_path, {"a.cu": "cudaKernel_t k;\n"}), "--unattested", "keep").out
    assert _defines(out) == {} and "/* cudaKernel_t: left, musaKernel_t is not attested */" in out


def test_the_rest_of_the_project_is_only_read(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a/k.cu": '#include "../h.h"\nvoid f(void* p) { cudaFree(p); cudaEventQuery(0); }\n',
                            "h.h": "#define cudaFree(p) my_free(p)\ncudaStream_t s;\n"})  # fmt: skip
    assert _defines(musify("header", tree / "a", "--root", tree).out) == {"cudaEventQuery": "musaEventQuery"}


def test_own_rules_count(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cu": "int a = cudaOurs;\n", "r.toml": '[rename]\ncudaOurs = "musaOurs"\n'})
    out = musify("header", tree, "--rules", tree / "r.toml").out
    assert "#define cudaOurs musaOurs /* project rule */" in out


def test_names_that_another_file_declares_are_not_unknown(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cu": "void f() { cudaOurs(1); }\n", "b.cpp": "void cudaOurs(int) {}\n"})
    assert "cudaOurs" not in musify("header", tree).out


# --- what it cannot carry --------------------------------------------------------------------------------------------

NOT_CARRIED = {
    "a compiler macro": ("#ifdef __CUDACC__\nint a;\n#endif\n", ["MUS701"]),
    "an architecture": ("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\nint a;\n#endif\n", ["MUS701"]),
    "an architecture in code": ("__device__ int arch() { return __CUDA_ARCH__; }\n", ["MUS701"]),
    "a version": ("#if CUDART_VERSION >= 12000\nint a;\n#endif\n", ["MUS701"]),
    "a toolkit header's guard": ("#ifdef CUBLAS_API_H_\nint a;\n#endif\n", ["MUS701"]),
    "settled by hand": ("#if defined(__CUDACC__) || defined(__MUSACC__)\nint a;\n#endif\n", []),
    "settled around it": ("#ifndef USE_MUSA\n#if CUDART_VERSION >= 12000\nint a;\n#endif\n#endif\n", []),
    "settled in another branch": ("#ifdef __CUDACC__\nint a;\n#elif defined(__MUSACC__)\nint b;\n#endif\n", []),
    "suppressed": ("#ifdef __CUDACC__  // musify: ignore[MUS701] host only\nint a;\n#endif\n", []),
    "a string for dlsym": ('void* f(void* h) { return dlsym(h, "cuInit"); }\n', ["MUS702"]),
    "a library file": ('void* f() { return dlopen("libcudart.so", 1); }\n', ["MUS702"]),
    "source in a string": ('const char* s = R"(__global__ void k(cudaStream_t s) { })";\n', ["MUS702"]),
    "a string that a macro makes": (
        "#define LOAD(name) p_##name = dlsym(lib, #name)\nvoid f() { LOAD(cudaFree); }\n", ["MUS702"],
    ),
    "a string that is only shown": (
        '#define CHECK(call) check(call, #call)\nvoid f(void* p) { CHECK(cudaFree(p)); }\n', [],
    ),
    "assembly": ('__device__ void f() { asm volatile("trap;"); }\n', ["MUS703"]),
    "a member of that name": ("void f(P& p) { p.cudaFree(0); cudaFree(0); }\n", ["MUS704"]),
    "a member of another name": ("void f(P& p) { p.cudaMalloc(0); cudaFree(0); }\n", []),
    "an own macro of that name": (
        "#ifdef USE_HIP\n#define cudaFree hipFree\n#endif\nvoid f(void* p) { cudaFree(p); }\n", ["MUS705"],
    ),
    "an #undef": ("void f(void* p) { cudaFree(p); }\n#undef cudaFree\n", ["MUS705"]),
    "existence": ("#ifdef CUFFT_FORWARD\nint a;\n#endif\n", ["MUS706"]),
    "existence of a header": ("#if __has_include(<cuda_fp8.h>)\nint a;\n#endif\n", ["MUS706"]),
    "a toolkit header": ("#include <cuda_runtime.h>\n", ["MUS707"]),
    "a guarded toolkit header": ("#ifndef __MUSACC__\n#include <cuda_runtime.h>\n#endif\n", []),
    "a header of the same name": ("#include <mma.h>\n", []),
    "a pasted prefix": ("#define RT(name) cuda##name\n", ["MUS708"]),
    "a pasted prefix with calls": ("#define RT(name) cuda##name\nvoid f(void* p) { RT(Free)(p); }\n", []),
}  # fmt: skip


@pytest.mark.parametrize(("source", "ids"), NOT_CARRIED.values(), ids=NOT_CARRIED.keys())
def test_findings(tmp_path: Path, source: str, ids: list[str]) -> None:
    assert _ids(musify("header", write(tmp_path, {"a.cpp": source}))) == ids


def test_the_converted_line_is_shown(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cu": "int b;\n#if __CUDA_ARCH__ >= 800\nint a;\n#endif\n"})
    err = musify("header", tree).err
    assert f"{tree}/a.cu:2:5: warning: __CUDA_ARCH__" in err and "reads: #if __MUSA_ARCH__ >= 220 [MUS701]" in err


def test_marks_for_this_command_are_not_unused_for_another(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cpp": "#ifdef __CUDACC__  // musify: ignore[MUS701] host only\nint a;\n#endif\n"})
    assert "MUS904" not in musify("check", tree).out


def test_exit_code_and_report(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cpp": "#ifdef __CUDACC__\ncudaStream_t s;\n#endif\n"})
    assert musify("header", tree, "--fail-on", "warning").code == 1
    assert musify("header", tree, "--fail-on", "warning", "--ignore", "MUS7").code == 0
    assert '"id": "MUS701"' in musify("header", tree, "--report", "json").out
    assert "反映 CUDA 编译器" in musify("header", tree, "--lang", "zh").err


# --- writing it ------------------------------------------------------------------------------------------------------


def test_second_run_changes_nothing(tmp_path: Path) -> None:
    shutil.copytree(ONE_SOURCE, tmp_path, dirs_exist_ok=True)
    arguments = ("header", ".", "-o", f"include/{HEADER}", "--forwarding", "include/musa")
    first = musify(*arguments, cwd=tmp_path)
    before = contents(tmp_path)
    assert "5 files changed" in first.err and "include/musa/cuda_fp16.h" in before
    for jobs in ("1", "4"):
        assert "; 0 files changed" in musify(*arguments, "-j", jobs, cwd=tmp_path).err
        assert contents(tmp_path) == before


def test_check_leaves_the_header_alone_and_its_names_stay_the_apis(tmp_path: Path) -> None:
    shutil.copytree(ONE_SOURCE, tmp_path, dirs_exist_ok=True)
    alone = musify("convert", ".", cwd=tmp_path).out
    musify("header", ".", "-o", f"include/{HEADER}", "--forwarding", "include", cwd=tmp_path)
    assert musify("convert", ".", cwd=tmp_path).out == alone and HEADER not in alone
    assert HEADER not in musify("check", ".", cwd=tmp_path).out


def test_stale_forwarding_headers_go_and_those_of_others_stay(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cu": "#include <cuda_fp16.h>\n", "fwd/mine.h": "int a;\n"})
    arguments = ("header", tree / "a.cu", "-o", tmp_path / HEADER, "--forwarding", tmp_path / "fwd")
    musify(*arguments)
    assert (tmp_path / "fwd" / "cuda_fp16.h").exists()
    write(tmp_path, {"a.cu": "#include <cuda_bf16.h>\n"})
    musify(*arguments)
    assert sorted(path.name for path in (tmp_path / "fwd").iterdir()) == ["cuda_bf16.h", "mine.h"]


def test_headers_without_counterpart_are_not_forwarded(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cu": "#include <cudnn.h>\n#include <cuda.h>\n"})
    musify("header", tree, "-o", tmp_path / HEADER, "--forwarding", tmp_path / "fwd")
    assert [path.name for path in (tmp_path / "fwd").iterdir()] == ["cuda.h"]


MISUSE = {
    "a file of somebody else's": (("-o", "own.h"), "own.h: is there already and musify did not make it"),
    "a folder": (("-o", "folder"), "folder: is a folder"),
    "forwarding without a header": (("--forwarding", "fwd"), "--forwarding needs -o"),
    "no macro": (("--macro", "1x"), "--macro 1x: not the name of a macro"),
    "no such path": (("nowhere",), "nowhere: no such file or folder"),
}


@pytest.mark.parametrize(("arguments", "message"), MISUSE.values(), ids=MISUSE.keys())
def test_misuse(tmp_path: Path, arguments: Sequence[str], message: str) -> None:
    write(tmp_path, {"a.cu": "cudaStream_t s;\n", "own.h": "// mine\n", "folder/x.cu": ""})
    before = contents(tmp_path)
    done = musify("header", "a.cu", *arguments, cwd=tmp_path)
    assert done.code == 2 and message in done.err and contents(tmp_path) == before


def test_force_writes_over_it(tmp_path: Path) -> None:
    write(tmp_path, {"a.cu": "cudaStream_t s;\n", "own.h": "// mine\n"})
    assert musify("header", "a.cu", "-o", "own.h", "--force", cwd=tmp_path).code == 0
    assert b"#define OWN_H\n" in contents(tmp_path)["own.h"]


# --- both compilers --------------------------------------------------------------------------------------------------


@pytest.fixture
def one_source(tmp_path: Path) -> Path:
    """The sample project with its header and forwarding headers."""
    shutil.copytree(ONE_SOURCE, tmp_path / "project")
    musify("header", ".", "-o", f"include/{HEADER}", "--forwarding", "forwarding", cwd=tmp_path / "project")
    return tmp_path / "project"


def _sources(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "src").iterdir() if path.suffix in (".cu", ".cpp", ".c"))


def _run(*command: object) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _library_stubs(folder: Path) -> Path:
    """What the two projects use of libraries that a toolkit may come without."""
    return write(folder, {
        "cublas_v2.h": "#include <cuda_runtime.h>\ntypedef struct S* cublasHandle_t; enum { CUBLAS_STATUS_SUCCESS };\n"
                       "int cublasCreate(cublasHandle_t*); int cublasDestroy(cublasHandle_t);\n"
                       "int cublasSetStream(cublasHandle_t, cudaStream_t);\n"
                       "int cublasSnrm2(cublasHandle_t, int, const float*, int, float*);\n",
        "curand.h": "#include <cuda_runtime.h>\ntypedef struct S* curandGenerator_t; enum { CURAND_RNG_PSEUDO_PHILOX4_32_10 };\n"
                    "int curandCreateGenerator(curandGenerator_t*, int); int curandDestroyGenerator(curandGenerator_t);\n"
                    "int curandSetPseudoRandomGeneratorSeed(curandGenerator_t, unsigned long long);\n"
                    "int curandGenerateUniform(curandGenerator_t, float*, size_t);\n",
    })  # fmt: skip


def test_nvcc_takes_the_project_with_the_header_as_without(one_source: Path, tmp_path: Path) -> None:
    cuda_headers()
    stubs = _library_stubs(tmp_path / "stubs")
    for source in _sources(one_source):
        _run("nvcc", f"-I{one_source}/forwarding", f"-I{one_source}/include", "-include", HEADER, "-Xcompiler",
             f"-idirafter{stubs}", "-c", source, "-o", tmp_path / "out.o")  # fmt: skip


def test_nvcc_takes_heat_with_the_header(tmp_path: Path) -> None:
    cuda_headers()
    stubs = _library_stubs(tmp_path / "stubs")
    musify("header", HEAT, "-o", tmp_path / HEADER)
    for source in _sources(HEAT):
        _run("nvcc", f"-I{tmp_path}", f"-I{HEAT}/include", "-include", HEADER, "-Xcompiler", f"-idirafter{stubs}",
             "-c", source, "-o", tmp_path / "out.o")  # fmt: skip


def _musa_complaints(folder: Path, header: Path, forwarding: Path, extra: Path) -> list[str]:
    arguments = [f"-I{forwarding}", f"-I{folder / 'include'}", "-include", str(header)]
    return [
        text
        for source in _sources(folder)
        for device in ((False, True) if source.suffix == ".cu" else (False,))
        for text in complaints(source, extra, arguments, device=device)
    ]


def test_mcc_takes_the_project_with_the_header(one_source: Path, tmp_path: Path) -> None:
    extra = extra_headers(tmp_path / "extra")
    header = one_source / "include" / HEADER
    assert _musa_complaints(one_source, header, one_source / "forwarding", extra) == []
    # ... and only with it: each name counts.
    text = header.read_text(encoding="utf-8")
    header.write_text(text.replace("#define cudaFree musaFree", "//"), encoding="utf-8")
    found = _musa_complaints(one_source, header, one_source / "forwarding", extra)
    assert found and all("cudaFree" in item for item in found)


def test_mcc_takes_heat_with_the_header(tmp_path: Path) -> None:
    extra = extra_headers(tmp_path / "extra")
    header, forwarding = tmp_path / HEADER, tmp_path / "forwarding"
    musify("header", HEAT, "-o", header, "--forwarding", forwarding)
    assert _musa_complaints(HEAT, header, forwarding, extra) == []


def test_mcc_takes_a_source_that_includes_nothing_else(tmp_path: Path) -> None:
    source = (
        "#ifndef __MUSACC__\n#include <cublas_v2.h>\n#endif\ncublasHandle_t h;\n__global__ void k(cudaStream_t s) {}\n"
    )
    tree = write(tmp_path / "in", {"a.cu": source})
    musify("header", tree, "-o", tree / HEADER)
    extra = extra_headers(tmp_path / "extra")
    assert complaints(tree / "a.cu", extra, ["-include", str(tree / HEADER)], device=False) == []


def test_a_name_without_counterpart_is_a_clear_error_where_it_is_used(tmp_path: Path) -> None:
    source = (
        "#include <cuda_runtime.h>\n#if defined(NVJPEGAPI)\nnvjpegHandle_t no;\n#endif\n#if 0\ncudnnHandle_t skipped;\n#endif\n"
        "int f() {\n  return cudnnCreate(0);\n}\n"
    )
    tree = write(tmp_path / "in", {"a.cu": source})
    musify("header", tree, "-o", tree / HEADER, "--forwarding", tree / "forwarding")
    arguments = [f"-I{tree / 'forwarding'}", "-include", str(tree / HEADER)]
    found = complaints(tree / "a.cu", extra_headers(tmp_path / "extra"), arguments, device=False)
    assert len(found) == 2 and "error: cudnnCreate (cuDNN) has no counterpart on MUSA: muDNN is a C++" in found[0]


def test_that_error_is_at_the_line_that_uses_the_name(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    tree = write(tmp_path, {"a.cpp": "#if 0\ncudnnHandle_t skipped;\n#endif\nint f() {\n  return cudnnCreate(0);\n}\n"})
    musify("header", tree, "-o", tree / HEADER)
    command = ["g++", "-DUSE_MUSA", "-include", HEADER, "-fsyntax-only", "a.cpp"]
    done = subprocess.run(
        command, cwd=tree, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    assert re.search(r"^a.cpp:5:\d+: error: cudnnCreate \(cuDNN\) has no counterpart on MUSA: muDNN", done.stderr, re.M)
    assert "a.cpp:2:" not in done.stderr


@pytest.mark.parametrize(("tree", "same"), [(HEAT, 2), (ONE_SOURCE, 2)], ids=["heat", "one_source"])
def test_the_header_makes_of_the_source_what_convert_makes(tree: Path, same: int) -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    command = [sys.executable, str(ROOT / "tools" / "one_source.py"), str(tree)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"same: {same}\n" in done.stdout and "not read" not in done.stdout
