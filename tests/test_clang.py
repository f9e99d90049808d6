"""libclang: what it says when it is missing, and what it reads out of headers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from musify.clang import flags
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
