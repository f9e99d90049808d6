"""`musify rules audit --musa-home`: what a MUSA SDK has of the names on our lists, and what convert then says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from musify.audit import rule_file
from musify.audit.headers import Pass, Reading, read
from musify.audit.sdk_names import SdkAudit, audit_sdk
from musify.audit.signatures import callables, difference_of_calls, difference_of_kind
from musify.audit.unknown import read_cuda_calls
from musify.clang import flags
from musify.cli import rules as command
from musify.model import MusifyError, Severity
from musify.rules import book
from musify.rules.book import RuleBook
from musify.sdk import find_sdk
from tests.commands import ROOT, musify, write
from tests.conftest import Convert

SDK = ROOT / "fixtures" / "sdk"

# The functions of CUDA 13 that the small SDK has too, as CUDA declares them.
CUDA = {
    "cuda.h": """
        #pragma once
        #include <stddef.h>
        #define CUDA_VERSION 13000
        typedef int CUdevice; typedef struct CUctx_st* CUcontext; typedef unsigned long long CUdeviceptr;
        typedef enum cudaError_enum { CUDA_SUCCESS } CUresult; typedef struct CUctxCreateParams_st CUctxCreateParams;
        #define cuMemAlloc cuMemAlloc_v2
        #define cuCtxCreate cuCtxCreate_v4
        extern "C" CUresult cuMemAlloc_v2(CUdeviceptr* dptr, size_t bytesize);
        extern "C" CUresult cuCtxCreate_v4(CUcontext* pctx, CUctxCreateParams* params, unsigned int flags, CUdevice dev);
    """,
    "cuda_runtime_api.h": """
        typedef struct CUstream_st* cudaStream_t; enum cudaMemcpyKind { cudaMemcpyDefault };
        typedef enum cudaError { cudaSuccess } cudaError_t;
        extern "C" cudaError_t cudaMalloc(void** devPtr, size_t size);
        extern "C" cudaError_t cudaMallocManaged(void** devPtr, size_t size, unsigned int flags = 1);
        extern "C" cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
        extern "C" cudaError_t cudaMemcpyAsync(void* d, const void* s, size_t n, enum cudaMemcpyKind k, cudaStream_t stream = 0);
        extern "C" cudaError_t cudaMemsetAsync(void* devPtr, int value, size_t count, cudaStream_t stream = 0);
        extern "C" const char* cudaGetErrorString(cudaError_t error);
        template <class T> cudaError_t cudaMalloc(T** devPtr, size_t size);
    """,
    "cublas_v2.h": """
        typedef struct cublasContext* cublasHandle_t; typedef enum { CUBLAS_STATUS_SUCCESS } cublasStatus_t;
        #define cublasSscal cublasSscal_v2
        extern "C" cublasStatus_t cublasSscal_v2(cublasHandle_t handle, int n, const float* alpha, float* x, int incx);
        extern "C" cublasStatus_t cublasXtCreate(void** handle);
    """,
    "cufft.h": "extern \"C\" int cufftGetVersion(int* version);",
    "cublasXt.h": "extern \"C\" int cublasXtDestroy(void* handle);",
}  # fmt: skip


@pytest.fixture(scope="module")
def cuda(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cuda")
    return write(
        folder, {name: text if name == "cuda.h" else f'#include "cuda.h"\n{text}\n' for name, text in CUDA.items()}
    )


@pytest.fixture(scope="module")
def audit(rules: RuleBook, cuda: Path) -> SdkAudit:
    return audit_sdk(find_sdk(SDK), rules, read_cuda_calls([cuda], rules))


# --- no SDK, and headers that cannot be read ------------------------------------------------------------------------


ERRORS = {
    "nothing there": (("--musa-home", "nowhere"), "nowhere: no such folder"),
    "an empty folder": (("--musa-home", "empty"), "no MUSA SDK: include/ has none of musa.h"),
    "a CUDA toolkit": (("--musa-home", "cuda"), "no MUSA SDK"),
    "no CUDA headers where they are said to be": (("--musa-home", "sdk", "--cuda-include", "empty"), "no CUDA headers"),
    "the variable leads nowhere": (("--musa-home", "auto"), "MUSA_HOME=nowhere: no such folder"),
}


@pytest.mark.parametrize(("arguments", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_errors_are_one_clear_line(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    write(tmp_path, {"cuda/include/cuda.h": "", "sdk/include/musa.h": ""})
    (tmp_path / "empty").mkdir()
    done = musify("rules", "audit", *arguments, cwd=tmp_path, MUSA_HOME="nowhere")
    assert (done.code, done.out) == (2, "") and message in done.err and done.err.count("\n") == 1


def test_an_sdk_without_a_single_declaration(tmp_path: Path, rules: RuleBook) -> None:
    write(tmp_path, {"include/musa.h": ""})
    with pytest.raises(MusifyError, match="no header could be read"):
        audit_sdk(find_sdk(tmp_path), rules)


def test_links_that_lead_nowhere_or_round_and_round(tmp_path: Path, rules: RuleBook) -> None:
    write(tmp_path, {"include/musa_runtime.h": "int musaMalloc(void**, int);\n", "include/folder.h/x": ""})
    (tmp_path / "include" / "gone.h").symlink_to("nowhere.h")
    (tmp_path / "include" / "again").symlink_to(".")
    found = audit_sdk(find_sdk(tmp_path), rules)
    assert {"cudaMalloc", "cuda_runtime.h"} <= set(found.seen) and "cudaFree" in found.absent
    assert ("gone.h", "'gone.h' file not found") in {(item.path, item.message) for item in found.reading.faults}


def test_headers_with_faults_are_named(audit: SdkAudit) -> None:
    faults = {(Path(item.path).name, item.line) for item in audit.reading.faults}
    assert {("mufft.h", 5), ("musa_broken.h", 6)} <= faults
    assert not {name for name, _ in faults} & {"musa_runtime.h", "mublas.h", "mccl.h", "murand_kernel.h"}


# --- seen, absent, unclear ------------------------------------------------------------------------------------------


SEEN = {
    "a function": "cudaMemcpyAsync",
    "a macro for a versioned function": "cuMemAlloc",
    "the versioned function": "cuMemAlloc_v2",
    "an inline wrapper": "cublasCreate",
    "a macro with parameters": "cublasSscal",
    "an enumerator in a typedef'd enum": "CUBLAS_OP_T",
    "a typedef'd enum": "cublasStatus_t",
    "a name in GBK surroundings": "ncclAllReduce",
    "in a header that needs another first": "curand_uniform4",
    "behind an include of nothing": "cufftExecC2C",
    "before the fault of a header": "cudaProfilerStart",
    "in a folder that is a link": "cuda::std::atomic",
    "a header": "cuda_runtime.h",
    "a header of the same name": "vector_types.h",
    "a header in a folder that is a link": "cuda/std/atomic",
}


@pytest.mark.parametrize("name", SEEN.values(), ids=SEEN.keys())
def test_seen(audit: SdkAudit, name: str) -> None:
    assert name in audit.seen and name not in audit.absent and name not in audit.undecided


ABSENT = {
    "no header has it": ("cudaHostAlloc", "no header declares it"),
    "its header is missing": ("nvrtcCreateProgram", "there is no mtrtc.h"),
    "its header is missing, others of the library are there": ("cublasXtDestroy", "there is no mublasXt.h"),
    "a header": ("nvrtc.h", "there is no such header"),
    "another spelling": ("cublasSgemm_v2", "no header declares it; there is a mublasSgemm"),
    "a namespace that is missing": ("cuda::std::ranges::end", "no header declares it"),
}


@pytest.mark.parametrize(("name", "why"), ABSENT.values(), ids=ABSENT.keys())
def test_absent(audit: SdkAudit, name: str, why: str) -> None:
    assert audit.absent[name].why == why and name not in audit.seen


UNCLEAR = {
    "declared for a later version only": ("cuStreamGetDevice", "include/musa.h:70"),
    "behind the fault of a header": ("cudaProfilerStop", "include/musa_broken.h:9"),
}


@pytest.mark.parametrize(("name", "place"), UNCLEAR.values(), ids=UNCLEAR.keys())
def test_unclear_names_are_not_called_absent(audit: SdkAudit, name: str, place: str) -> None:
    assert audit.undecided[name] == place and name not in audit.absent and name not in audit.seen


NOT_JUDGED = {
    "the compiler's own": "__CUDACC__",
    "a name that stays and may be the compiler's": "__activemask",
    "a library of another shape": "cudnnCreate",
    "a name without a counterpart": "cuTensorMapEncodeTiled",
    "a header of torch_musa's": "ATen/cuda/CUDAContext.h",
}


@pytest.mark.parametrize("name", NOT_JUDGED.values(), ids=NOT_JUDGED.keys())
def test_not_judged(audit: SdkAudit, name: str) -> None:
    assert name not in audit.seen and name not in audit.absent and name not in audit.undecided


def test_what_only_the_sdk_has(audit: SdkAudit) -> None:
    assert {"musparseStage_t", "musaDeviceOnly"} <= set(audit.own)
    assert not {"musaMalloc", "MUSA_H_"} & set(audit.own)


def test_rules_that_an_sdk_contradicts(tmp_path: Path, rules: RuleBook) -> None:
    write(tmp_path, {"include/musa.h": "int muTensorMapEncodeTiled(int);\n"})
    assert audit_sdk(find_sdk(tmp_path), rules).contradicted == {"cuTensorMapEncodeTiled": "musa.h:1"}


# --- signatures -----------------------------------------------------------------------------------------------------


CHANGED = {
    "cuCtxCreate": ("it takes 3 arguments, not 4", Severity.ERROR),
    "cufftGetVersion": ("it is a type, not a function", Severity.ERROR),
    "cudaMemGetInfo": ("argument 1 is unsigned int *, not size_t *", Severity.WARNING),
    "cudaMemsetAsync": ("CUDA's can be called with fewer arguments (3; here 4)", Severity.WARNING),
}


def test_changed(audit: SdkAudit) -> None:
    """All others are alike: mapped names, a macro with as many parameters, defaults, a template beside the function."""
    assert {item.name: item.difference[::2] for item in audit.changed} == CHANGED
    assert {item.place for item in audit.changed} >= {"musa.h:60", "mufft.h:24"}


def _reading(folder: Path, source: str) -> Reading:
    write(folder, {"api.h": source})
    return read([Pass(["api.h"], flags.plain([folder]))], [folder], calls=True)


SAME = {
    "names of types are mapped": ("int f(struct A* a);", "int f(B* b);"),
    "const of an argument itself": ("int f(const int a);", "int f(int a);"),
    "an array is a pointer": ("int f(int a[3]);", "int f(int* a);"),
    "another name for the same type": ("int f(unsigned long a);", "typedef unsigned long size; int f(size a);"),
    "one default more": ("int f(int a);", "int f(int a, int b = 0);"),
    "any number of arguments": ("int f(int a);", "int f(int a, ...);"),
    "a macro for any number": ("int f(int a, int b);", "#define f(a, ...) 0"),
    "a chain of macros": ("int f(int a);", "int f3(int); \n#define f2 f3\n#define f f2"),
    "templates of any type": ("template <class A> int f(A a);", "template <class B> int f(B b);"),
    "the overload that fits": ("int f(int a);", "int f(int a, int b); int f(int a);"),
    "not understood in CUDA": ("int f(Unknown a, int b);", "int f(int a);"),
    "not understood in the SDK": ("int f(int a, int b);", "int f(Unknown a);"),
}


@pytest.mark.parametrize(("cuda_source", "musa_source"), SAME.values(), ids=SAME.keys())
def test_no_difference(tmp_path: Path, cuda_source: str, musa_source: str) -> None:
    ours = callables("f", _reading(tmp_path / "cuda", "struct A;\n" + cuda_source))
    theirs = callables("f", _reading(tmp_path / "musa", "struct B;\n" + musa_source))
    assert difference_of_calls(ours, theirs, lambda text: text.replace("A", "B")) is None


DIFFERENT = {
    "one argument more": ("int f(int a);", "int f(int a, int b);", "it takes 2 arguments, not 1", Severity.ERROR),
    "one argument less": ("int f(int a, int b);", "int f(int a);", "it takes 1 arguments, not 2", Severity.ERROR),
    "overloads, none fits": (
        "int f(int a);", "int f(int a, int b); int f();", "it takes 0 or 2 arguments, not 1", Severity.ERROR,
    ),
    "a macro": ("int f(int a);", "#define f(a, b) 0", "it takes 2 arguments, not 1", Severity.ERROR),
    "the result": ("void f(int a);", "int f(int a);", "it returns int, not void", Severity.WARNING),
    "const behind a pointer": (
        "int f(int* a);", "int f(const int* a);", "argument 1 is const int *, not int *", Severity.WARNING,
    ),
    "another width": ("int f(long a);", "int f(int a);", "argument 1 is int, not long", Severity.WARNING),
    "a type that the rules do not lead to": ("int f(A* a);", "struct C; int f(C* a);", "argument 1 is C *, not B *", Severity.WARNING),
    "no default": (
        "int f(int a, int b = 0);", "int f(int a, int b);", "CUDA's can be called with fewer arguments (1; here 2)",
        Severity.WARNING,
    ),
    "one of two forms": (
        "int f(int a); int f(float a);", "int f(int a);", "in one of its forms argument 1 is int, not float", Severity.NOTE,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("cuda_source", "musa_source", "why", "severity"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_difference(tmp_path: Path, cuda_source: str, musa_source: str, why: str, severity: Severity) -> None:
    ours = callables("f", _reading(tmp_path / "cuda", "struct A;\n" + cuda_source))
    theirs = callables("f", _reading(tmp_path / "musa", "struct B;\n" + musa_source))
    found = difference_of_calls(ours, theirs, lambda text: text.replace("A", "B"))
    assert found is not None and (found.why, found.severity) == (why, severity) and found.why_zh != found.why


KINDS = {
    "a function is a function": ("function", "int f(int);", ""),
    "a macro may stand for anything": ("function", "#define f g", ""),
    "a pointer to a function can be called": ("function", "extern int (*f)(int);", ""),
    "an enumerator is a value as a variable is": ("enumerator", "extern int f;", ""),
    "what a macro of CUDA's stood for is not known": ("macro", "struct f;", ""),
    "a type": ("function", "struct f;", "it is a type, not a function"),
    "a value": ("typedef", "enum { f };", "it is a value, not a type"),
    "a function": ("enumerator", "int f();", "it is a function, not a value"),
}


@pytest.mark.parametrize(("kind", "source", "why"), KINDS.values(), ids=KINDS.keys())
def test_kinds(tmp_path: Path, kind: str, source: str, why: str) -> None:
    found = difference_of_kind(kind, _reading(tmp_path, source).declared["f"])
    assert (found.why if found else "") == why


# --- the overlay, and what convert says with it ---------------------------------------------------------------------


def test_convert_with_the_overlay(tmp_path: Path, convert: Convert, audit: SdkAudit) -> None:
    overlay = tmp_path / "sdk.toml"
    rule_file.write(overlay, rule_file.overlay(audit))
    source = (
        "#include <cuda_runtime.h>\n#include <nvrtc.h>\nvoid f(void** p, CUcontext* c, size_t* n) {\n"
        "  cudaMalloc(p, 4);\n  cudaHostAlloc(p, 4, 0);\n  cuCtxCreate(c, 0, 0, 0);\n  cudaMemGetInfo(n, n);\n}\n"
    )
    result = convert(source, own=book.load([overlay]))
    document = result.conversion.document
    found = [
        (document.position(item.span.start)[0], item.rule_id, item.severity) for item in result.conversion.findings
    ]
    assert found == [
        (2, "MUS119", None), (5, "MUS119", None), (6, "MUS120", Severity.ERROR), (7, "MUS120", Severity.WARNING),
    ]  # fmt: skip
    evidence = {edit.name: edit.evidence for edit in result.conversion.edits}
    assert evidence["cudaMalloc"] == "sdk" and evidence["cuda_runtime.h"] == "sdk"
    assert "musaHostAlloc(p, 4, 0)" in result.text and "muCtxCreate(c, 0, 0, 0)" in result.text


def test_what_was_inferred_is_seen_with_the_overlay(tmp_path: Path, convert: Convert, rules: RuleBook) -> None:
    write(tmp_path, {"include/musa_runtime.h": "typedef struct MUkern_st* musaKernel_t;\n"})
    rule_file.write(tmp_path / "sdk.toml", rule_file.overlay(audit_sdk(find_sdk(tmp_path), rules)))
    source = "void f(cudaKernel_t k);"
    assert convert(source).ids == ["MUS102"]
    assert convert(source, own=book.load([tmp_path / "sdk.toml"])).ids == []


def test_an_overlay_does_not_change_the_next_audit(tmp_path: Path, audit: SdkAudit) -> None:
    rule_file.write(tmp_path / "sdk.toml", rule_file.overlay(audit))
    again = audit_sdk(find_sdk(SDK), book.load([tmp_path / "sdk.toml"]))
    assert (again.seen, again.undecided) == (audit.seen, audit.undecided) and set(again.absent) == set(audit.absent)


def test_from_the_command_line(tmp_path: Path, cuda: Path) -> None:
    overlay = tmp_path / "sdk.toml"
    arguments = ("rules", "audit", "--musa-home", "auto", "--cuda-include", cuda, "--write-rules", overlay)
    done = musify(*arguments, MUSA_HOME=str(SDK))
    assert done.code == 0 and "error: cuCtxCreate -> muCtxCreate (musa.h:60): it takes 3 arguments, not 4" in done.out
    assert "musa_broken.h:6" in done.out and done.out.splitlines()[-1].startswith(f"MUSA SDK 5.2.0 in {SDK}: ")
    tree = write(tmp_path / "in", {"a.cu": "auto a = cudaMalloc;\nauto b = cudaHostAlloc;\n"})
    checked = musify("check", tree, "--rules", overlay, "-q")
    assert "a.cu:2:10: error: the SDK has no musaHostAlloc (no header declares it)" in checked.out
    assert "a.cu:1" not in checked.out


def test_without_cuda_headers_arguments_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "cuda_include", lambda: None)
    done = CliRunner().invoke(command.rules, ["audit", "--musa-home", str(SDK), "--json"])
    assert "no CUDA headers found: arguments are not compared" in done.stderr
    data = json.loads(done.stdout)
    assert (data["sdk_version"], [item["name"] for item in data["changed"]]) == ("5.2.0", ["cufftGetVersion"])
    assert {item["name"] for item in data["undecided"]} >= {"cuStreamGetDevice", "cudaProfilerStop"}
