"""The commands: stdin, reports, exit codes, errors, configuration, baselines, annotations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.commands import HEAT, ROOT, contents, musify, write

pytestmark = pytest.mark.usefixtures("own_state")


# --- stdin, reports, exit codes and errors --------------------------------------------------------------------------


def test_stdin() -> None:
    done = musify("convert", "-", stdin=b"void f(void* p) { cudaFree(p); cudaNope(1); }\r\n")
    assert done.out == "void f(void* p) { musaFree(p); cudaNope(1); }\r\n" and "stdin.cu:1:32" in done.err
    named = musify("convert", "-", "--stdin-name", "k/x.cuh", stdin=b"void f() { cudaNope(1); }")
    assert named.err.startswith("k/x.cuh:1:12")


def test_json_report_fits_its_schema(tmp_path: Path) -> None:
    report = tmp_path / "r.json"
    musify("convert", HEAT, "--report", f"json:{report}", "-q")
    content: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, schema)
    assert content["summary"]["changed"] == 8 and content["target"]["sdk"] == "5.2"
    main = next(file for file in content["files"] if file["path"].endswith("main.cpp"))
    guard = next(finding for finding in main["findings"] if finding["id"] == "MUS303")
    assert (guard["line"], guard["name"], guard["suppressed"]) == (9, "CUDART_VERSION", False)


def test_columns_count_characters(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cu": "/* 显存 */ cudaNope(1);\n", "b.cu": b"/* \xb0\xa1 */ cudaNope(1);\n"})
    out = musify("check", tree, "-q").out
    assert f"{tree}/a.cu:1:10:" in out and f"{tree}/b.cu:1:10:" in out


EXIT_CODES = {
    "clean": ("int a;\n", (), 0, 0),
    "a rename": ("cudaStream_t s;\n", (), 0, 1),
    "an error": ("cudnnHandle_t h;\n", (), 0, 1),
    "an error, asked for": ("cudnnHandle_t h;\n", ("--fail-on", "error"), 1, 1),
    "a warning, errors asked for": ("void f() { cudaNope(1); }\n", ("--fail-on", "error"), 0, 0),
    "a warning": ("void f() { cudaNope(1); }\n", (), 0, 1),
    "a note": ('#include "x.cuh"\n', (), 0, 0),
    "a note, asked for": ('#include "x.cuh"\n', ("--fail-on", "note"), 1, 1),
}


@pytest.mark.parametrize(("source", "options", "convert", "check"), EXIT_CODES.values(), ids=EXIT_CODES.keys())
def test_exit_codes(tmp_path: Path, source: str, options: tuple[str, ...], convert: int, check: int) -> None:
    tree = write(tmp_path, {"a.cpp": source})
    assert musify("convert", tree, *options).code == convert
    assert musify("check", tree, *options).code == check
    assert contents(tree) == {"a.cpp": source.encode()}


def test_markers(tmp_path: Path) -> None:
    source = (
        "cudaStream_t a; // MUSIFY_EXCL_LINE\n// MUSIFY_EXCL_START\ncudaStream_t b;\n// MUSIFY_EXCL_STOP\ncudaStream_t c;\n"
        "cudaNew_t d; // musify: ignore[MUS101] ours\n// musify: ignore[MUS101] ours too\ncudaNew_t e;\n/* musify: ignore[MUS303] no */\n"
    )
    tree = write(tmp_path / "in", {"a.cpp": source})
    report = tmp_path / "r.json"
    musify("convert", tree, "-o", tmp_path / "out", "--report", f"json:{report}")
    assert contents(tmp_path / "out")["a.cpp"].decode() == source.replace("cudaStream_t c", "musaStream_t c")
    found = json.loads(report.read_text(encoding="utf-8"))["files"][0]["findings"]
    assert [(item["id"], item["line"], item["suppressed"]) for item in found] == [
        ("MUS101", 6, True), ("MUS101", 8, True), ("MUS904", 9, False),
    ]  # fmt: skip


ERRORS = {
    "missing path": (("convert", "no/such/path"), "no/such/path: no such file or folder"),
    "unknown architecture": (("convert", HEAT, "--arch", "mp_99"), "'mp_99' is not one of"),
    "unknown SDK": (("convert", HEAT, "--sdk", "9.9"), "'9.9' is not one of"),
    "missing rule file": (("convert", HEAT, "--rules", "no.toml"), "no.toml: cannot read the rule file"),
    "-o and -i": (("convert", HEAT, "-o", "x", "-i"), "-o and -i exclude each other"),
    "unknown report": (("convert", HEAT, "--report", "pdf"), "no such format"),
    "report that cannot be written": (
        ("convert", HEAT, "--report", "json:/no/such/folder/r.json"),
        "cannot write the report",
    ),
    "nothing to do": (("convert",), "Missing argument"),
    "stdin with a path": (("convert", "-", HEAT), "stands alone"),
    "stdin of another language": (("convert", "-", "--stdin-name", "x.py"), "x.py"),
    "output is a file": (("convert", HEAT, "-o", ROOT / "pyproject.toml"), "is a file"),
    "unknown finding": (("explain", "MUS999"), "no such finding"),
    "unknown name": (("explain", "cudaNope"), "on no list"),
}


@pytest.mark.parametrize(("arguments", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_errors_are_one_clear_line(tmp_path: Path, arguments: tuple[object, ...], message: str) -> None:
    done = musify(*arguments, cwd=tmp_path)
    assert done.code == 2 and message in done.err and done.out == "" and list(tmp_path.iterdir()) == []


RULE_ERRORS = {
    "not TOML": ("[library\n", ":1"),
    "unknown key": (
        '[library]\nid = "x"\nname = "x"\ntarget = "y"\npolicy = "rename"\ncolour = "red"\n',
        ":6: unknown key 'colour'",
    ),
    "unknown table": ("[names2]\n", "unknown key 'names2'"),
    "renamed to itself": ('[rename]\ncudaX = "cudaX"\n', ":2: cudaX is renamed to itself"),
    "no name": ('[rename]\ncudaX = "musa X"\n', ":2: cudaX must be given a MUSA name"),
    "bad policy": ('[library]\nid = "x"\nname = "x"\ntarget = "y"\npolicy = "maybe"\n', ":5: policy 'maybe'"),
    "listed twice": (
        '[[names]]\nkind = "function"\nevidence = "code"\nlist = "cudaA cudaA"\n',
        ":4: cudaA is listed twice",
    ),
    "bad evidence": (
        '[[names]]\nkind = "function"\nevidence = "rumour"\nlist = "cudaA"\n',
        ":3: evidence 'rumour'",
    ),
    "one bracket": ('[names]\nkind = "function"\n', ":1: write [[names]]"),
    "not text": ("\udcff", "not valid TOML"),
}


@pytest.mark.parametrize(("text", "message"), RULE_ERRORS.values(), ids=RULE_ERRORS.keys())
def test_mistakes_in_rule_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    done = musify("convert", HEAT, "-o", tmp_path / "out", "--rules", path)
    assert (
        done.code == 2 and f"{path}{message}" in done.err.replace(": not valid", ": not valid")
    ) or message in done.err
    assert done.err.count("\n") == 1 and not (tmp_path / "out").exists()


def test_own_rules_win(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[rename]\ncudaFree = "poolFree"\ncudaNope = "musaYes"\n[[headers]]\nevidence = "code"\n[headers.map]\n"cuda.h" = "mine.h"\n'
        '[[unsupported]]\nnames = "cudaMalloc"\nwhy = "never"\nsource = "us"\n',
        encoding="utf-8",
    )
    tree = write(
        tmp_path / "in",
        {"a.cpp": "#include <cuda.h>\nvoid f() { cudaFree(p); cudaNope(1); cudaMalloc(&p, 1); }\n"},
    )
    done = musify("convert", tree, "-o", tmp_path / "out", "--rules", path)
    assert (
        contents(tmp_path / "out")["a.cpp"]
        == b"#include <mine.h>\nvoid f() { poolFree(p); musaYes(1); cudaMalloc(&p, 1); }\n"
    )
    assert "MUS104" in done.err


def test_configuration_file(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "musify.toml": 'keep-names = true\nsdk = "4.3"\nexclude = ["b.cu"]\n',
            "a.cu": "cudaStream_t s;\n",
            "b.cu": "cudaStream_t s;\n",
        },
    )
    out = musify("convert", ".", "-q", cwd=tree).out
    assert "rename" not in out and out.count("diff --git") == 1
    assert "rename to a.mu" not in musify("convert", "a.cu", "-q", cwd=tree).out
    (tree / "musify.toml").write_text("keepnames = true\n", encoding="utf-8")
    done = musify("convert", ".", cwd=tree)
    assert done.code == 2 and "musify.toml:1: unknown setting 'keepnames'" in done.err


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("musify.toml", 'arch = "mp_99"\n', "musify.toml: arch: 'mp_99' is not one of"),
        ("musify.toml", "jobs = 0\n", "musify.toml: jobs: 0 is not in the range"),
        ("musify.toml", "arch = " + "[" * 50000, "musify.toml: not valid TOML: its values are nested too deeply"),
        ("pyproject.toml", "[tool]\nmusify = 3 # [tool.musify]\n", "[tool.musify] must be a table"),
        ("pyproject.toml", "[[tool.musify]]\nsdk = '5.2'\n", "[tool.musify] must be a table"),
    ],
)
def test_mistakes_in_a_configuration_file(tmp_path: Path, name: str, text: str, expected: str) -> None:
    done = musify("check", write(tmp_path, {name: text, "a.cu": "cudaStream_t s;\n"}))
    assert done.code == 2 and expected in done.err and done.err.count("\n") == 1


def test_explain() -> None:
    name = musify("explain", "cudaMalloc").out
    assert "cudaMalloc -> musaMalloc" in name and "code" in name
    assert "mublas.h" in musify("explain", "cublas_v2.h").out
    assert "musa::std" in musify("explain", "cuda::std").out
    assert "MTML" in musify("explain", "nvmlInit_v2").out
    assert "按惯例改名" in musify("explain", "mus102", "--lang", "zh").out


def test_messages_in_chinese(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cu": "void f() { cudaNope(1); }\n"})
    assert "不在任何名单上" in musify("check", tree, "--lang", "zh", "-q").out


def test_build_files_that_name_renamed_sources(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {"a.cu": "int a;\n", "CMakeLists.txt": "add_library(x a.cu other.cu)\nfile(GLOB s *.cu)\n", "setup.py": "s = ['./a.cu', 'src/a.cu']\n",
         "notes.txt": "a.cu\n"},
    )  # fmt: skip
    out = musify("check", tree, "-q").out
    assert out.count("would change") == 3 and out.count("MUS501") == 1 and out.count("MUS502") == 1


def test_full_disk_is_an_error(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "musify", "convert", str(HEAT), "-q"]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
        )
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and b"cannot write the output" in done.stderr


def test_report_to_a_device_does_not_replace_it() -> None:
    before = Path("/dev/null").stat().st_rdev
    assert musify("convert", HEAT, "-q", "--report", "json:/dev/null").code == 0
    assert Path("/dev/null").stat().st_rdev == before and not Path("/dev/null").is_file()


def test_hidden_file_of_the_current_folder_in_the_diff(tmp_path: Path) -> None:
    write(tmp_path, {".gitlab-ci.yml": "build:\n  variables:\n    CUDA_VISIBLE_DEVICES: '0'\n"})
    run = musify("convert", ".", cwd=tmp_path)
    assert run.code == 0 and "--- a/.gitlab-ci.yml\n+++ b/.gitlab-ci.yml\n" in run.out


def test_utf16_does_not_spoil_the_diff(tmp_path: Path) -> None:
    tree = write(tmp_path, {"u.cpp": "\ufeffcudaStream_t s;\n".encode("utf-16-le"), "a.cpp": "cudaStream_t s;\n"})
    done = musify("convert", ".", cwd=tree)
    subprocess.run(["git", "apply", "--check", "-"], input=done.out.encode(), cwd=tree, check=True)
    assert done.out.count("diff --git") == 1 and "MUS907" in done.err


# --- what check can leave out, and annotations ----------------------------------------------------------------------


def test_select_and_ignore(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cpp": "void f() { cudaNope(1); nvmlInit_v2(); }\n"})
    assert "MUS402" not in musify("check", tree, "-q", "--select", "MUS1").out
    assert musify("check", tree, "-q", "--ignore", "MUS101", "--ignore", "MUS4").code == 0
    done = musify("check", tree, "--select", "MUS77")
    assert done.code == 2 and "MUS77: no finding" in done.err


def test_baseline(tmp_path: Path) -> None:
    tree = write(tmp_path / "p", {"a.cu": "cudaStream_t s;\nvoid f() { cudaNope(1); }\n"})
    base = tmp_path / "base.json"
    assert musify("check", tree).code == 1
    assert musify("check", tree, "--baseline", base, "--update-baseline").code == 0
    clean = musify("check", tree, "--baseline", base)
    assert clean.code == 0 and clean.out == ""
    (tree / "a.cu").write_text(
        "// moved\n\ncudaStream_t s;\nvoid f() { cudaNope(1); }\nvoid g() { cudaNope(2); }\n", encoding="utf-8"
    )
    new = musify("check", tree, "--baseline", base)
    assert new.code == 1 and new.out.count("MUS101") == 1 and "a.cu:5:" in new.out
    (tree / "a.cu").write_text("cudaStream_t s;\n", encoding="utf-8")
    gone = musify("check", tree, "--baseline", base)
    assert gone.code == 0 and "MUS101 cudaNope no longer occurs" in gone.err


def test_bad_baselines(tmp_path: Path) -> None:
    tree = write(tmp_path / "p", {"a.cu": "int a;\n"})
    for text, message in (("{", "not a baseline"), ('{"version": 99, "entries": []}', "version 99")):
        (tmp_path / "b.json").write_text(text, encoding="utf-8")
        done = musify("check", tree, "--baseline", tmp_path / "b.json")
        assert done.code == 2 and message in done.err
    assert musify("check", tree, "--baseline", tmp_path / "none.json").code == 2
    assert musify("check", tree, "--update-baseline").code == 2


ANNOTATED = {
    "above the line, indented": (
        "void f() {\n    cudaNope(1);\n}\n",
        "void f() {\n    // musify: MUS101: cudaNope looks like CUDA Runtime and is on no list; no file of this run declares it, so it "
        "was left as it is\n    cudaNope(1);\n}\n",
    ),
    "above the whole macro": (
        "#define F() \\\n  cudaNope(1)\n",
        "// musify: MUS101: cudaNope looks like CUDA Runtime and is on no list; no file of this run declares it, so it was left as it "
        "is\n#define F() \\\n  cudaNope(1)\n",
    ),
    "CRLF": (
        "cudaNope_t a;\r\n",
        "// musify: MUS101: cudaNope_t looks like CUDA Runtime and is on no list; no file of this run declares it, so it was left as "
        "it is\r\ncudaNope_t a;\r\n",
    ),
    "behind a byte order mark": (
        "\ufeffcudaNope_t a;\n",
        "\ufeff// musify: MUS101: cudaNope_t looks like CUDA Runtime and is on no list; no file of this run declares it, so it was left "
        "as it is\ncudaNope_t a;\n",
    ),
    "notes get none": ('#include "x.cuh"\n', '#include "x.cuh"\n'),
    "settled ones go": ("int a;\n  // musify: MUS101: old news\nint b;\n", "int a;\nint b;\n"),
}


@pytest.mark.parametrize(("source", "expected"), ANNOTATED.values(), ids=ANNOTATED.keys())
def test_annotations_come_and_go(tmp_path: Path, source: str, expected: str) -> None:
    tree = write(tmp_path / "in", {"a.cpp": source})
    musify("convert", tree, "-i", "--annotate")
    assert contents(tree)["a.cpp"].decode() == expected
    musify("convert", tree, "-i", "--annotate")
    assert contents(tree)["a.cpp"].decode() == expected


def test_ordinary_runs_leave_annotations(tmp_path: Path) -> None:
    source = "// musify: MUS101: kept\nint a;\ncudaStream_t s;\n"
    tree = write(tmp_path / "in", {"a.cpp": source})
    musify("convert", tree, "-i")
    assert contents(tree)["a.cpp"].decode() == source.replace("cudaStream_t", "musaStream_t")
