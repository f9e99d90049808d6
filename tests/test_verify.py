"""`musify verify`: what it lets pass, what it finds, and what it blames on whom, without any CUDA installed."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.commands import HEAT, ROOT, Run, musify, write
from tests.small_cuda import preprocessor, toolkit

pytestmark = pytest.mark.usefixtures("own_state")

SOURCE = "#include <cuda_runtime.h>\nvoid f(void* p) {\n  cudaFree(p);\n}\n"


ASSEMBLY = '__device__ int f() { int x; asm("mov.u32 %0, %%laneid;" : "=r"(x)); return x; }\n'


def convert(tree: Path, *options: object) -> Path:
    """Convert a tree beside itself."""
    output = tree.with_name(tree.name + "-converted")
    assert musify("convert", tree, "-o", output, "-q", *options).code == 0
    return output


def verify(tree: Path, *options: object) -> Run:
    return musify("verify", tree, tree.with_name(tree.name + "-converted"), *options)


def ids(done: Run) -> list[str]:
    return [line.rpartition("[")[2].rstrip("]") for line in done.out.splitlines() if line.endswith("]")]


# --- recorded edits -------------------------------------------------------------------------------------------------

# Each in a folder of its own.
NOTHING_FOUND: dict[str, dict[str, str | bytes]] = {
    "a rename": {"a.cu": SOURCE},
    "no CUDA at all": {"a.cpp": "int a;\n", "notes.txt": "a.cu\n"},
    "a mark at the beginning, CRLF, no last newline": {"a.cu": "\ufeffcudaStream_t s;\r\ncudaEvent_t e;"},
    "characters of other encodings": {"a.cu": b"/* \xb0\xa1 */ cudaStream_t s; /* \xe6\x98\xbe */ cudaEvent_t e;\n"},
    "UTF-16": {"a.cu": "\ufeffcudaStream_t s; /* 显存 */ cudaEvent_t e;\n".encode("utf-16-le")},
    "two headers that became one": {"a.cpp": "#include <cublas_v2.h>\n#include <cublas_api.h>\ncublasHandle_t h;\n"},
    "inline assembly": {"a.cu": ASSEMBLY},
    "a binary file": {"a.cu": b"a\0b"},
    "build files": {"a.cu": SOURCE, "CMakeLists.txt": "add_executable(x a.cu)\n", "Makefile": "x: a.cu\n\tnvcc a.cu\n"},
}
WITH_OPTIONS: dict[str, tuple[dict[str, str | bytes], tuple[str, ...]]] = {
    "names kept": ({"a.cu": SOURCE, "b.cuh": "int b;\n"}, ("--keep-names",)),
    "a file left out": ({"a.cu": SOURCE, "b.cu": SOURCE}, ("--exclude", "b.cu")),
    "annotations": ({"a.cu": "\ufeffcudaNope_t a;\nvoid f() {\n  cudaNope(1);\n}\n"}, ("--annotate",)),
}


def in_folders(cases: Mapping[str, Mapping[str, str | bytes]]) -> dict[str, str | bytes]:
    """The files of many cases in one tree."""
    return {f"{folder(name)}/{path}": text for name, files in cases.items() for path, text in files.items()}


def folder(name: str) -> str:
    return re.sub(r"\W+", "_", name)


def of_case(content: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The files of one case in what --json wrote."""
    return [file for file in content["files"] if f"/{folder(name)}/" in file["path"]]


@pytest.mark.parametrize("reported", [False, True], ids=["made again", "from the report"])
def test_nothing_but_the_conversion(tmp_path: Path, reported: bool) -> None:
    tree = write(tmp_path / "in", in_folders(NOTHING_FOUND))
    convert(tree, "--report", f"json:{tmp_path / 'r.json'}")
    done = verify(tree, *(("--report", tmp_path / "r.json") if reported else ()))
    assert (done.code, done.out) == (0, "") and "0 " in done.err


@pytest.mark.parametrize(("files", "options"), WITH_OPTIONS.values(), ids=WITH_OPTIONS.keys())
def test_nothing_but_a_conversion_with_options(
    tmp_path: Path, files: dict[str, str | bytes], options: tuple[str, ...]
) -> None:
    tree = write(tmp_path / "in", files)
    convert(tree, *options)
    done = verify(tree, *options)
    assert (done.code, done.out) == (0, "")
    assert verify(tree).code == 1


def test_a_report_made_from_another_folder(tmp_path: Path) -> None:
    write(tmp_path / "x" / "in", {"src/a.cu": SOURCE, "a.cu": SOURCE})
    assert musify("convert", "in", "-o", "out", "--report", "json:r.json", "-q", cwd=tmp_path / "x").code == 0
    done = musify("verify", "x/in", "x/out", "--report", "x/r.json", cwd=tmp_path)
    assert done.code == 0 and "2 " in done.err


def test_single_files(tmp_path: Path) -> None:
    source = write(tmp_path, {"a.cu": SOURCE}) / "a.cu"
    (tmp_path / "a.mu").write_text(musify("convert", "-", stdin=SOURCE.encode()).out, encoding="utf-8")
    assert musify("verify", source, tmp_path / "a.mu").code == 0
    (tmp_path / "a.mu").write_text(SOURCE, encoding="utf-8")
    assert ids(musify("verify", source, tmp_path / "a.mu")) == ["MUS951", "MUS951"]


def test_hand_edits_have_both_lines(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": "#include <cublas_v2.h>\n#include <cublas_api.h>\n" + SOURCE})
    output = convert(tree) / "a.mu"
    text = output.read_text(encoding="utf-8")
    assert text.splitlines()[3] == "  musaFree(p);"  # a line is gone
    output.write_text(text.replace("  musaFree(p);", "  musaFree(p);  // mine\n  more();"), encoding="utf-8")
    done = verify(tree)
    assert done.code == 1 and ids(done) == ["MUS951"]
    assert f"{tree}/a.cu:5:" in done.out and f"{output}:4-5:" in done.out


FOUND = {
    "a missing file": ("a.mu", None, "MUS950"),
    "a copied file that changed": ("notes.txt", "other\n", "MUS957"),
    "a binary file that changed": ("data.cu", "other\n", "MUS957"),
    "a source without any edit that changed": ("plain.h", "int b;\n", "MUS951"),
}


@pytest.mark.parametrize(("name", "content", "expected"), FOUND.values(), ids=FOUND.keys())
def test_what_is_not_the_conversion(tmp_path: Path, name: str, content: str | None, expected: str) -> None:
    files: dict[str, str | bytes] = {
        "a.cu": SOURCE,
        "notes.txt": "cudaFree\n",
        "plain.h": "int a;\n",
        "data.cu": b"a\0b",
    }
    tree = write(tmp_path / "in", files)
    output = convert(tree)
    if content is None:
        (output / name).unlink()
    else:
        (output / name).write_text(content, encoding="utf-8")
    done = verify(tree)
    assert done.code == 1 and ids(done) == [expected]


def test_a_report_of_another_version(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": SOURCE})
    convert(tree, "--report", f"json:{tmp_path / 'r.json'}")
    (tree / "a.cu").write_text("\n" + SOURCE, encoding="utf-8")
    done = verify(tree, "--report", tmp_path / "r.json")
    assert done.code == 1 and ids(done) == ["MUS952"] and "line 1" in done.out


ERRORS = {
    "no converted tree": (("verify", HEAT), "ORIGINAL and CONVERTED are needed"),
    "converted tree missing": (("verify", HEAT, "no/such"), "no/such: no such file or folder"),
    "original missing": (("verify", "no/such", HEAT), "no/such: no such file or folder"),
    "a file and a folder": (("verify", HEAT, ROOT / "README.md"), "two files, or two folders"),
    "no report": (("verify", HEAT, HEAT, "--report", "no.json"), "no.json: cannot read the report"),
    "another JSON file": (("verify", HEAT, HEAT, "--report", ROOT / "docs" / "report.schema.json"), "not a JSON report"),
    "no compile commands": (("verify", HEAT, HEAT, "-p", "no.json"), "no.json: cannot be read"),
    "other compile commands": (("verify", HEAT, HEAT, "-p", ROOT / "pyproject.toml"), "pyproject.toml:1: not JSON"),
    "no compiler": (("verify", HEAT, HEAT, "--depth", "preprocess", "--compiler", "no-such"), "no-such: no such compiler"),
    "nothing to preprocess": (("verify", HEAT, HEAT, "--only", "*.f90"), "--only *.f90: no file of the original matches"),
    "unknown depth": (("verify", HEAT, HEAT, "--depth", "deep"), "'deep' is not one of"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_errors_are_one_clear_line(tmp_path: Path, arguments: tuple[object, ...], message: str) -> None:
    done = musify(*arguments, cwd=tmp_path)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1 and list(tmp_path.iterdir()) == []


def test_a_report_of_other_files(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"b.cu": SOURCE})
    convert(tree)
    musify("convert", write(tmp_path / "other", {"c.cu": SOURCE}), "--report", f"json:{tmp_path / 'r.json'}", "-q")
    done = verify(tree, "--report", tmp_path / "r.json")
    assert done.code == 2 and "reports none of the files" in done.err


# --- preprocessed tokens, with g++ and a toolkit of a few lines -------------------------------------------------------


@pytest.fixture(scope="module")
def gcc(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """Options for g++ as the preprocessor."""
    folder = toolkit(tmp_path_factory.mktemp("cuda"))
    return ["--depth", "preprocess", "--compiler", preprocessor(), "--cuda-include", folder]


EQUAL: dict[str, dict[str, str | bytes]] = {
    "renames": {"a.cu": SOURCE},
    "a header that follows": {"a.cu": '#include "b.cuh"\nvoid g() { f(nullptr); }\n', "b.cuh": SOURCE},
    "text made of names and places": {
        "a.cu": SOURCE + '#define S(x) #x\n#include <cublas_v2.h>\n#include <cublas_api.h>\nconst char* s = S(cudaFree) __FILE__ __DATE__;\nint l = __LINE__;\n'
    },
    "a guard of a toolkit's header": {
        "a.cpp": "#include <cuda_runtime.h>\n#ifdef CUBLAS_API_H_\nint a;\n#endif\n#include <cublas_v2.h>\n#ifdef CUBLAS_API_H_\nint b;\n#endif\n"
    },
    "one header or another": {"a.cpp": "#include <cublas.h>\nint a = cublasInit();\n", "b.cpp": "#include <cublas_v2.h>\nint a = cublasCreate(0);\n"},
    "two names that share one": {"a.cu": "#include <cuda_fp16.h>\nnv_half a;\n__half b;\n"},
    "macros for headers": {"a.cu": "#define __CUDA_NO_HALF_OPERATORS__\n#include <cuda_fp16.h>\n__half h;\n"},
    "qualified names": {"a.cu": "#include <cuda/std/atomic>\n#include <mma.h>\ncuda::std::atomic a; nvcuda::wmma::fragment f;\n"},
    "a fallback": {"a.cu": SOURCE + "#ifndef cudaStreamNonBlocking\n#define cudaStreamNonBlocking 7\n#endif\nint f = cudaStreamNonBlocking;\n"},
    "the compiler's macros": {"a.cu": "#ifdef __CUDACC__\nint a;\n#endif\n#ifdef __CUDA_ARCH__\nint b;\n#else\nint c;\n#endif\n"},
    "versions": {"a.cu": SOURCE + "#if CUDART_VERSION >= 12000\nint a;\n#endif\n"},
    "the project's own names": {"a.cu": SOURCE + "struct P { void cudaMalloc(int); };\nvoid g(P p) { p.cudaMalloc(1); }\n"},
}  # fmt: skip


@pytest.fixture(scope="module")
def equal(tmp_path_factory: pytest.TempPathFactory, gcc: list[object]) -> dict[str, Any]:
    return verified(tmp_path_factory.mktemp("equal") / "in", EQUAL, *gcc)


def verified(tree: Path, cases: Mapping[str, Mapping[str, str | bytes]], *options: object) -> dict[str, Any]:
    """What --json says of many cases, converted and verified in one tree."""
    write(tree, in_folders(cases))
    convert(tree)
    content: dict[str, Any] = json.loads(verify(tree, *options, "--json", "-").out)
    return content


@pytest.mark.parametrize("name", EQUAL)
def test_equal_tokens(equal: dict[str, Any], name: str) -> None:
    files = of_case(equal, name)
    assert [file["findings"] for file in files] == [[]] * len(EQUAL[name])
    assert {file["checks"]["preprocess"] for file in files} == {"passed"}


def test_names_of_musa_that_were_there_before_stay(tmp_path: Path, gcc: list[object]) -> None:
    """The shim would make them CUDA's in the converted file, where the conversion did not write them."""
    tests = "#if defined(MUSART_VERSION) || defined(musaStream_t)\nint a;\n#endif\n"
    tree = write(tmp_path / "in", {"a.cu": SOURCE + tests + "int musa = musaEventDefault;\n"})
    convert(tree)
    done = verify(tree, *gcc, "-v")
    assert (done.code, done.out) == (0, "")


EXPLAINED = {
    "on the host alone": (
        '#ifndef __CUDA_ARCH__\n#if __CUDA_ARCH__ < 1\n#endif\n#include <dlfcn.h>\nvoid* h = dlopen("libcudart.so", 1);\n#endif\n',
        "library-file at {}/a.cu:5",
    ),
    "a threshold": ("#if __CUDA_ARCH__ >= 860\nint a;\n#endif\n", "architecture-threshold at {}/a.cu:1"),
    "a value of the architecture": ("int a = __CUDA_ARCH__;\n", "api-name at {}/a.cu:1"),
    "inline assembly": (ASSEMBLY, "inline-ptx at {}/a.cu:1"),
    "a library file": ('#include <dlfcn.h>\nvoid* h = dlopen("libcudart.so", 1);\n', "library-file at {}/a.cu:2"),
}


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory, gcc: list[object]) -> dict[str, Any]:
    cases = {name: {"a.cu": source, "b.cu": SOURCE} for name, (source, _) in EXPLAINED.items()}
    return verified(tmp_path_factory.mktemp("explained") / "in", cases, *gcc)


@pytest.mark.parametrize("name", EXPLAINED)
def test_differences_that_edits_explain(explained: dict[str, Any], name: str) -> None:
    changed, other = of_case(explained, name)
    assert changed["checks"]["preprocess"] == "explained" and other["checks"]["preprocess"] == "passed"
    assert [(item["id"], item["severity"]) for item in changed["findings"]] == [("MUS954", "note")]
    assert EXPLAINED[name][1].format(folder(name)) in changed["findings"][0]["message"] and not other["findings"]


def test_explained_differences_are_told_when_asked_for(tmp_path: Path, gcc: list[object]) -> None:
    tree = write(tmp_path / "in", {"a.cu": EXPLAINED["a threshold"][0]})
    convert(tree)
    quiet, told = verify(tree, *gcc), verify(tree, *gcc, "-v")
    assert (quiet.code, quiet.out) == (0, "") and told.code == 0 and ids(told) == ["MUS954"]


def test_a_header_is_blamed_at_its_own_line(tmp_path: Path, gcc: list[object]) -> None:
    tree = write(
        tmp_path / "in", {"a.cu": '#include "b.cuh"\nint b;\n', "b.cuh": "\n#if __CUDA_ARCH__ >= 860\nint a;\n#endif\n"}
    )
    convert(tree)
    done = verify(tree, *gcc, "-v", "--only", "a.cu")
    assert "b.cuh:3" in done.out and "b.muh:3" in done.out and "architecture-threshold at b.cuh:2" in done.out


def test_a_header_beside_the_folder_is_blamed(tmp_path: Path, gcc: list[object]) -> None:
    tree = write(tmp_path / "in", {"src/a.cu": '#include "../b.cuh"\nint b;\n', "b.cuh": ASSEMBLY})
    convert(tree)
    done = verify(tree, *gcc, "-v", "--only", "a.cu")
    assert done.code == 0 and set(ids(done)) == {"MUS954"} and "inline-ptx at b.cuh:1" in done.out


def test_edits_by_hand_explain_too_and_stay_found(tmp_path: Path, gcc: list[object]) -> None:
    tree = write(tmp_path / "in", {"a.cu": SOURCE})
    path = convert(tree) / "a.mu"
    path.write_text(path.read_text(encoding="utf-8").replace("musaFree(p)", "free(p)"), encoding="utf-8")
    done = verify(tree, *gcc, "-v")
    assert done.code == 1 and ids(done) == ["MUS951", "MUS954"] and "edits by hand in a.cu" in done.out


def test_files_added_by_hand_are_seen(tmp_path: Path, gcc: list[object]) -> None:
    tree = write(tmp_path / "in", {"src/a.cu": '#include "../b.cuh"\n#include "cuda_runtime.h"\n', "b.cuh": ASSEMBLY})
    output = convert(tree)
    write(output, {"mine/more.h": "#include <musa_runtime.h>\n", "src/own.h": '#include "../mine/more.h"\n'})
    path = output / "src" / "a.mu"
    path.write_text(path.read_text(encoding="utf-8") + '#include "own.h"\n', encoding="utf-8")
    done = verify(tree, *gcc, "-v", "--only", "a.cu")
    assert set(ids(done)) == {"MUS951", "MUS954"} and "inline-ptx at b.cuh:1" in done.out


def test_a_wrong_rename_is_found(tmp_path: Path, gcc: list[object]) -> None:
    """The rules that the conversion used and those of the proof disagree: to the proof that is a name it cannot undo."""
    write(tmp_path, {"mine.toml": '[rename]\ncudaFree = "poolFree"\n'})
    tree = write(tmp_path / "in", {"a.cu": SOURCE})
    convert(tree, "--rules", tmp_path / "mine.toml", "--report", f"json:{tmp_path / 'r.json'}")
    done = verify(tree, *gcc, "--report", tmp_path / "r.json")
    assert done.code == 1 and ids(done) == ["MUS953"]
    assert f"{tree}/a.cu:3: error: a.cu:3: `cudaFree" in done.out and "`poolFree" in done.out and "a.mu:3" in done.out


def test_a_header_that_got_lost_is_found(tmp_path: Path, gcc: list[object]) -> None:
    rule = '[[headers]]\nevidence = "code"\n[headers.map]\n"cuda_runtime.h" = "nowhere.h"\n'
    write(tmp_path, {"mine.toml": rule})
    tree = write(tmp_path / "in", {"a.cu": SOURCE})
    convert(tree, "--rules", tmp_path / "mine.toml", "--report", f"json:{tmp_path / 'r.json'}")
    done = verify(tree, *gcc, "--report", tmp_path / "r.json")
    assert done.code == 1 and ids(done) == ["MUS955"] and "nowhere.h" in done.out


def test_what_does_not_preprocess_before_proves_nothing(tmp_path: Path, gcc: list[object]) -> None:
    tree = write(tmp_path / "in", {"a.cu": '#include "gone.h"\n' + SOURCE, "b.cu": '#include "gone.h"\n'})
    convert(tree)
    done = verify(tree, *gcc, "-v")
    assert ids(done) == ["MUS958", "MUS958"] and "2 x the original does not preprocess: gone.h" in done.err
    assert done.code == 1 and "preprocess: nothing was proved" in done.err
    write(tree, {"c.cu": SOURCE})
    convert(tree)
    assert verify(tree, *gcc).code == 0


def test_messages_in_chinese(tmp_path: Path, gcc: list[object]) -> None:
    tree = write(tmp_path / "in", {"a.cu": "int a = __CUDA_ARCH__;\n", "b.cu": '#include "gone.h"\n'})
    convert(tree)
    done = verify(tree, *gcc, "-v", "--lang", "zh")
    assert "设备代码" in done.out and "原文件无法预处理" in done.out and "预处理后的记号" in done.err


def test_include_folders_and_macros(tmp_path: Path, gcc: list[object]) -> None:
    files = {"a.cu": "#include <b.cuh>\n#ifdef WITH\nvoid g() { f(nullptr); }\n#endif\n", "include/b.cuh": SOURCE}
    tree = write(tmp_path / "in", files)
    convert(tree)
    assert ids(verify(tree, *gcc, "-v")) == ["MUS958"]
    done = verify(tree, *gcc, "-v", "-I", tree / "include", "-D", "WITH=1", "--flag=-std=c++17")
    assert (done.code, done.out) == (0, "")


def test_compile_commands(tmp_path: Path, gcc: list[object]) -> None:
    tree = write(
        tmp_path / "in",
        {
            "src/a.cu": "#include <b.cuh>\n#ifndef WITH\n#error no\n#endif\n",
            "src/c.cpp": "int c;\n",
            "include/b.cuh": SOURCE,
        },
    )
    convert(tree)
    command = "nvcc -forward-unknown-to-host-compiler -DWITH -I../include -isystem ../include --generate-code=arch=compute_86,code=[sm_86] -x cu -c ../src/a.cu -o a.o -MD -MF a.d"
    entries = [
        {"directory": str(tree / "build"), "file": "../src/a.cu", "command": command},
        {
            "directory": str(tree / "build"),
            "file": str(tree / "src/c.cpp"),
            "arguments": ["g++", "-c", str(tree / "src/c.cpp")],
        },
    ]
    (tree / "build").mkdir()
    database = write(tmp_path / "db", {"compile_commands.json": json.dumps(entries)})
    done = verify(tree, *gcc, "-v", "-p", database)
    assert (done.code, done.out) == (0, "")
    assert ids(verify(tree, *gcc, "-v")) == ["MUS958"]


def test_the_json_form(tmp_path: Path, gcc: list[object]) -> None:
    tree = write(tmp_path / "in", {"a.cu": "int a = __CUDA_ARCH__;\n", "b.cu": '#include "gone.h"\n', "c.txt": ""})
    convert(tree)
    done = verify(tree, *gcc, "--json", "-")
    content: dict[str, Any] = json.loads(done.out)
    jsonschema.validate(content, json.loads((ROOT / "docs" / "verify.schema.json").read_text(encoding="utf-8")))
    assert [file["checks"] for file in content["files"]] == [
        {"tokens": "passed", "preprocess": "explained"},
        {"tokens": "passed", "preprocess": "skipped"},
        {"tokens": "passed"},
    ]
    assert [item["id"] for file in content["files"] for item in file["findings"]] == ["MUS954", "MUS958"]


# --- compilers, played by a script ------------------------------------------------------------------------------------

# Refuses what a file in its own folder says, a pattern a line; prints the complaint in the form of nvcc or clang.
COMPILER = r"""#!/usr/bin/env python3
import re, sys
from pathlib import Path
here = Path(__file__).parent
source = Path(sys.argv[-1])
with (here / "calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\n")
if "-E" in sys.argv:
    print(f'# 1 "{source}"'); sys.exit(0)
form = "{}:{}:3: error: {} is wrong" if here.name == "bin" else "{}({}): error: {} is wrong"
for pattern in (here / "refused").read_text().split():
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if re.search(pattern, line):
            print(form.format(source, number, pattern), file=sys.stderr); sys.exit(1)
"""


def compiler(folder: Path, name: str, refused: str) -> Path:
    """A compiler that refuses files with lines that match one of the patterns."""
    write(folder, {name: COMPILER, "refused": refused})
    (folder / name).chmod(stat.S_IRWXU)
    return folder / name


TWO_HEADERS = "#include <cublas_v2.h>\n#include <cublas_api.h>\n"
COMPILED = {
    "compiles": (SOURCE, "nothing_like_it", [], "passed"),
    "never compiled": (SOURCE, "free|Free", ["MUS958"], "skipped"),
    "broken by the conversion": (TWO_HEADERS + SOURCE, "musaFree", ["MUS956"], "failed"),
    "broken by rewritten assembly": (ASSEMBLY, "__get_laneid", ["MUS959"], "explained"),
}


@pytest.mark.parametrize(("source", "refused", "expected", "status"), COMPILED.values(), ids=COMPILED.keys())
def test_compiled(tmp_path: Path, source: str, refused: str, expected: list[str], status: str) -> None:
    tree = write(tmp_path / "in", {"a.cu": source, "b.cuh": "int b;\n"})
    convert(tree)
    nvcc = compiler(tmp_path / "cuda", "nvcc", refused)
    done = verify(tree, "--depth", "compile", "--compiler", nvcc, "-v", "--json", tmp_path / "v.json")
    assert ids(done) == expected and done.code == (1 if status in ("failed", "skipped") else 0)
    content = json.loads((tmp_path / "v.json").read_text(encoding="utf-8"))
    assert content["files"][0]["checks"]["compile"] == status and "compile" not in content["files"][1]["checks"]


def test_an_error_is_mapped_back_to_the_original(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": TWO_HEADERS + SOURCE})
    output = convert(tree)
    nvcc = compiler(tmp_path / "cuda", "nvcc", "musaFree")
    done = verify(tree, "--depth", "compile", "--compiler", nvcc)
    assert f"{tree}/a.cu:5: error: a.cu:5:" in done.out and f"({output}/a.mu:4)" in done.out
    calls = (tmp_path / "cuda" / "calls").read_text(encoding="utf-8")
    assert "-x cu -arch=sm_80" in calls and "musify_shim.h" in calls


def test_mcc_of_an_installed_sdk(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": TWO_HEADERS + SOURCE, "c.cpp": "int c;\n"})
    convert(tree)
    mcc = compiler(tmp_path / "sdk" / "bin", "mcc", "musaFree")
    write(tmp_path / "sdk", {"include/musa_runtime.h": ""})
    nvcc = compiler(tmp_path / "cuda", "nvcc", "nothing_like_it")
    path = f"{nvcc.parent}{os.pathsep}{os.environ['PATH']}"
    options = ("--depth", "compile", "--arch", "mp_22")
    done = musify("verify", tree, tree.with_name("in-converted"), *options, MUSA_HOME=str(tmp_path / "sdk"), PATH=path)
    assert done.code == 1 and ids(done) == ["MUS956"] and f"{tree}/a.cu:5: error: a.cu:5:" in done.out
    calls = (mcc.parent / "calls").read_text(encoding="utf-8").splitlines()
    assert any("-x musa -mtgpu --offload-arch=mp_22" in call and "shim" not in call for call in calls)
    assert any("-x musa" not in call and call.endswith("c.cpp") for call in calls)


def test_no_mcc(tmp_path: Path) -> None:
    done = musify("verify", HEAT, HEAT, "--depth", "compile", "--compiler", "mcc", MUSA_HOME=str(tmp_path))
    assert done.code == 2 and "MUSA_HOME" in done.err
