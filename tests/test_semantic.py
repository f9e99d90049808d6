"""--semantic: what libclang adds to what tokens tell, where it must keep out, and that it never stops a run."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from musify.clang import run
from musify.clang.run import SemanticRun
from musify.rules.book import RuleBook
from tests.commands import ROOT, Run, contents, musify, write
from tests.conftest import Convert, Converted
from tests.toolkit import cuda_headers

pytestmark = pytest.mark.usefixtures("own_state")

FIXTURES = ROOT / "fixtures" / "semantic"
Ask = Callable[..., Converted]


@pytest.fixture(scope="session")
def headerless(rules: RuleBook) -> SemanticRun:
    return run.prepare(None, [], rules.all_headers())


@pytest.fixture(scope="session")
def complete(rules: RuleBook) -> SemanticRun:
    """With CUDA's headers, which tests that need them share in a precompiled form."""
    return run.prepare(None, [cuda_headers()], rules.all_headers())


@pytest.fixture
def ask(convert: Convert, headerless: SemanticRun, tmp_path: Path) -> Ask:
    """Convert source text with answers of libclang; `others` are files beside it."""

    def convert_with_answers(source: str, others: dict[str, str] | None = None, **settings: Any) -> Converted:
        write(tmp_path, others or {})
        answers = settings.pop("semantic", headerless).answers(tmp_path / "source.cu", source.encode(), None)
        result = convert(source, semantics=answers, **settings)
        assert answers.problem == ""
        return result

    return convert_with_answers


# --- names ----------------------------------------------------------------------------------------------------------

# Renamed, though libclang without CUDA's headers finds something that looks like a declaration.
STILL_THE_API = {
    "a struct that is only named": "void f() { struct cudaDeviceProp p; g(p); }",
    "a struct that is only named, in a class": "class A { struct cudaGraphicsResource *r; };",
    "a struct that is only named, in a namespace": "namespace n { void f(struct cudaDeviceProp *p); }",
    "a typedef that repeats the API's": "typedef struct CUstream_st *cudaStream_t;\nvoid f(cudaStream_t s);",
    "a prototype that repeats the API's": 'extern "C" cudaError_t cudaFree(void *);\nvoid f(void *p) { cudaFree(p); }',
    "an attribute macro that nobody defines": "void CUDART_CB done(void *data) { g(data); }",
    "an attribute macro after an integer type": "int CUDART_CB done(void *data) { return g(data); }",
    "a stub for some configurations": "#ifndef HAVE_CUDA\nstatic int cudaSetDevice(int d) { return d; }\n#endif\n"
    "int f() { return cudaSetDevice(0); }",
    "an overload that may be the API's": "namespace mine { void cudaFree(int slot); }\nusing namespace mine;\n"
    "void f(Unknown *p) { cudaFree(p); }",
    "a member of another class": "struct P { void cudaFree(int); };\nvoid f(void *p) { cudaFree(p); }",
    "a local of another function": "void g() { int cudaSuccess = 1; (void)cudaSuccess; }\nint f() { return cudaSuccess; }",
    "another name than what it was mistaken for": "int cudaFrees(int);\nvoid f(void *p) { cudaFree(p); }",
}  # fmt: skip


@pytest.mark.parametrize("source", STILL_THE_API.values(), ids=STILL_THE_API.keys())
def test_what_may_be_the_api_is_renamed_as_without(ask: Ask, convert: Convert, source: str) -> None:
    assert ask(source).text == convert(source).text
    assert "musa" in ask(source).text or "MUSART" in ask(source).text


OWN = {
    "function that a macro declares": "#define DECLARE(n) static int n(int x) { return x; }\nDECLARE(cudaMemAdvise)\n"
    "int f() { return cudaMemAdvise(3); }",
    "member that a macro declares": "#define FIELD(n) int n;\nstruct S { FIELD(cudaSuccess) int f() { return cudaSuccess; } };",
    "opened by a using directive": "struct B {};\nnamespace m { void cudaFree(B *b) {} }\nusing namespace m;\n"
    "void f(B *b) { cudaFree(b); }",
    "friend": "struct L { friend void cudaFree(L &l) {} };\nvoid f(L &l) { cudaFree(l); }",
    "friend that is only declared": "struct L { friend void cudaFree(L &l); };\nvoid f(L &l) { cudaFree(l); }",
    "call with an argument that is not known": "#define DECLARE(n) static int n(int x) { return x; }\nDECLARE(cudaMemAdvise)\n"
    "int f() { return cudaMemAdvise(unknown); }",
    "used in another branch and in a macro": "#define DECLARE(n) static int n(int x) { return x; }\nDECLARE(cudaMemAdvise)\n"
    "#define USE cudaMemAdvise(3)\n#ifdef OTHER\nint f() { return cudaMemAdvise(3); }\n#endif",
    "enumerators that a macro lists": "#define LIST(X) X(cudaSuccess) X(cudaErrorUnknown)\n#define ITEM(n) n,\n"
    "enum E { LIST(ITEM) };\nE f() { return g(cudaErrorUnknown, cudaSuccess); }",
}  # fmt: skip


@pytest.mark.parametrize("source", OWN.values(), ids=OWN.keys())
def test_what_the_project_declares_stays(ask: Ask, convert: Convert, source: str) -> None:
    assert convert(source).text != source, "tokens alone tell: no case for libclang"
    assert ask(source).text == source


def test_what_a_header_outside_of_the_run_declares_stays(ask: Ask) -> None:
    header = "#pragma once\nstruct P { int n; };\nint cudaMemAdvise(const P &);\nint cudaPlanRetire(const P &);\n#define cudaFree(p) mine(p)\n"
    source = '#include "own.h"\nint f(const P &p) { cudaFree(0); return cudaMemAdvise(p) + cudaPlanRetire(p); }\n'
    result = ask(source, {"own.h": header})
    assert result.text == source and "MUS101" not in result.ids


def test_a_pointer_to_a_function_that_a_header_declares_stays(ask: Ask, convert: Convert) -> None:
    source = '#include "loader.h"\nint f() { return cuInit(0); }\n'
    assert "muInit" in convert(source).text
    assert (
        ask(source, {"loader.h": "typedef int init_function(unsigned);\nextern init_function *cuInit;\n"}).text
        == source
    )


def test_types_that_a_header_outside_of_the_run_defines_stay(ask: Ask, convert: Convert) -> None:
    source = '#include "own.h"\nCUresult f(CUdevice d);\n'
    assert "MUresult" in convert(source).text
    assert ask(source, {"own.h": "typedef enum { good } CUresult;\ntypedef int CUdevice;\n"}).text == source


def test_a_function_that_gives_a_type_of_the_project_stays(ask: Ask, convert: Convert) -> None:
    source = '#include "loader.h"\nint f() { return cuInit(0) == good; }\n'
    assert "muInit" in convert(source).text
    assert (
        ask(source, {"loader.h": "typedef enum { good } outcome;\nextern outcome cuInit(unsigned);\n"}).text == source
    )


def test_a_prototype_of_an_api_function_before_its_header_is_no_declaration_of_the_projects(
    ask: Ask, complete: SemanticRun
) -> None:
    source = '#include <driver_types.h>\nextern "C" cudaError_t cudaFree(void *);\nvoid f(void *p) { cudaFree(p); }\n'
    assert "musaFree(p)" in ask(source, semantic=complete).text


def test_a_namespace_of_the_project_in_one_of_cudas_stays(ask: Ask, convert: Convert) -> None:
    source = '#include "own.h"\nvoid f() { cuda::mine::run(1); cuda::std::atomic<int> a; }\n'
    assert convert(source).ids.count("MUS101") == 1
    result = ask(source, {"own.h": "namespace cuda { namespace mine { void run(int); } }\n"})
    assert "MUS101" not in result.ids and result.text == convert(source).text


def test_a_header_that_only_some_configurations_include_decides_nothing(ask: Ask) -> None:
    source = '#ifndef HAVE_CUDA\n#include "stubs.h"\n#endif\nint f() { return cudaSetDevice(0); }\n'
    assert "musaSetDevice" in ask(source, {"stubs.h": "static inline int cudaSetDevice(int d) { return d; }\n"}).text


def test_a_header_called_as_one_of_cudas_decides_nothing(ask: Ask) -> None:
    source = '#include "nccl.h"\nint f() { return ncclGetVersion(0); }\n'
    header = '#include "inner.h"\nstatic inline int ncclGetVersion(int *v) { return inner(v); }\n'
    assert "mcclGetVersion" in ask(source, {"nccl.h": header, "inner.h": "int inner(int *v);\n"}).text


def test_a_string_of_source_has_offsets_of_its_own(ask: Ask) -> None:
    source = 'const char *k = R"(\n#define DECLARE(n) static int n(int);\nextern "C" __global__ void k() { cudaFree(0); }\n)";\n'
    assert ask(source).text == source.replace("cudaFree", "musaFree")


# --- constants ------------------------------------------------------------------------------------------------------

SAYS_NOTHING = {
    "array of an unknown type": "__global__ void k() { __shared__ Unknown a[100000]; }",
    "class with a member of an unknown type": "struct S { Unknown u; };\n__global__ void k() { __shared__ S a[100000]; }",
    "size that rests on a template parameter": "template <int N> __global__ void k() { __shared__ int a[N * 10000]; }",
    "block that rests on a variable": "void f(int n) { k<<<1, n>>>(); }",
    "warp as wide as the hardware's": "__global__ void k(int *p) { const int w = warpSize; int lane = threadIdx.x % w;"
    " p[lane] = __shfl_up_sync(~0u, p[0], 1); }",
    "constant made of warpSize": "constexpr int half() { return warpSize / 2; }\n"
    "__global__ void k(int *p) { p[threadIdx.x % (half() * 2)] = __shfl_up_sync(~0u, p[0], 1); }",
}  # fmt: skip


@pytest.mark.parametrize("source", SAYS_NOTHING.values(), ids=SAYS_NOTHING.keys())
def test_what_has_no_value_is_no_finding(ask: Ask, source: str) -> None:
    assert ask(source).ids == []


@pytest.mark.parametrize("source", SAYS_NOTHING.values(), ids=SAYS_NOTHING.keys())
def test_what_has_no_value_is_no_finding_with_cudas_headers(ask: Ask, complete: SemanticRun, source: str) -> None:
    assert ask(source, semantic=complete).ids == []


VALUES = {
    "constexpr function": ("MUS222", "constexpr int n(int x) { return x * 2; }\n__global__ void k();\nvoid f() { k<<<1, n(1024)>>>(); }"),
    "constant of a template": (
        "MUS222", "template <int N> struct T { enum { n = N * 2 }; };\n__global__ void k();\nvoid f() { k<<<1, dim3(T<16>::n, 64)>>>(); }"),
    "variable of type dim3": (
        "MUS222", "template <int N> struct T { enum { n = N }; };\nvoid f() { dim3 b(T<64>::n, 64); k<<<1, b>>>(); }"),
    "size of a class with a base": (
        "MUS220", "struct A { double x[4]; };\nstruct B : A { int y; };\n__global__ void k() { __shared__ B b[1000]; }"),
    "dynamic shared memory": (
        "MUS223", "constexpr int n() { return 1 << 20; }\n__global__ void k();\nvoid f() { k<<<1, 1, n()>>>(); }"),
    "constant memory": (
        "MUS221", "template <class T> struct V { T x[4]; };\n__constant__ V<double> table[1024];"),
    "width of a shuffle": (
        "MUS214", "constexpr int n() { return 24; }\n__global__ void k(int *p) { *p = __shfl_sync(~0u, *p, 0, n()); }"),
    "warp constant of a template": (
        "MUS210", "template <class T> struct W { enum { n = 32 }; };\n__global__ void k(int *p) {"
        " int lane = threadIdx.x % W<int>::n; p[lane] = __shfl_up_sync(~0u, p[0], 1); }"),
}  # fmt: skip


@pytest.mark.parametrize(("identifier", "source"), VALUES.values(), ids=VALUES.keys())
def test_values_that_a_compiler_works_out(ask: Ask, convert: Convert, identifier: str, source: str) -> None:
    assert identifier not in convert(source).ids, "tokens alone tell: no case for libclang"
    assert identifier in ask(source).ids


def test_a_macro_has_the_value_of_the_configuration_that_is_compiled(ask: Ask, convert: Convert) -> None:
    source = (
        "#ifdef SMALL\n#define N 64\n#else\n#define N 2048\n#endif\n__global__ void k();\nvoid f() { k<<<1, N>>>(); }\n"
    )
    assert convert(source).ids == [] and ask(source).ids == ["MUS222"]


# --- the fixture, through the entry point ----------------------------------------------------------------------------


def _commands(folder: Path, tmp_path: Path, sources: Sequence[str], *words: str) -> Path:
    entries = [
        {"directory": str(folder), "file": name, "command": " ".join(["nvcc", *words, "-c", name])} for name in sources
    ]
    path = tmp_path / "compile_commands.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def _converted(tmp_path: Path, *options: object) -> tuple[dict[str, bytes], list[list[object]]]:
    report = tmp_path / "report.json"
    done = musify("convert", FIXTURES / "src", "-o", tmp_path / "out", "--report", f"json:{report}", "-q", *options)
    assert done.code == 0 and done.err == ""
    files = json.loads(report.read_text(encoding="utf-8"))["files"]
    found = [
        [Path(file["path"]).name, item["line"], item["id"], item["name"]] for file in files for item in file["findings"]
    ]
    return contents(tmp_path / "out"), found


def test_fixture_by_default(tmp_path: Path) -> None:
    expected = json.loads((FIXTURES / "findings.json").read_text(encoding="utf-8"))["default"]
    assert _converted(tmp_path) == (contents(FIXTURES / "default"), expected)


@pytest.mark.parametrize("complete", [False, True], ids=["without headers", "with CUDA's headers"])
def test_fixture_with_libclang(tmp_path: Path, complete: bool) -> None:
    expected = json.loads((FIXTURES / "findings.json").read_text(encoding="utf-8"))["semantic"]
    commands = _commands(FIXTURES, tmp_path, ["src/names.cu", "src/constants.cu"], "-Iinclude")
    include = ["--cuda-include", cuda_headers()] if complete else []
    made = _converted(tmp_path, "--semantic", "--compile-commands", commands, *include)
    assert made == (contents(FIXTURES / "semantic"), expected)


def test_in_place_gives_what_a_folder_does(tmp_path: Path) -> None:
    """`a.cuh`, which declares what `b.cu` uses, is converted first."""
    header = "#define DECLARE(n) static int n(int x) { return x; }\nDECLARE(cudaMemAdvise)\ncudaStream_t stream;\n"
    tree = write(
        tmp_path / "in", {"a.cuh": header, "b.cu": '#include "a.cuh"\nint f() { return cudaMemAdvise(cudaSuccess); }\n'}
    )
    musify("convert", tree, "-o", tmp_path / "out", "--semantic")
    musify("convert", tree, "-i", "--semantic", "-j", "2")
    assert contents(tree) == contents(tmp_path / "out")
    assert contents(tree)["b.mu"] == b'#include "a.muh"\nint f() { return cudaMemAdvise(musaSuccess); }\n'


def test_a_header_is_seen_as_the_source_that_includes_it(tmp_path: Path) -> None:
    """`list.h` makes sense only after `declare.h`."""
    files = {
        "declare.h": "#define DECLARE(n) static int n(int x) { return x; }\n",
        "list.h": "DECLARE(cudaMemAdvise)\nstatic int g() { return cudaMemAdvise(1); }\n",
        "a.cu": '#include "declare.h"\n#include "list.h"\nint f() { return cudaMemAdvise(cudaSuccess); }\n',
    }
    tree = write(tmp_path / "in", files)
    musify("convert", tree, "-o", tmp_path / "out", "--semantic")
    made = contents(tmp_path / "out")
    assert made["list.h"].decode() == files["list.h"]
    assert made["a.mu"].decode() == files["a.cu"].replace("cudaSuccess", "musaSuccess")


def test_stdin(tmp_path: Path) -> None:
    source = b"#define DECLARE(n) static int n(int x) { return x; }\nDECLARE(cudaMemAdvise)\n"
    assert musify("convert", "-", "--semantic", stdin=source, cwd=tmp_path).out.encode() == source


def test_settings_of_the_configuration(tmp_path: Path) -> None:
    header = {"inc/own.h": "struct P {};\nint cudaMemAdvise(const P &);\n"}
    tree = write(tmp_path, {"in/a.cu": "#include <own.h>\nint f(P p) { return cudaMemAdvise(p); }\n", **header})
    _commands(tmp_path, tmp_path, ["in/a.cu"], "-I", "inc")
    write(tmp_path, {"musify.toml": 'semantic = true\ncompile-commands = "compile_commands.json"\n'})
    assert "edits" not in musify("check", tree / "in" / "a.cu", "--keep-names").out


# --- CUDA's headers --------------------------------------------------------------------------------------------------


def test_overloads_are_told_apart_with_cudas_headers(ask: Ask, complete: SemanticRun) -> None:
    source = "struct B {};\nnamespace m { void cudaFree(B *b); }\nusing namespace m;\nvoid f(B *b, void *p) { cudaFree(b); cudaFree(p); }\n"
    assert ask(source, semantic=complete).text == source.replace("cudaFree(p)", "musaFree(p)")


def test_the_tile_of_a_cooperative_group_has_a_value_with_cudas_headers(ask: Ask, complete: SemanticRun) -> None:
    source = (
        "#include <cooperative_groups.h>\nconstexpr int n() { return 64; }\n"
        "__device__ void f(cooperative_groups::thread_block b) { auto t = cooperative_groups::tiled_partition<n()>(b); }\n"
    )
    assert "MUS217" in ask(source, semantic=complete).ids


def test_what_is_exported_again_is_the_api(ask: Ask, complete: SemanticRun) -> None:
    source = "namespace inner { using namespace ::std; using ::cudaFree; }\nnamespace outer = inner;\nvoid f(void *p) { outer::cudaFree(p); }\n"
    assert ask(source, semantic=complete).text == source.replace("cudaFree", "musaFree")


@pytest.mark.parametrize("source", STILL_THE_API.values(), ids=STILL_THE_API.keys())
def test_what_may_be_the_api_is_renamed_with_cudas_headers(
    ask: Ask, complete: SemanticRun, convert: Convert, source: str
) -> None:
    assert ask(source, semantic=complete).text == convert(source).text


def test_a_precompiled_header_changes_no_answer(ask: Ask, rules: RuleBook) -> None:
    semantic = run.prepare(None, [cuda_headers()], rules.all_headers())
    assert semantic.precompiled is not None
    source = (
        "struct B {};\nnamespace m { void cudaFree(B *b); }\nusing namespace m;\n__global__ void k();\n"
        "constexpr int n() { return 2048; }\nvoid f(B *b, void *p) { cudaFree(b); ::cudaFree(p); k<<<1, n()>>>(); }\n"
    )
    made = [ask(source, semantic=semantic) for _ in range(4)]
    assert "-include-pch" in semantic.precompiled.arguments([])
    assert "-include-pch" not in semantic.precompiled.arguments(["-std=c++20"])
    assert {item.text for item in made} == {source.replace("::cudaFree", "::musaFree")}
    assert {tuple(item.ids) for item in made} == {("MUS117", "MUS117", "MUS222")}


# --- failures ---------------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[tuple[object, ...], str]] = {
    "commands alone": (("--compile-commands", "x.json"), "--compile-commands needs --semantic"),
    "headers alone": (("--cuda-include", "x"), "--cuda-include needs --semantic"),
    "no such file": (("--semantic", "--compile-commands", "x.json"), "x.json: cannot be read: No such file"),
    "no JSON": (("--semantic", "--compile-commands", "bad.json"), "bad.json:2: not JSON"),
    "another JSON": (("--semantic", "--compile-commands", "other.json"), "other.json: not a compilation database"),
    "no such folder": (("--semantic", "--cuda-include", "x"), "x: no such folder; --cuda-include takes"),
    "not CUDA's": (("--semantic", "--cuda-include", "."), ".: holds no cuda_runtime.h"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_options_are_one_line(tmp_path: Path, options: tuple[object, ...], message: str) -> None:
    write(tmp_path, {"a.cu": "int a;\n", "bad.json": "[\n,]", "other.json": '{"a": 1}'})
    done = musify("check", "a.cu", *options, cwd=tmp_path)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1


def _without_libclang(tmp_path: Path, *options: str) -> Run:
    write(tmp_path, {"a.cu": "cudaStream_t s;\n", "path/clang/__init__.py": "raise ImportError\n"})
    search = f"{tmp_path / 'path'}{':' if sys.platform != 'win32' else ';'}{ROOT}"
    return musify("convert", tmp_path / "a.cu", *options, PYTHONPATH=search)


def test_without_libclang_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    done = _without_libclang(tmp_path, "--semantic")
    assert done.code == 2 and "pip install 'cuda-musify[semantic]'" in done.err and done.err.count("\n") == 1


def test_without_the_option_libclang_is_not_needed(tmp_path: Path) -> None:
    assert "+musaStream_t s;" in _without_libclang(tmp_path).out


@pytest.mark.skipif(sys.platform == "win32", reason="the fault is put into forked processes")
@pytest.mark.parametrize(
    ("fault", "reason"),
    [("raise(OSError('no memory'))", "no memory"), ("os.abort()", "brought down the process")],
    ids=["an error", "a crash"],
)
def test_where_libclang_fails_the_file_is_converted_without(tmp_path: Path, fault: str, reason: str) -> None:
    tree = write(tmp_path / "in", {"a.cu": "cudaStream_t s;\n", "b.cu": "cudaEvent_t e;\n"})
    code = (
        "import os\ndef fail(*_, **__):\n    "
        + fault.replace("raise(", "raise (")
        + "\nfrom musify.clang import run\nrun.parse = fail\nfrom musify.cli import main\nmain()\n"
    )
    script = write(tmp_path, {"faulty.py": code}) / "faulty.py"
    done = _python(script, "convert", tree, "-o", tmp_path / "out", "--semantic", "--report", "text")
    assert done.code == 0 and done.out.count("MUS908") == 2 and reason in done.out
    assert contents(tmp_path / "out") == {"a.mu": b"musaStream_t s;\n", "b.mu": b"musaEvent_t e;\n"}


def _python(script: Path, *arguments: object) -> Run:
    import os
    import subprocess

    command = [sys.executable, str(script), *(str(item) for item in arguments)]
    return Run(subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False))


def test_the_summary_says_how_many_questions_were_answered(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "src", tmp_path / "src")
    done = musify("check", tmp_path / "src", "--semantic", "--report", f"json:{tmp_path / 'r.json'}")
    sums = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["summary"]["semantic"]
    assert 0 < sums["answered"] < sums["asked"]
    assert f"libclang answered {sums['answered']} of {sums['asked']} questions" in done.err
