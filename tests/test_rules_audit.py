"""`musify rules audit`: what of CUDA's headers counts as public, and what no rule knows of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from musify.audit.headers import Pass, read
from musify.audit.unknown import AS_ON_THE_DEVICE, CudaAudit, audit_cuda, compare, cuda_roots
from musify.clang import flags
from musify.rules import book
from musify.rules.book import RuleBook
from tests.commands import ROOT, musify, write
from tests.toolkit import cuda_headers

CUDA_H = "#ifndef __cuda_cuda_h__\n#define __cuda_cuda_h__\n#define CUDA_VERSION 14010\n#endif\n"


def _audit(tmp_path: Path, rules: RuleBook, files: dict[str, str | bytes]) -> CudaAudit:
    return audit_cuda([write(tmp_path, {"cuda.h": CUDA_H, **files})], rules)


# --- nothing to report ----------------------------------------------------------------------------------------------


PASSED_OVER = {
    "a name that a rule knows": "int cudaMalloc(void**, int);",
    "a version macro": "#define CUDART_VERSION 14010",
    "the include guard": "#ifndef CUDA_NEW_H\n#define CUDA_NEW_H\n#endif",
    "the include guard, tested with defined": "#if !defined(CUDA_NEW_H)\n#define CUDA_NEW_H\n#endif",
    "a macro that the header takes back": "#define CUDA_NEW_HELPER(x) x\n#undef CUDA_NEW_HELPER",
    "an internal function": "void __cudaInternalThing(int);",
    "an internal macro": "#define __CUDA_INTERNAL_THING 1",
    "a member": "struct cudaDeviceProp { int brandNew; void brandNewMethod(); };",
    "an operator": "struct dim3 {}; bool operator==(dim3, dim3);",
    "the tag of a known typedef": "typedef struct cudaMalloc_v3020_params_st { int a; } cudaMalloc_v3020_params;",
    "a namespace for the headers' own use": "namespace cuda { namespace detail { void brandNew(); } }",
    "an enumerator of an enum that a rule knows": "namespace cuda { enum class thread_scope { brandNew }; }",
    "in a namespace that a rule speaks of": "namespace cuda { namespace ptx { void brandNew(); } }",
    "on the list of what is passed over": "namespace nccl { namespace utility { void brandNew(); } }",
    "a local variable": "inline int cudaMallocHost(void) { int cudaBrandNew = 1; return cudaBrandNew; }",
}  # fmt: skip


@pytest.mark.parametrize("source", PASSED_OVER.values(), ids=PASSED_OVER.keys())
def test_passed_over(tmp_path: Path, rules: RuleBook, source: str) -> None:
    assert [item.name for item in _audit(tmp_path, rules, {"cuda_runtime_api.h": source + "\n"}).unknown] == []


def test_headers_of_inner_folders_are_not_public(tmp_path: Path, rules: RuleBook) -> None:
    files: dict[str, str | bytes] = {
        "cuda_runtime_api.h": '#include "inner/new.h"\n',
        "inner/new.h": "void cudaBrandNew(void);\n",
    }
    assert _audit(tmp_path, rules, files).unknown == ()


# --- what no rule knows ---------------------------------------------------------------------------------------------


FOUND = {
    "function": ("void cudaBrandNew(int);", "function", "musaBrandNew"),
    "template": ("template <class T> void cudaBrandNew(T);", "function", "musaBrandNew"),
    "struct": ("struct cudaBrandNew { int a; };", "struct", "musaBrandNew"),
    "typedef": ("typedef int cudaBrandNew;", "typedef", "musaBrandNew"),
    "enumerator of a typedef'd enum": ("typedef enum { cudaBrandNew = 3 } cudaError_t;", "enumerator", "musaBrandNew"),
    "macro": ("#define cudaBrandNew 0x01", "macro", "musaBrandNew"),
    "macro with parameters": ("#define cudaBrandNew(x) (x)", "macro-fn", "musaBrandNew"),
    "inside extern C": ('extern "C" { void cudaBrandNew(int); }', "function", "musaBrandNew"),
    "in a namespace": ("namespace cuda { inline namespace __9 { struct brand_new {}; } }", "struct", "musa::brand_new"),
    "among device functions": (
        "float __expf(float); float __logf(float); float __brandnewf(float);",
        "function",
        "__brandnewf",
    ),
}


@pytest.mark.parametrize(("source", "kind", "target"), FOUND.values(), ids=FOUND.keys())
def test_found(tmp_path: Path, rules: RuleBook, source: str, kind: str, target: str) -> None:
    (item,) = _audit(tmp_path, rules, {"cuda_runtime_api.h": source + "\n"}).unknown
    assert (item.kind, item.target, item.header, item.line) == (kind, target, "cuda_runtime_api.h", 1)
    assert item.library is not None


def test_the_library_is_the_one_of_the_name_then_of_the_header(tmp_path: Path, rules: RuleBook) -> None:
    header = "void cublasBrandNew(void);\nvoid ncclBrandNew(void);\nvoid brandNew(void);\n"
    found = _audit(tmp_path, rules, {"cublas_v2.h": header, "mystery.h": "void brandNewer(void);\n"}).unknown
    libraries = {item.name: item.library.id if item.library else None for item in found}
    assert libraries == {
        "cublasBrandNew": "cublas", "ncclBrandNew": "nccl", "brandNew": "cublas", "brandNewer": None, "mystery.h": None,
    }  # fmt: skip


def test_a_header_that_no_rule_knows(tmp_path: Path, rules: RuleBook) -> None:
    files: dict[str, str | bytes] = {"cublasBrandNew.h": "int cublasSgemm(int);\n", "folder.h/inside.h": ""}
    (item,) = _audit(tmp_path, rules, files).unknown
    assert (item.name, item.kind, item.target) == ("cublasBrandNew.h", "header", "mublasBrandNew.h")
    assert item.library is not None and item.library.id == "cublas"


# --- headers that do not parse --------------------------------------------------------------------------------------


BAD = {
    "broken": ("void cudaBesideTheFault(void);\n@@ { ] ;\n", "broken.h"),
    "includes what does not exist": ("#include <nowhere.h>\nvoid cudaBesideTheFault(void);\n", "'nowhere.h' file not found"),
    "needs a type of another header": ("void cudaBesideTheFault(cudaStrange_t);\n", "unknown type name 'cudaStrange_t'"),
    "not UTF-8": (b"// \xb0\xa1\n#error \xff\nvoid cudaBesideTheFault(void);\n", "broken.h"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "fault"), BAD.values(), ids=BAD.keys())
def test_a_header_with_faults_stops_neither_itself_nor_others(
    tmp_path: Path, rules: RuleBook, source: str | bytes, fault: str
) -> None:
    audit = _audit(tmp_path, rules, {"broken.h": source, "later.h": "void cudaLater(void);\n"})
    assert {"cudaBesideTheFault", "cudaLater"} <= {item.name for item in audit.unknown}
    assert any(fault in f"{item.path}: {item.message}" for item in audit.reading.faults)


def test_an_unreadable_header_is_a_fault(tmp_path: Path, rules: RuleBook) -> None:
    (tmp_path / "gone.h").symlink_to("nowhere.h")
    audit = _audit(tmp_path, rules, {"later.h": "void cudaLater(void);\n"})
    assert "cudaLater" in {item.name for item in audit.unknown}
    assert ("gone.h", "'gone.h' file not found") in {(item.path, item.message) for item in audit.reading.faults}


# --- the command ----------------------------------------------------------------------------------------------------


ERRORS = {
    "missing folder": (("--cuda-include", "nowhere"), "nowhere: no such folder"),
    "a folder without headers": (("--cuda-include", "."), "no CUDA headers: neither cuda.h nor"),
    "a file": (("--cuda-include", "file.h"), "file.h: no such folder"),
    "a bad rule file": (("--cuda-include", "cuda", "--rules", "file.h"), "not valid TOML"),
    "a goal that cannot be written": (
        ("--cuda-include", "cuda", "--write-rules", "nowhere/draft.toml"),
        "No such file",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_errors_are_one_clear_line(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    write(tmp_path, {"file.h": "[", "cuda/cuda.h": CUDA_H})
    done = musify("rules", "audit", *arguments, cwd=tmp_path)
    assert (done.code, done.out) == (2, "") and message in done.err and done.err.count("\n") == 1


def test_without_libclang_the_line_says_how_to_install_it(tmp_path: Path) -> None:
    write(tmp_path, {"cuda.h": CUDA_H, "absent/clang/__init__.py": "raise ImportError\n"})
    path = os.pathsep.join([str(tmp_path / "absent"), str(ROOT)])
    done = musify("rules", "audit", "--cuda-include", tmp_path, PYTHONPATH=path)
    assert done.code == 2 and "pip install 'cuda-musify[semantic]'" in done.err and done.err.count("\n") == 1


def test_text_and_json_and_a_draft_that_works(tmp_path: Path) -> None:
    header = "void cublasBrandNew(void);\ntypedef int cublasFresh_t;\nvoid odd(void);\n"
    include = write(
        tmp_path / "cuda", {"cuda.h": CUDA_H, "cublas_v2.h": header, "cublasFresh.h": "int cublasFresh(int);\n"}
    )
    draft = tmp_path / "draft.toml"
    text = musify("rules", "audit", "--cuda-include", include, "--write-rules", draft)
    assert text.code == 0 and "    1: function cublasBrandNew -> mublasBrandNew" in text.out
    assert "CUDA 14.1: 3 headers read; " in text.out
    data = json.loads(musify("rules", "audit", "--cuda-include", include, "--json").out)
    assert data["cuda_version"] == "14.1" and len(data["unknown"]) == 5
    again = musify("rules", "audit", "--cuda-include", include, "--rules", draft, "--json")
    assert json.loads(again.out)["unknown"] == []
    rule = book.load([draft]).header(b"cublasFresh.h")
    assert rule is not None and (rule.target, rule.evidence.value) == (b"mublasFresh.h", "none")


def test_headers_of_the_toolkit(rules: RuleBook) -> None:
    include = cuda_headers()
    passes = [Pass(["cuda_runtime.h", "cuda.h", "sm_30_intrinsics.h"], [*flags.plain([include]), *AS_ON_THE_DEVICE])]
    audit = compare(read(passes, cuda_roots([include])), rules)
    names = {item.name for item in audit.unknown}
    assert audit.known > 3000 and not names & {"cudaMalloc", "cuInit", "__expf", "cuda::std::tuple", "CUDA_VERSION"}
    assert {"cudaMalloc", "cuInit", "__shfl_sync"} <= set(audit.reading.declared)
