"""The way back from MUSA to CUDA: what stays, each case named by why; what changes; and that both ways agree."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from musify.model import Applicability
from musify.rules import book
from musify.rules.book import RuleBook
from musify.rules.model import Action
from tests.commands import ROOT, contents, musify, write
from tests.conftest import Convert, Converted

GOLDEN = sorted((ROOT / "fixtures" / "golden").glob("*.in.*"))
# Golden trees hold the project before and after; others are as they are.
PROJECTS = sorted(
    path / "before" if (path / "before").is_dir() else path
    for path in (ROOT / "fixtures" / "projects").iterdir()
    if path.is_dir()
)


@pytest.fixture(scope="module")
def inverse() -> RuleBook:
    return book.load(reverse=True)


@pytest.fixture(scope="module")
def back(convert: Convert, inverse: RuleBook) -> Convert:
    def run(source: str, **settings: object) -> Converted:
        return convert(source, own=inverse, reverse=True, **settings)

    return run


UNCHANGED = {
    "member call": "void f(Pool& p) { p.musaMalloc(16); }",
    "comment": "// musaMalloc\nint a;",
    "ordinary string": 'const char* s = "musaMalloc failed";',
    "inside a longer identifier": "void my_musaMalloc();",
    "user namespace": "namespace mine { void musaFree(int); void f() { musaFree(1); } }",
    "free function of the user": "static int musaFree(int slot) { return slot; }\nint g() { return musaFree(3); }",
    "ordinary words that begin like MUSA's": "mutable int mute, multiply; std::mutex mu;",
    "CUDA's own name": "void f(void* p) { cudaFree(p); }",
    "CUDA's header": "#include <cuda_runtime.h>",
    "a name of CUDA's that MUSA has too": "__half f(__half a);",
    "device code that checks speak of on the way there": "__global__ void k() { __syncwarp(); int lane = threadIdx.x % 32; }",
    "PrivateUse1 in a file without PyTorch": "enum Key { PrivateUse1 };",
}


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(back: Convert, source: str) -> None:
    result = back(source)
    assert result.text == source
    assert set(result.ids) <= {"MUS106", "MUS117"}


CHANGED = {
    "call": ("void f(void* p) { musaFree(p); }", "void f(void* p) { cudaFree(p); }"),
    "type": ("musaStream_t s;", "cudaStream_t s;"),
    "driver": ("MUdevice d; void f() { muInit(0); }", "CUdevice d; void f() { cuInit(0); }"),
    "library": ("mublasHandle_t h; mcclComm_t c;", "cublasHandle_t h; ncclComm_t c;"),
    "exception to the convention": ("__mt_bfloat162 f();", "__nv_bfloat162 f();"),
    "header": ("#include <musa_runtime.h>", "#include <cuda_runtime.h>"),
    "namespace": ("musa::std::atomic<int> a;", "cuda::std::atomic<int> a;"),
    "launch": ("void f() { k<<<1, 2, 0, musaStreamPerThread>>>(); }", "void f() { k<<<1, 2, 0, cudaStreamPerThread>>>(); }"),
    "existence of the architecture": ("#if defined(__MUSA_ARCH__)\n#endif", "#if defined(__CUDA_ARCH__)\n#endif"),
    "pasted prefix": ("#define R(x) musa##x\nvoid f(void* p) { R(Free)(p); }", "#define R(x) cuda##x\nvoid f(void* p) { R(Free)(p); }"),
    "looked-up name": ('void f() { dlsym(h, "musaFree"); }', 'void f() { dlsym(h, "cudaFree"); }'),
    "looked up by MUSA's own function": ('void f() { muGetProcAddress("muInit", &p, 1, 0); }', 'void f() { cuGetProcAddress("cuInit", &p, 1, 0); }'),
    "library file": ('void f() { dlopen("libmusart.so", 1); }', 'void f() { dlopen("libcudart.so", 1); }'),
    "source in a string": ('auto s = R"(__global__ void k() { musaFree(0); })";', 'auto s = R"(__global__ void k() { cudaFree(0); })";'),
    "PyTorch": (
        "#include <torch/extension.h>\nauto s = at::musa::getCurrentMUSAStream();",
        "#include <torch/extension.h>\nauto s = at::cuda::getCurrentCUDAStream();",
    ),
    "PyTorch's device string": (
        '#include <torch/extension.h>\nauto d = at::Device("musa:0");', '#include <torch/extension.h>\nauto d = at::Device("cuda:0");',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), CHANGED.values(), ids=CHANGED.keys())
def test_changed(back: Convert, source: str, expected: str) -> None:
    assert back(source).text == expected


DOUBTFUL = {
    "several names": ("__mt_bfloat16 f();", "__nv_bfloat16 f();", "MUS130"),
    "several headers": ("#include <mublas.h>", "#include <cublas_v2.h>", "MUS130"),
    "nobody writes the name": ("void f(musaKernel_t k);", "void f(cudaKernel_t k);", "MUS131"),
}


@pytest.mark.parametrize(("source", "expected", "identifier"), DOUBTFUL.values(), ids=DOUBTFUL.keys())
def test_doubtful_edits_are_for_review(back: Convert, source: str, expected: str, identifier: str) -> None:
    result = back(source)
    assert result.text == expected and result.ids == [identifier]
    assert [edit.applicability for edit in result.conversion.edits] == [Applicability.REVIEW]


REPORTED = {
    "unknown call": ("void f() { musaOnlyHere(1); }", ["MUS132"]),
    "a class of muDNN": ("musa::dnn::Handle h;", ["MUS132"]),
    "a function of MTML": ("void f() { mtmlInit(&l); }", ["MUS132"]),
    "header of muDNN": ("#include <mudnn.h>", ["MUS133"]),
    "header outside the run": ('#include "kernels.muh"', ["MUS115"]),
    "architecture compared": ("#if __MUSA_ARCH__ >= 220\n#endif", ["MUS134"]),
    "version compared": ("#if MUSA_VERSION >= 50100\n#endif", ["MUS134"]),
}


@pytest.mark.parametrize(("source", "ids"), REPORTED.values(), ids=REPORTED.keys())
def test_left_and_reported(back: Convert, source: str, ids: list[str]) -> None:
    result = back(source)
    assert result.text == source and result.ids == ids


def test_every_renamed_name_comes_back(rules: RuleBook, inverse: RuleBook) -> None:
    """The inverse is made from the rules: a name comes back, or it is one of several, or CUDA has the other name too."""
    for name in rules.all_names():
        rule = rules.name(name)
        if rule is None or rule.action is not Action.RENAME or name in rule.library.one_way:
            continue
        again = inverse.name(rule.target)
        if again is None:
            assert rules.name(rule.target) is not None
        else:
            assert again.target == name or name in inverse.all_of(rule.target)


def test_a_rule_of_the_users_settles_what_is_ambiguous(tmp_path: Path) -> None:
    own = write(tmp_path, {"own.toml": '[rename]\nnv_bfloat16 = "__mt_bfloat16"\n'}) / "own.toml"
    rule = book.load([own], reverse=True).name(b"__mt_bfloat16")
    assert rule is not None and rule.target == b"nv_bfloat16"


def there_and_back(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "there_and_back.py"), str(tree)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name.split(".in.")[0])
def test_golden_sources_come_back_but_for_findings(tmp_path: Path, path: Path) -> None:
    done = there_and_back(write(tmp_path, {path.name.replace(".in.", "."): path.read_bytes()}))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "project", PROJECTS, ids=lambda path: path.relative_to(ROOT / "fixtures" / "projects").parts[0]
)
def test_projects_come_back_but_for_findings(project: Path) -> None:
    done = there_and_back(project)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_comes_back_is_counted(tmp_path: Path) -> None:
    done = there_and_back(write(tmp_path / "in", {"a.cu": "nv_bfloat16 f();\n", "b.cu": "cudaStream_t s;\n"}))
    assert "cuda: 2 files, 2 changed on the way there, 1 come back" in done.stdout
    assert "1 places of sources differ; findings there: MUS130 1" in done.stdout


TREE = {
    "src/a.mu": '#include "k.muh"\n#include <musa_runtime.h>\nvoid f(void* p) { musaFree(p); }\n',
    "src/k.muh": "#pragma once\nmusaStream_t s;\n",
    "Makefile": "# mcc builds it\na.o: src/a.mu\n\tmcc -c src/a.mu --offload-arch=mp_31 -lmusart\n",
    "setup.py": 'import torch_musa\nsources = ["src/a.mu"]\n',
}


def test_tree(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", TREE)
    report = tmp_path / "report.json"
    done = musify("convert", tree, "-o", tmp_path / "out", "--reverse", "--report", f"json:{report}")
    assert done.code == 0, done.err
    made = contents(tmp_path / "out")
    assert (
        made["src/a.cu"].decode() == '#include "k.cuh"\n#include <cuda_runtime.h>\nvoid f(void* p) { cudaFree(p); }\n'
    )
    assert made["src/k.cuh"] == b"#pragma once\ncudaStream_t s;\n"
    assert made["Makefile"].decode() == TREE["Makefile"].replace("a.mu", "a.cu")
    assert made["setup.py"].decode() == TREE["setup.py"].replace("a.mu", "a.cu")
    files = {file["path"]: file for file in json.loads(report.read_text(encoding="utf-8"))["files"]}
    left = [item["name"] for item in files[f"{tree}/Makefile"]["findings"]]
    assert left == ["mcc", "--offload-arch=mp_31", "-lmusart"]
    assert [item["name"] for item in files[f"{tree}/setup.py"]["findings"]] == ["torch_musa"]


def test_stdin() -> None:
    done = musify("convert", "-", "--reverse", "--stdin-name", "x.mu", "-q", stdin=b"musaStream_t s;\n")
    assert (done.code, done.out) == (0, "cudaStream_t s;\n")


def test_check_goes_back_too(tmp_path: Path) -> None:
    done = musify("check", write(tmp_path, {"a.mu": "musaOnlyHere_t x;\n"}), "--reverse", "-q")
    assert done.code == 1 and "MUS132" in done.out


def test_the_way_back_is_verified(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", TREE)
    assert musify("convert", tree, "-o", tmp_path / "out", "--reverse", "-q").code == 0
    done = musify("verify", tree, tmp_path / "out", "--reverse")
    assert done.code == 0, done.out + done.err
    write(tmp_path / "out", {"src/k.cuh": "#pragma once\ncudaStream_t t;\n"})
    done = musify("verify", tree, tmp_path / "out", "--reverse")
    assert done.code == 1 and "MUS951" in done.out
    done = musify("verify", tree, tmp_path / "out", "--reverse", "--depth", "compile")
    assert done.code == 2 and "--reverse" in done.err


EXPLAINED = {
    "a name": ("musaMalloc", ["cudaMalloc -> musaMalloc"]),
    "several names": ("__mt_bfloat16", ["__nv_bfloat16 -> __mt_bfloat16", "nv_bfloat16 -> __mt_bfloat16"]),
    "a header": ("musa_runtime.h", ["cuda_runtime.h -> musa_runtime.h"]),
    "CUDA's own": ("cudaMalloc", ["cudaMalloc -> musaMalloc"]),
}


@pytest.mark.parametrize(("name", "lines"), EXPLAINED.values(), ids=EXPLAINED.keys())
def test_names_of_musa_are_explained(name: str, lines: list[str]) -> None:
    done = musify("explain", name)
    assert done.code == 0 and [line for line in done.out.splitlines() if " -> " in line and line[0] != " "] == lines


def test_semantic_does_not_go_back(tmp_path: Path) -> None:
    done = musify("convert", write(tmp_path, {"a.mu": ""}), "--reverse", "--semantic")
    assert done.code == 2 and "--semantic" in done.err and "--reverse" in done.err


def test_sources_of_musa_are_passed_over_on_the_way_there(tmp_path: Path) -> None:
    done = musify("convert", write(tmp_path, {"a.mu": "cudaStream_t s;\n"}), "-q")
    assert done.out == ""


def test_names_that_a_library_has_no_more_are_not_gone_back_to(tmp_path: Path) -> None:
    source = (
        "#include <ATen/ceil_div.h>\n#include <torch_musa/csrc/aten/musa/MUSAContext.h>\n"
        "int a = at::ceil_div(1, 2);\nvoid f() { AT_MUSA_CHECK(1); }\n"
    )
    musify("convert", "--reverse", write(tmp_path / "in", {"a.mu": source}), "-o", tmp_path / "out", "-q")
    assert contents(tmp_path / "out")["a.cu"].decode() == (
        "#include <ATen/ceil_div.h>\n#include <ATen/cuda/CUDAContext.h>\n"
        "int a = at::ceil_div(1, 2);\nvoid f() { AT_CUDA_CHECK(1); }\n"
    )
