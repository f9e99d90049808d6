"""libclang: what it says when it is missing, and what it reads out of headers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from musify.clang import flags
from musify.clang.database import Database
from musify.clang.library import load
from musify.clang.parsing import complaints, parse
from musify.clang.public import PublicDeclaration, public_declarations
from tests.commands import ROOT, write
from tests.toolkit import cuda_headers

_HEADER = """\
#include "other.h"
#define LIMIT (4 + \\
               4)
#define TWICE(x) ((x) * 2)
typedef enum status_enum { OK = 0, BAD = 7 } status_t;
enum class Mode { fast, exact };
struct handle_st;
typedef struct handle_st *handle_t;
extern "C" status_t createHandle(handle_t *handle, int flags = 0);
namespace lib { template <typename T> struct Box { void put(T value); int hidden; }; int count(); }
using lib::count;
inline int local_function() { int local_variable = 1; return local_variable; }
"""


def _list(tmp_path: Path) -> dict[str, PublicDeclaration]:
    write(tmp_path, {"in/api.h": _HEADER, "out/other.h": "int elsewhere(int);\n"})
    found, errors = public_declarations(["api.h"], flags.plain([tmp_path / "in", tmp_path / "out"]), [tmp_path / "in"])
    assert errors == []
    return {item.name: item for item in found}


def test_declarations_have_names_kinds_and_signatures(tmp_path: Path) -> None:
    found = {(item.name, item.kind, item.signature, item.line) for item in _list(tmp_path).values()}
    assert found == {
        ("LIMIT", "macro", "(4 + 4)", 2),
        ("TWICE", "macro-fn", "(x) ((x) * 2)", 4),
        ("status_enum", "enum", "", 5),
        ("OK", "enumerator", "0", 5),
        ("BAD", "enumerator", "7", 5),
        ("status_t", "typedef", "enum status_enum", 5),
        ("Mode", "enum", "", 6),
        ("Mode::fast", "enumerator", "0", 6),
        ("Mode::exact", "enumerator", "1", 6),
        ("handle_st", "struct", "", 7),
        ("handle_t", "typedef", "struct handle_st *", 8),
        ("createHandle", "function", "status_t (handle_t *, int)", 9),
        ("lib::Box", "struct", "", 10),
        ("lib::Box::put", "method", "void (T)", 10),
        ("lib::count", "function", "int ()", 10),
        ("count", "using", "", 11),
        ("local_function", "function", "int ()", 12),
    }


def test_a_header_that_is_missing_is_an_error_with_its_place(tmp_path: Path) -> None:
    found, errors = public_declarations(["absent.h"], flags.plain([tmp_path]), [tmp_path])
    assert found == []
    assert [(item.line, item.message) for item in errors] == [(1, "'absent.h' file not found")]


def test_cuda_headers_parse_without_an_error() -> None:
    include = cuda_headers()
    found, errors = public_declarations(["cuda_runtime.h"], flags.with_cuda([include]), [include])
    by_name = {item.name: item for item in found}
    assert errors == []
    assert by_name["cudaStreamCreate"][1:3] == ("function", "cudaError_t (cudaStream_t *)")
    assert by_name["cudaErrorInvalidValue"][1:3] == ("enumerator", "1")


def test_a_kernel_and_its_launch_parse_with_cuda_headers() -> None:
    source = b"__global__ void k(int *p) { *p = threadIdx.x; }\nvoid f(int *p) { k<<<1, 32>>>(p); cudaFree(p); }\n"
    assert complaints(parse("launch.cu", {"launch.cu": source}, flags.with_cuda([cuda_headers()]))) == []


def test_bytes_that_are_not_utf8_keep_their_offsets() -> None:
    parsed = parse("latin.cu", {"latin.cu": b"// caf\xe9\nint answer;\n"}, flags.header_less())
    assert [(item.spelling, item.location.offset) for item in parsed.cursor.get_children()][-1] == ("answer", 12)


def test_without_libclang_the_error_says_how_to_get_it() -> None:
    code = "import sys; sys.modules['clang'] = None\nfrom musify.clang.library import load\nload()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "musify.model.MusifyError: libclang is needed and not installed; "
        "install it with: pip install 'cuda-musify[semantic]'"
    )


def test_the_wheel_brings_its_own_headers() -> None:
    assert load().resources is not None


# --- compile_commands.json -------------------------------------------------------------------------------------------

COMMANDS = {
    "nvcc's short options": ("nvcc -Iinc -I /abs -DA=1 -UB -std=c++14 -O2 -c a.cu", "-I/w/inc -I/abs -DA=1 -UB -std=c++14"),
    "nvcc's long options": (
        "nvcc --include-path inc --define-macro A --undefine-macro=B --system-include=sys --std c++17 -c a.cu",
        "-I/w/inc -DA -UB -isystem/w/sys -std=c++17",
    ),
    "CMake's way for nvcc": (
        "nvcc -isystem=/sys -DX --options-file rsp -c a.cu",
        "-isystem/sys -DX -I/from/response -DFROM_RESPONSE",
    ),
    "what concerns code only": ("nvcc -gencode arch=compute_80,code=sm_80 --expt-relaxed-constexpr -Xcompiler -fPIC -c a.cu", ""),
    "a quoted definition": ("clang++ '-DNAME=\"x y\"' -iquote q -include pre.h -c a.cu", '-DNAME="x y" -iquote/w/q -includepre.h'),
}  # fmt: skip


@pytest.mark.parametrize(("command", "expected"), COMMANDS.values(), ids=COMMANDS.keys())
def test_options_of_a_command(tmp_path: Path, command: str, expected: str) -> None:
    write(tmp_path, {"rsp": "-I/from/response -DFROM_RESPONSE"})
    entry = {"directory": str(tmp_path), "file": "a.cu", "command": command}
    write(tmp_path, {"cc.json": json.dumps([entry])})
    arguments = "".join(
        f" {word}" if word.startswith("-") else word
        for word in Database(tmp_path / "cc.json").arguments(tmp_path / "a.cu")
    )
    assert arguments.strip() == expected.replace("/w/", f"{tmp_path}/")


def test_a_file_without_a_command_takes_that_of_its_nearest_neighbour(tmp_path: Path) -> None:
    entries = [
        {"directory": str(tmp_path), "file": name, "arguments": ["nvcc", f"-D{macro}", "-c", name]}
        for name, macro in (("x/a.cu", "FAR"), ("src/deep/b.cu", "NEAR"))
    ]
    write(tmp_path, {"cc.json": json.dumps(entries)})
    database = Database(tmp_path / "cc.json")
    assert database.arguments(tmp_path / "src" / "deep" / "c.cuh") == ["-D", "NEAR"]
    assert database.knows(tmp_path / "x" / "a.cu") and not database.knows(tmp_path / "src" / "deep" / "c.cuh")


def test_an_empty_database_gives_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"cc.json": "[]"})
    assert Database(tmp_path / "cc.json").arguments(tmp_path / "a.cu") == []


@pytest.mark.parametrize(("word", "expected"), [("-x cu", True), ("-x=cuda", True), ("-O2", False)])
def test_a_command_may_say_that_a_source_is_cuda(tmp_path: Path, word: str, expected: bool) -> None:
    entry = {"directory": str(tmp_path), "file": "a.cpp", "command": f"nvcc {word} -c a.cpp"}
    write(tmp_path, {"cc.json": json.dumps([entry])})
    assert Database(tmp_path / "cc.json").is_cuda(tmp_path / "a.cpp") is expected
