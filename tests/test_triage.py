"""`musify triage`: logs that say nothing, logs in each tool's form, the way back to the CUDA line, rules that are written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from musify.model import DEFAULT_TARGET
from musify.rules import book
from musify.rules.book import RuleBook
from musify.rules.shipped import shipped_tables
from musify.source.positions import LineMap, TextPosition
from musify.triage.causes import causes_of
from musify.triage.knowledge import Knowledge
from musify.triage.log import candidates, parse_log
from musify.triage.messages import CONSEQUENCE, TRUNCATED, meaning, patterns
from musify.triage.origins import Origins
from musify.triage.proposals import plain_name, steps_for
from tests.commands import Run, musify, write
from tests.mcc import complaints, extra_headers

pytestmark = pytest.mark.usefixtures("own_state")


def _triage(tmp_path: Path, log: str | bytes, *arguments: object) -> Run:
    write(tmp_path, {"build.log": log})
    return musify("triage", tmp_path / "build.log", *arguments, cwd=tmp_path)


def _causes(tmp_path: Path, log: str | bytes, *arguments: object) -> list[dict[str, Any]]:
    causes: list[dict[str, Any]] = json.loads(_triage(tmp_path, log, "--json", *arguments).out)["causes"]
    return causes


# --- nothing is said -------------------------------------------------------------------------------------------------

QUIET = {
    "an empty file": "",
    "no error": "mcc -x musa -c a.mu\n[100%] Built target heat\n",
    "warnings only": "a.mu:3:4: warning: unused variable 'x' [-Wunused-variable]\n  int x;\n      ^\n1 warning generated.\n",
    "a warning of nvcc": 'a.cu(3): warning #177-D: variable "x" was declared but never referenced\n',
    "a note on its own": "a.mu:3:4: note: candidate function not viable\n",
    "a warning with its note": "a.mu:3:4: warning: x\na.mu:1:1: note: 'musaFoo' declared here\n",
    "flags that speak of errors": "mcc -Werror -ferror-limit=0 -Wno-error=unused -c error.mu -o error.o\n",
    "source text with such words": '  printf("%s:%d: error: %s\\n", file, line, text);\n     |   fatal error handler\n',
    "errors that a program prints": "[test] 3 errors expected, 3 seen\nERRORS: 0\n",
    "what make says of itself": "make[1]: Entering directory '/b'\nmake[1]: Nothing to be done for 'all'.\nmake: 'heat' is up to date.\n",
    "what follows from other errors": "1 error generated.\ncollect2: error: ld returned 1 exit status\nmake: *** [Makefile:3: a.o] Error 1\n",
    "CMake at work": "-- Looking for error.h - not found\nCMake Warning at CMakeLists.txt:1:\n  old\n\n-- Configuring done\n",
}


@pytest.mark.parametrize("log", QUIET.values(), ids=QUIET.keys())
def test_no_error(tmp_path: Path, log: str) -> None:
    done = _triage(tmp_path, log, "--write-rules", "rules.toml")
    assert done.code == 0 and "no error" in done.out and not (tmp_path / "rules.toml").exists()


def test_binary_content_is_no_log(tmp_path: Path) -> None:
    done = _triage(tmp_path, bytes(range(256)))
    assert (done.code, done.out) == (2, "") and "build.log: is no build log: it holds NUL bytes" in done.err


def test_a_log_that_is_not_there(tmp_path: Path) -> None:
    done = musify("triage", "nowhere.log", cwd=tmp_path)
    assert done.code == 2 and "nowhere.log: cannot read the build log: No such file" in done.err


def test_another_projects_log_is_not_led_back(tmp_path: Path) -> None:
    write(tmp_path, {"mine/a.cu": "cudaStream_t s;\n"})
    log = "/home/x/theirs/src/b.cpp:7:3: error: use of undeclared identifier 'frobnicate'\n"
    (cause,) = _causes(tmp_path, log, "--original", "mine", "--write-rules", "rules.toml")
    assert [place["origin"] for place in cause["places"]] == [None]
    assert [step["id"] for step in cause["steps"]] == ["own-nowhere"] and not (tmp_path / "rules.toml").exists()


MISUSE = {
    "both ways back": (("--report", "r.json", "--original", "."), "--report and --original exclude each other"),
    "no such report": (("--report", "r.json"), "r.json: cannot read the report"),
    "a report that is none": (("--report", "build.log"), "build.log: no report of a conversion"),
    "another version's report": (("--report", "old.json"), "old.json: a report of another version"),
    "no such tree": (("--original", "nowhere"), "nowhere: no such file or folder"),
    "a rule file that is none": (("--write-rules", "bad.toml"), "bad.toml:1: not valid TOML"),
}


@pytest.mark.parametrize(("arguments", "message"), MISUSE.values(), ids=MISUSE.keys())
def test_misuse(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    write(tmp_path, {"bad.toml": "[[[", "old.json": '{"schema_version": "0", "files": []}'})
    done = _triage(tmp_path, "a.mu:1:1: error: unknown type name 'musaArray_t'\n", *arguments)
    assert done.code == 2 and message in done.err and (tmp_path / "bad.toml").read_text(encoding="utf-8") == "[[["


# --- each tool's form ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", patterns(), ids=[f"{number}-{item.kind}" for number, item in enumerate(patterns())])
def test_example_of_a_message(pattern: Any) -> None:
    (first, *_) = parse_log(pattern.example.encode(), "log").errors
    found = meaning(first)
    assert (found.kind, found.subject) == (pattern.kind, pattern.name)


def test_every_kind_is_explained() -> None:
    kinds, steps = shipped_tables("triage")["kinds.toml"], shipped_tables("triage")["steps.toml"]
    assert {item.kind for item in patterns()} - {CONSEQUENCE, TRUNCATED} <= set(kinds)
    assert {kind["step"] for kind in kinds.values()} <= set(steps)
    for text in (*kinds.values(), *steps.values()):
        english = text.get("text", text.get("title"))
        chinese = text.get("text_zh", text.get("title_zh"))
        assert re.search(r"[\u4e00-\u9fff]", chinese)
        fields = [set(re.findall(r"(?<!{){(\w+?)(?:_zh)?}", part)) for part in (english, chinese)]
        assert fields[0] == fields[1], english
    assert {step["sort"] for step in steps.values()} == {"overlay", "spelling", "source", "suppress", "build", "hand"}


def test_spellings_are_of_listed_names() -> None:
    rules = book.load()
    for entry in shipped_tables("triage")["spellings.toml"]["spelling"]:
        name = entry["cuda"].encode()
        assert rules.name(name) or rules.header(name), entry["cuda"]


PLACES = {
    "clang": ("src/a.mu:5:20: error: use of undeclared identifier 'musaFoo'", "src/a.mu", 5, 20),
    "gcc": ("src/a.cpp:5:20: error: ‘musaFoo’ was not declared in this scope", "src/a.cpp", 5, 20),
    "nvcc": ('src/a.cu(5): error: identifier "musaFoo" is undefined', "src/a.cu", 5, 0),
    "nvcc, with a number": ('src/a.cu(5): error #20: identifier "musaFoo" is undefined', "src/a.cu", 5, 0),
    "Visual C++": ("C:\\src\\a.cu(5,20): error C2065: 'musaFoo': undeclared identifier", "C:/src/a.cu", 5, 20),
    "clang on Windows": ("C:\\src\\a.mu:5:20: error: use of undeclared identifier 'musaFoo'", "C:/src/a.mu", 5, 20),
    "a path with blanks": ("my src/a.mu:5:20: error: use of undeclared identifier 'musaFoo'", "my src/a.mu", 5, 20),
    "colours": ("\x1b[1msrc/a.mu:5:20: \x1b[0m\x1b[0;1;31merror: \x1b[0m\x1b[1muse of undeclared identifier 'musaFoo'\x1b[0m",
                "src/a.mu", 5, 20),
    "gcc's colours and links": (
        "\x1b[01m\x1b[Ksrc/a.cpp:5:20:\x1b[m\x1b[K \x1b[01;31m\x1b[Kerror: \x1b[m\x1b[K‘\x1b[01m\x1b[KmusaFoo\x1b[m\x1b[K’ was not "
        "declared in this scope [\x1b]8;;https://gcc.gnu.org/x\x07-Wx\x1b]8;;\x07]", "src/a.cpp", 5, 20),
    "after a progress line": ("[1/9] Building a.o\r[2/9] Building b.o\rsrc/a.mu:5:20: error: use of undeclared identifier 'musaFoo'",
                              "src/a.mu", 5, 20),
    "another process in between": ("gmm.mu:223:18: error: main.muuse of undeclared identifier 'musaFoo':", "gmm.mu", 223, 18),
    "behind another process's text": ("  float f(src/a.mu:5:20: error: use of undeclared identifier 'musaFoo'", "src/a.mu", 5, 20),
    "what is left of a torn line": ("51:3: error: x {use of undeclared identifier 'musaFoo'; did you mean 'x'?", "", 3, 0),
    "CRLF": ("src/a.mu:5:20: error: use of undeclared identifier 'musaFoo'\r", "src/a.mu", 5, 20),
}  # fmt: skip


@pytest.mark.parametrize(("line", "path", "number", "column"), PLACES.values(), ids=PLACES.keys())
def test_places(line: str, path: str, number: int, column: int) -> None:
    (error,) = parse_log(
        f"In file included from x.mu:1:\n{line}\n  code;\n  ^\n1 error generated.\n".encode(), "log"
    ).errors[:1]
    assert (error.line, error.column) == (number, column)
    assert error.path == path or path in candidates(error.path, ())
    assert meaning(error).subject == "musaFoo"


def test_linkers_say_where_too() -> None:
    log = (
        "/usr/bin/ld: /tmp/cc.o: in function `main':\nl.cpp:(.text+0x14): undefined reference to `musaMalloc'\n"
        "/usr/bin/ld: src/l.cpp:7: undefined reference to `n::g(int)'\n"
        "ld.lld: error: undefined symbol: mublasCreate\n>>> referenced by m.cpp:2 (/b/m.cpp:2)\n"
    )
    found = [(meaning(item).subject, item.path, item.line) for item in parse_log(log.encode(), "log").errors]
    assert found == [("musaMalloc", "l.cpp", 0), ("n::g(int)", "src/l.cpp", 7), ("mublasCreate", "m.cpp", 2)]


def test_utf16_as_powershell_writes_it() -> None:
    log = "src/a.mu:5:20: error: use of undeclared identifier 'musaFoo'\r\n".encode("utf-16")
    assert parse_log(log, "log").errors[0].path == "src/a.mu"


def test_what_a_compiler_cut_off_is_said(tmp_path: Path) -> None:
    log = "a.mu:1:1: error: unknown type name 'Foo'\nfatal error: too many errors emitted, stopping now [-ferror-limit=]\n"
    assert "a compiler stopped before the end" in _triage(tmp_path, log).out


def test_plain_names() -> None:
    assert [plain_name(name) for name in ("f", "n::f(int)", "_Z3extv", "_ZN1n1fEi", "n::f<int>(int)")] == [
        "f", "f", "ext", "f", "f",
    ]  # fmt: skip


# --- grouping --------------------------------------------------------------------------------------------------------


def test_one_cause_once_the_most_errors_first() -> None:
    lines = [
        *(f"a.mu:{n}:3: error: no matching function for call to 'musaMemcpy2D'" for n in range(2)),
        *(f"b.mu:{n}:3: error: use of undeclared identifier 'musaFoo'" for n in range(5)),
        *("h.h:9:3: error: unknown type name 'musaFoo'" for _ in range(3)),
        "b.mu:1:9: error: expected ';' after expression",
    ]
    causes = causes_of(parse_log("\n".join(lines).encode(), "log"))
    assert [(item.subject, len(item.errors), len(item.places)) for item in causes.found] == [
        ("musaFoo", 9, 7), ("musaMemcpy2D", 2, 2),
    ]  # fmt: skip
    assert causes.errors == 11


def test_lone_syntax_errors_are_one_cause_a_file() -> None:
    log = "a.mu:1:9: error: expected ';'\na.mu:8:1: error: expected expression\nb.mu:1:1: error: expected ')'\n"
    causes = causes_of(parse_log(log.encode(), "log"))
    assert [(item.kind, item.subject, len(item.errors)) for item in causes.found] == [
        ("syntax", "a.mu", 2),
        ("syntax", "b.mu", 1),
    ]


# --- back to the CUDA source -----------------------------------------------------------------------------------------

TREE = {
    "src/a.cu": "#include <cublas.h>\n#include <cublas_v2.h>\n\nvoid f(cudaStream_t s, void** p) {\n  cudaMallocAsync(p, 4, s);\n}\n",
    "src/main.cpp": "int main() { return 0; }\n",
    "other/main.cpp": "#include <cuda_runtime.h>\nint g() { return cudaDeviceReset(); }\n",
}
# The second #include became one with the first, so what was in line 5 is in line 4.
LOG = "make[1]: Entering directory '/b/out'\nsrc/a.mu:4:3: error: use of undeclared identifier 'musaMallocAsync'\n  musaMallocAsync(p, 4, s);\n"


@pytest.mark.parametrize("way", ["--report", "--original"])
def test_the_cuda_line_and_the_edit(tmp_path: Path, way: str) -> None:
    write(tmp_path / "in", TREE)
    musify("convert", "in", "--report", f"json:{tmp_path}/r.json", "-q", cwd=tmp_path)
    (cause,) = _causes(tmp_path, LOG, way, "r.json" if way == "--report" else "in")
    origin = cause["places"][0]["origin"]
    assert (origin["path"], origin["line"], origin["text"]) == ("in/src/a.cu", 5, "cudaMallocAsync(p, 4, s);")
    edit = origin["edit"]
    assert (edit["old_text"], edit["new_text"], edit["library"], edit["evidence"]) == (
        "cudaMallocAsync", "musaMallocAsync", "runtime", "code",
    )  # fmt: skip


def test_the_folder_of_make_tells_files_of_one_name_apart(tmp_path: Path) -> None:
    write(tmp_path / "in", TREE)
    log = (
        "make[1]: Entering directory '/b/other'\nmain.cpp:2:18: error: use of undeclared identifier 'musaDeviceReset'\n"
        "make[1]: Leaving directory '/b/other'\nmain.cpp:1:1: error: unknown type name 'Foo'\n"
    )
    reset, foo = _causes(tmp_path, log, "--original", "in")
    assert reset["places"][0]["origin"]["path"] == "in/other/main.cpp"
    assert foo["places"][0]["origin"] is None  # src/main.cpp or other/main.cpp


def test_the_finding_at_the_line_is_shown(tmp_path: Path) -> None:
    write(tmp_path / "in", {"a.cu": "cudaKernel_t k;\n"})
    done = _triage(tmp_path, "a.mu:1:1: error: unknown type name 'musaKernel_t'\n", "--original", "in")
    assert "in/a.cu:1: cudaKernel_t k;" in done.out and "[MUS102]" in done.out
    assert "cudaKernel_t became musaKernel_t (runtime, none)" in done.out


def test_own_rules_are_those_of_the_conversion(tmp_path: Path) -> None:
    write(tmp_path, {"in/a.cu": "int x = cudaOurs;\n", "r.toml": '[rename]\ncudaOurs = "musaOurs"\n'})
    (cause,) = _causes(
        tmp_path, "a.mu:1:9: error: use of undeclared identifier 'musaOurs'\n", "--original", "in", "--rules", "r.toml"
    )
    assert cause["places"][0]["origin"]["edit"]["evidence"] == "project"


def test_lines_of_edits_that_span_lines() -> None:
    at = TextPosition
    mapped = LineMap([(at(1, 1), at(2, 1), ""), (at(3, 5), at(3, 6), "x\ny"), (at(5, 1), at(5, 3), "ab")])
    assert [mapped.original(at(*place)) for place in ((1, 1), (2, 4), (2, 5), (3, 2), (3, 9), (4, 1), (5, 7))] == [
        at(2, 1), at(3, 4), at(3, 5), at(3, 6), at(3, 13), at(4, 1), at(5, 7),
    ]  # fmt: skip
    assert [mapped.edit_at(at(*place)) for place in ((1, 1), (2, 6), (5, 2), (5, 3))] == [None, 1, 2, None]


# --- what to do ------------------------------------------------------------------------------------------------------

STEPS = {
    "only in a table": ("a.mu:1:1: error: unknown type name 'musaChannelFormatKind_t'", ["own-nowhere"]),
    "attested": ("a.mu:1:1: error: use of undeclared identifier 'musaMalloc'", ["absent-attested"]),
    "by convention": ("a.mu:1:1: error: unknown type name 'musaKernel_t'", ["absent"]),
    "the same name": ("a.mu:1:1: error: use of undeclared identifier '__shfl_xor_sync'", ["absent-attested"]),
    "another spelling is known": (
        "a.mu:1:1: error: use of undeclared identifier 'mublasGetStatusString'", ["spelling", "absent-attested"]),
    "the compiler suggests another word": (
        "a.mu:1:1: error: use of undeclared identifier 'musaMallocAsync'; did you mean 'musaMalloc'?",
        ["spelling-guess", "absent-attested"]),
    "the compiler knows it in another case": (
        "a.mu:1:1: error: unknown type name 'musaKernel_t'; did you mean 'musa_kernel_t'?", ["spelling-seen", "absent"]),
    "still CUDA's": ("a.cpp:1:1: error: use of undeclared identifier 'cudaMalloc'", ["not-converted", "own-nowhere"]),
    "of another shape": ("a.cpp:1:1: error: unknown type name 'cudnnHandle_t'", ["kept", "own-nowhere"]),
    "looks like CUDA's": ("a.cpp:1:1: error: use of undeclared identifier 'cudaBrandNewThing'", ["unknown-cuda"]),
    "compiled as C++": ("a.cpp:1:1: error: unknown type name '__global__'", ["device-language"]),
    "brought in by CUDA's headers": ("a.mu:1:1: error: use of undeclared identifier 'printf'", ["standard"]),
    "other arguments": ("a.mu:1:1: error: no matching function for call to 'musaMemcpy'", ["changed", "signature"]),
    "a member": ("a.mu:1:1: error: no member named 'foo' in 'musaDeviceProp'", ["member"]),
    "a toolkit header": ("a.mu:1:1: fatal error: 'musa_egl_interop.h' file not found", ["header-absent"]),
    "a header of another shape": ("a.mu:1:1: fatal error: 'cudnn.h' file not found", ["header-kept", "header-own"]),
    "a header that MUSA may lack": ("a.mu:1:1: fatal error: 'device_launch_parameters.h' file not found", ["header-drop"]),
    "a header of the project's": ("a.mu:1:1: fatal error: 'grid.h' file not found", ["header-own"]),
    "an unlinked library": ("l.cpp:1: undefined reference to `mublasCreate'", ["link", "symbol-absent"]),
    "an object": ("l.cpp:1: undefined reference to `solve(float*)'", ["object"]),
    "CUDA's library": ("/usr/bin/ld: cannot find -lcublas", ["library-cuda"]),
    "a library without counterpart": ("/usr/bin/ld: cannot find -lcudnn", ["library-cuda-none"]),
    "a library": ("/usr/bin/ld: cannot find -lmublas", ["library-path"]),
    "nvcc's option": ("mcc: error: unknown argument: '--expt-relaxed-constexpr'", ["option-drop"]),
    "nvcc's option with another of mcc's": ("mcc: error: unknown argument: '-gencode'", ["option-new"]),
    "mcc's option": ("g++: error: unrecognized command-line option ‘--offload-arch=mp_31’", ["option-compiler"]),
    "nvcc's option without one": ("mcc: error: unknown argument: '-odir'", ["option-none"]),
    "nvcc's language": ("mcc: error: language not recognized: 'cu'", ["option-new"]),
    "some option": ("mcc: error: unknown argument: '-fnonsense'", ["option"]),
    "an architecture": ("mcc: error: unsupported CUDA gpu architecture: mp_31", ["architecture"]),
    "a renamed source": ("make: *** No rule to make target 'src/solver.cu', needed by 'heat'.  Stop.", ["source-renamed"]),
    "CUDA's program": ("/bin/sh: 1: nvcc: not found", ["tool-cuda"]),
    "a program": ("make: mcc: No such file or directory", ["tool-path"]),
    "stricter than nvcc": ("a.mu:1:1: error: use 'template' keyword to treat 'get' as a dependent template name", ["dialect-template"]),
    "assembly": ("a.mu:1:1: error: invalid output constraint '=h' in asm", ["assembly"]),
    "a crash": ("PLEASE submit a bug report to https://x and include the crash backtrace.", ["crash"]),
    "anything else": ("a.mu:1:1: error: the moon is full", ["other"]),
}  # fmt: skip


@pytest.mark.parametrize(("line", "steps"), STEPS.values(), ids=STEPS.keys())
def test_steps(rules: RuleBook, line: str, steps: list[str]) -> None:
    (cause,) = causes_of(parse_log(line.encode(), "log")).found
    found = steps_for(cause, None, Origins(), Knowledge(rules, DEFAULT_TARGET))
    assert [step.id for step in found] == steps
    for step in found:
        texts = {language: step.text(language) for language in ("en", "zh")}
        assert all("{" not in text and "  " not in text for text in texts.values()) and texts["en"] != texts["zh"]


def test_a_guard_that_hides_a_definition(tmp_path: Path) -> None:
    helper = "#pragma once\n#ifdef __DRIVER_TYPES_H__\n#define checkErrors(x) (x)\n#endif\ncudaError_t last();\n"
    write(tmp_path / "in", {"helper.h": helper, "a.cu": '#include "helper.h"\nvoid f() { checkErrors(0); }\n'})
    (cause,) = _causes(tmp_path, "a.mu:2:12: error: use of undeclared identifier 'checkErrors'\n", "--original", "in")
    (step,) = cause["steps"]
    assert step["id"] == "own-guard" and step["sort"] == "source"
    assert "in/helper.h:3 defines checkErrors" in step["text"] and "MUS309 in line 2" in step["text"]


def test_where_the_project_declares_a_name(tmp_path: Path) -> None:
    write(tmp_path / "in", {"t.h": "struct Grid { int n; };\n", "a.cu": "void f(Grid g);\n"})
    (cause,) = _causes(tmp_path, "a.mu:1:8: error: unknown type name 'Grid'\n", "--original", "in")
    assert [step["id"] for step in cause["steps"]] == ["own-place"] and "in/t.h:1" in cause["steps"][0]["text"]


def test_a_member_that_was_taken_for_the_api(tmp_path: Path) -> None:
    write(tmp_path / "in", {"a.cu": "void f() { run(cudaFree, 1); }\n"})
    log = "a.mu:1:16: error: no member named 'musaFree' in 'Pool'\n"
    (cause,) = _causes(tmp_path, log, "--original", "in")
    assert [step["id"] for step in cause["steps"]] == ["keep-name", "member"]
    assert "in/a.cu:1" in cause["steps"][0]["text"]


def test_only_the_projects_overloads_means_that_the_apis_is_missing(tmp_path: Path) -> None:
    write(tmp_path / "in", {"h.h": "float2 make_float2(int s);\n", "a.cu": "float2 x = make_float2(1, 2);\n"})
    head = "a.mu:1:12: error: no matching function for call to 'make_float2'\n"
    note = "{}:1:8: note: candidate function not viable: requires 1 argument, but 2 were provided\n"
    (own,) = _causes(tmp_path, head + note.format("h.h"), "--original", "in")
    (theirs,) = _causes(tmp_path, head + note.format("/usr/local/musa/include/vector_functions.h"), "--original", "in")
    assert [step["id"] for step in own["steps"]] == ["absent-attested", "signature"]
    assert [step["id"] for step in theirs["steps"]] == ["changed", "signature"]


def test_a_renamed_header_and_source(tmp_path: Path) -> None:
    write(tmp_path / "in", {"k/stencil.cuh": "cudaStream_t s;\n", "k/a.cu": "", "Common/grid.h": "struct Grid;\n"})
    log = "b.cpp:1:10: fatal error: 'stencil.cuh' file not found\nninja: error: 'k/a.cu', needed by 'a.o', missing and no known rule to make it\n"
    log += "b.cpp:2:10: fatal error: 'grid.h' file not found\n"
    header, source, other = _causes(tmp_path, log, "--original", "in")
    assert [step["id"] for step in other["steps"]] == ["header-folder"] and "in/Common/grid.h" in other["steps"][0][
        "text"
    ]
    assert "stencil.cuh is called stencil.muh now" in header["steps"][0]["text"]
    assert "k/a.cu is called a.mu now" in source["steps"][0]["text"]


# --- rules that are written ------------------------------------------------------------------------------------------

ERRORS = """\
src/a.mu:1:1: error: unknown type name 'musaKernel_t'
src/a.mu:2:1: error: use of undeclared identifier 'mublasGetStatusString'
src/a.mu:3:1: error: no matching function for call to 'musaMemGetInfo'
/usr/local/musa/include/r.h:9:1: note: candidate function not viable: no known conversion from 'size_t *' to 'unsigned int *' for 1st argument
src/a.mu:4:1: error: use of undeclared identifier 'musaMallocAsync'; did you mean 'musaMalloc'?
src/a.mu:5:1: fatal error: 'musolver.h' file not found
src/a.mu:6:1: error: use of undeclared identifier 'cudaBrandNewThing'
"""
SOURCE = "cudaKernel_t k;\nauto a = cublasGetStatusString;\nauto b = cudaMemGetInfo;\nauto c = cudaMallocAsync;\n"


def test_the_next_conversion_takes_the_rules(tmp_path: Path) -> None:
    done = _triage(tmp_path, ERRORS, "--write-rules", "rules.toml")
    assert "3 rules added, 3 proposals as comments" in done.err
    write(tmp_path / "in", {"a.cu": SOURCE})
    converted = musify("convert", "in", "--rules", "rules.toml", "-q", "--report", "json", cwd=tmp_path)
    (file,) = json.loads(converted.out)["files"]
    found = {(item["id"], item["name"]): item["message"] for item in file["findings"]}
    assert {("MUS119", "cudaKernel_t"), ("MUS120", "cudaMemGetInfo")} <= set(found)
    assert "no known conversion from 'size_t *' to 'unsigned int *'" in found["MUS120", "cudaMemGetInfo"]
    assert "mublasStatus_to_string" in [edit["new_text"] for edit in file["edits"]]


def test_proposals_load_once_they_are_no_comments(tmp_path: Path) -> None:
    _triage(tmp_path, ERRORS, "--write-rules", "rules.toml")
    text = (tmp_path / "rules.toml").read_text(encoding="utf-8")
    used = re.sub(r"^# (?=\[\[|\w+ = )", "", text, flags=re.M)
    assert used != text
    write(tmp_path, {"rules.toml": used})
    rules = book.load([tmp_path / "rules.toml"])
    absent, header, new = (
        rules.name(b"cudaMallocAsync"),
        rules.header(b"cusolverDn.h"),
        rules.name(b"cudaBrandNewThing"),
    )
    assert absent is not None and header is not None and new is not None
    assert header.target == b"musolverDn.h" and new.target == b"musa..."


def test_what_is_in_the_file_stays_and_nothing_is_added_twice(tmp_path: Path) -> None:
    own = '# ours\r\n[rename]\r\ncudaBrandNewThing = "musaThing"\r\n\r\n[[absent]]\nnames = "cudaKernel_t"\nwhy = "x"\nsource = "y"'
    write(tmp_path, {"rules.toml": own})
    _triage(tmp_path, ERRORS, "--write-rules", "rules.toml")
    first = (tmp_path / "rules.toml").read_bytes().decode()
    head, _, tail = own.partition("[rename]\r\n")
    assert first.startswith(head + "[rename]\r\n") and tail in first
    assert first.count("cudaKernel_t") == 1 and first.count("cudaBrandNewThing") == 1
    assert 'cublasGetStatusString = "mublasStatus_to_string"' in first.partition("[[absent]]")[0]
    again = _triage(tmp_path, ERRORS, "--write-rules", "rules.toml")
    assert "0 rules added, 0 proposals" in again.err and (tmp_path / "rules.toml").read_bytes().decode() == first


def test_errors_of_a_later_build_are_added(tmp_path: Path) -> None:
    _triage(tmp_path, ERRORS, "--write-rules", "rules.toml")
    first = (tmp_path / "rules.toml").read_text(encoding="utf-8")
    _triage(tmp_path, "b.mu:1:1: error: unknown type name 'musaLibrary_t'\n", "--write-rules", "rules.toml")
    later = (tmp_path / "rules.toml").read_text(encoding="utf-8")
    assert later.startswith(first) and 'names = "cudaLibrary_t"' in later


# --- the whole loop --------------------------------------------------------------------------------------------------


def test_convert_build_triage_convert(tmp_path: Path) -> None:
    """The compiler is clang, the SDK the small one: it lacks musaLaunchHostFunc, and its musaMemGetInfo differs."""
    source = (
        "#include <cuda_runtime.h>\nint f(cudaStream_t s) {\n  size_t a, b;\n  cudaMemGetInfo(&a, &b);\n"
        "  return cudaLaunchHostFunc(s, 0, 0);\n}\n"
    )
    write(tmp_path / "in", {"a.cu": source})
    musify("convert", "in", "-o", "out", "-q", cwd=tmp_path)
    log = "\n".join(complaints(tmp_path / "out" / "a.mu", extra_headers(tmp_path / "extra"), [], device=False))
    causes = _causes(tmp_path, log + "\n2 errors generated.\n", "--original", "in", "--write-rules", "rules.toml")
    assert {(item["kind"], item["subject"]) for item in causes} == {
        ("missing-name", "musaLaunchHostFunc"), ("signature", "musaMemGetInfo"),
    }  # fmt: skip
    assert sorted(item["places"][0]["origin"]["line"] for item in causes) == [4, 5]
    again = musify("check", "in", "--rules", "rules.toml", "-q", cwd=tmp_path).out
    assert "in/a.cu:4:3: warning:" in again and "[MUS120]" in again
