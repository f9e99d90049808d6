"""The shipped rules: complete, consistent, and right where the tables in circulation are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from musify.model import Evidence
from musify.rules import book, cache, loader
from musify.rules.book import RuleBook
from musify.rules.evidence import attestation
from musify.rules.findings import catalogue
from musify.rules.location import rules_folder
from musify.rules.model import Action, Policy

LIBRARIES = [
    "runtime",
    "driver",
    "cublas",
    "cublaslt",
    "cufft",
    "curand",
    "cusparse",
    "cusolver",
    "cudnn",
    "nccl",
    "nvrtc",
    "nvtx",
    "nvml",
    "cupti",
    "npp",
    "nvjpeg",
    "cutensor",
    "cufile",
    "cusparselt",
    "nvshmem",
    "thrust",
    "cub",
    "libcudacxx",
    "cooperative_groups",
    "wmma",
    "fp_types",
    "device",
    "compiler",
]

MAPPED = {
    "cudaMalloc": "musaMalloc", "cuMemAlloc_v2": "muMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY": "MUSA_ERROR_OUT_OF_MEMORY",
    "CU_STREAM_DEFAULT": "MU_STREAM_DEFAULT", "CUstream": "MUstream", "cuuint64_t": "muuint64_t", "cublasSgemm_v2": "mublasSgemm_v2",
    "cublasLtMatmul": "mublasLtMatmul", "cufftExecC2C": "mufftExecC2C", "curand_init": "murand_init",
    "curandStatePhilox4_32_10_t": "murandStatePhilox4_32_10_t", "cusparseSpMM": "musparseSpMM",
    "cusolverDnSgetrf": "musolverDnSgetrf", "cusolverDnCungqr": "musolverDnCungqr", "cusolverDnCunmqr": "musolverDnCunmqr",
    "cusolverDnCungtr": "musolverDnCungtr", "nppsCubrt_32f": "mtppsCubrt_32f", "ncclAllReduce": "mcclAllReduce",
    "ncclUniqueId": "mcclUniqueId", "nvrtcCreateProgram": "mtrtcCreateProgram", "nvrtcGetCUBIN": "mtrtcGetFatBin",
    "CUpti_ActivityKernel4": "MUpti_ActivityKernel4", "nppiSet_8u_C1R": "mtppiSet_8u_C1R", "Npp8u": "Mtpp8u",
    "__nv_bfloat16": "__mt_bfloat16", "nv_bfloat16": "__mt_bfloat16", "nv_bfloat162": "__mt_bfloat162", "__nv_half": "__half",
    "__nv_fp8_e4m3": "__mt_fp8_e4m3", "__NV_E4M3": "__MT_E4M3", "__nv_cvt_float2_to_fp8x2": "__musa_cvt_float2_to_fp8x2",
    "CUBLAS_TF32_TENSOR_OP_MATH": "MUBLAS_TENSOR_OP_MATH", "CUBLAS_GEMM_DEFAULT_TENSOR_OP": "MUBLAS_GEMM_DEFAULT",
    "CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED": "MU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED",
    "cublasLtGetCudartVersion": "mublasLtGetCudartVersion", "CUDA_VERSION": "MUSA_VERSION", "__CUDACC__": "__MUSACC__",
    "__NVCC__": "__MUSACC__", "cuComplex": "muComplex", "make_cuDoubleComplex": "make_muDoubleComplex",
    "make_cudaExtent": "make_musaExtent", "PFN_cuInit": "PFN_muInit", "cuda::std::tuple": "musa::std::tuple",
    "nvcuda::wmma::fragment": "mtmusa::wmma::fragment", "cudaMemPool_t": "musaMemPool_t",
}  # fmt: skip


@pytest.mark.parametrize(("name", "target"), MAPPED.items(), ids=MAPPED.keys())
def test_mapping(rules: RuleBook, name: str, target: str) -> None:
    rule = rules.name(name.encode())
    assert rule is not None and rule.action is Action.RENAME and rule.target.decode() == target


HEADERS = {
    "cuda.h": "musa.h", "cuda_runtime.h": "musa_runtime.h", "cublas_v2.h": "mublas.h", "cublas.h": "mublas.h",
    "cusolverDn.h": "musolver.h", "nccl.h": "mccl.h", "nvrtc.h": "mtrtc.h", "npp.h": "mtpp.h", "curand_kernel.h": "murand_kernel.h",
    "cuda_fp8.h": "musa_fp8.h", "mma.h": "mma.h", "cub/cub.cuh": "cub/cub.cuh", "cuda/std/tuple": "musa/std/tuple",
}  # fmt: skip


@pytest.mark.parametrize(("path", "target"), HEADERS.items(), ids=HEADERS.keys())
def test_header(rules: RuleBook, path: str, target: str) -> None:
    rule = rules.header(path.encode())
    assert rule is not None and rule.target.decode() == target


@pytest.mark.parametrize(
    "name",
    ["threadIdx", "__half", "__syncthreads", "dim3", "float4", "__expf", "cooperative_groups::this_grid"],
)
def test_identity(rules: RuleBook, name: str) -> None:
    rule = rules.name(name.encode())
    assert rule is not None and rule.action is Action.IDENTITY


@pytest.mark.parametrize("name", ["cuda", "cu", "cubin", "nCutoffValue", "cudaResult", "CUDA_CHECK", "cudaStreamz"])
def test_no_api(rules: RuleBook, name: str) -> None:
    assert rules.name(name.encode()) is None


def test_every_family_is_there(rules: RuleBook) -> None:
    known = {library.id for library in rules.libraries}
    assert set(LIBRARIES) <= known


def test_kept_libraries_say_what_to_use_instead(rules: RuleBook) -> None:
    for library in rules.libraries:
        if library.policy is Policy.KEEP:
            assert library.finding in catalogue() and library.instead and library.instead_zh


def test_every_code_name_has_its_attestation(rules: RuleBook) -> None:
    code = [name for name in rules.all_names() if (rule := rules.name(name)) and rule.evidence is Evidence.CODE]
    lacking = [name for name in code if attestation(name.decode()) is None]
    assert len(code) > 2500 and len(lacking) < 5


def test_renames_keep_the_shape_of_a_name(rules: RuleBook) -> None:
    for name in rules.all_names():
        rule = rules.name(name)
        assert rule is not None
        if rule.action is Action.RENAME:
            assert rule.target and b" " not in rule.target and rule.target != name


def test_targets_are_no_sources(rules: RuleBook) -> None:
    """A second run changes nothing: no MUSA name is itself a CUDA name that would be renamed."""
    targets = {rule.target for name in rules.all_names() if (rule := rules.name(name)) and rule.action is Action.RENAME}
    again = [target for target in targets if (rule := rules.name(target)) and rule.action is Action.RENAME]
    assert again == []


def test_words_find_every_name_that_matters(rules: RuleBook) -> None:
    for name in rules.all_names():
        rule = rules.name(name)
        if rule is None or b"::" in name or (rule.action is Action.IDENTITY and not rule.known_issues):
            continue
        assert [tuple(word) for word in rules.words().find(b" " + name + b"(").words] == [(1, 1 + len(name))], name


def test_broken_cache_is_only_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = book.load().name(b"cudaMalloc")
    cached = next((tmp_path / "musify").glob("rules-api-*.marshal"))
    for wrong in (b"", b"nonsense", cached.read_bytes()[:1000]):
        cached.write_bytes(wrong)
        assert book.load().name(b"cudaMalloc") == first
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/nowhere")
    assert cache.load(rules_folder(), ("api",), lambda folder: {"made": 1}) == {"made": 1}


def test_rules_say_all_they_have_to(rules: RuleBook) -> None:
    """Every note has its source and its Chinese; every library file is complete."""
    for path in sorted((rules_folder() / "api").glob("*.toml")):
        table = loader.read_toml(path)
        assert table["library"]["id"] == path.stem
        for key in ("unsupported", "known_issue"):
            for note in table.get(key, []):
                assert note["source"] and note["why"] and note["why_zh"]
