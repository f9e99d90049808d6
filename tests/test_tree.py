"""Whole trees through the real entry point: names of files, the include graph, what files say of each other, writing."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).parent.parent
HEAT = ROOT / "fixtures" / "projects" / "heat"


class Run:
    """A finished command."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8", "surrogateescape")
        self.err = done.stderr.decode("utf-8", "surrogateescape")
        assert "Traceback" not in self.err, self.err


def musify(*arguments: object, cwd: Path | None = None, stdin: bytes = b"", **environment: str) -> Run:
    command = [sys.executable, "-m", "musify", *(str(argument) for argument in arguments)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return Run(subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, env=env, check=False))


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of output folders go into a folder of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


# --- names of files and the include graph -------------------------------------------------------------------------


def test_sample_project(tmp_path: Path) -> None:
    done = musify("convert", HEAT, "-o", tmp_path / "out")
    assert done.code == 0
    made = contents(tmp_path / "out")
    assert set(made) == {
        "README.md", "CMakeLists.txt", "Makefile", "include/cuda_check.h", "include/pool.h", "src/main.cpp", "src/norm.cpp",
        "src/solver.mu", "src/stencil.muh",
    }  # fmt: skip
    assert b'#include "stencil.muh"' in made["src/solver.mu"]
    assert b"pool.cudaMalloc(" in made["src/main.cpp"] and b"::musaMalloc(" in made["include/pool.h"]
    assert made["CMakeLists.txt"] == (HEAT / "CMakeLists.txt").read_bytes()


def test_second_run_changes_nothing(tmp_path: Path) -> None:
    musify("convert", HEAT, "-o", tmp_path / "once")
    again = musify("convert", tmp_path / "once", "-o", tmp_path / "twice")
    assert again.code == 0
    assert contents(tmp_path / "once") == contents(tmp_path / "twice")
    assert musify("convert", tmp_path / "once", "-q").out == ""


def test_processes_do_not_matter(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"d{number % 7}/f{number}.cu": f'#include "../h{number % 3}.cuh"\n// {"x" * 9000}\nvoid f() {{ cudaFree({number}); }}\n'
        for number in range(60)
    }
    files |= {f"h{number}.cuh": "#pragma once\n#define RT(n) cuda##n\n" for number in range(3)}
    tree = write(tmp_path / "in", files)
    one, two = (musify("convert", tree, "-j", jobs, "-q") for jobs in (1, 2))
    assert one.out == two.out and one.out.count("diff --git") == 63


def test_keep_names(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": '#include "b.cuh"\n', "b.cuh": "cudaStream_t s;\n"})
    musify("convert", tree, "-o", tmp_path / "out", "--keep-names")
    assert contents(tmp_path / "out") == {"a.cu": b'#include "b.cuh"\n', "b.cuh": b"musaStream_t s;\n"}


INCLUDES = {
    "beside": ("src/a.cu", "b.cuh", "src/b.cuh", "b.muh"),
    "up": ("src/a.cu", "../inc/b.cuh", "inc/b.cuh", "../inc/b.muh"),
    "from an include folder": ("src/a.cpp", "k/b.cuh", "include/k/b.cuh", "k/b.muh"),
    "a .cu from a .cpp": ("a.cpp", "body.cu", "body.cu", "body.mu"),
    "angle brackets": ("a.h", "k/b.cuh", "k/b.cuh", "k/b.muh"),
    "vendored CUB keeps its name": ("a.cu", "cub/block.cuh", "third/cub/block.cuh", "cub/block.cuh"),
}


@pytest.mark.parametrize(("includer", "written", "file", "expected"), INCLUDES.values(), ids=INCLUDES.keys())
def test_includes_follow(tmp_path: Path, includer: str, written: str, file: str, expected: str) -> None:
    brackets = ("<", ">") if includer.endswith(".h") else ('"', '"')
    source = f"#include {brackets[0]}{written}{brackets[1]}\n"
    tree = write(tmp_path / "in", {includer: source, file: "int a;\n"})
    musify("convert", tree, "-o", tmp_path / "out")
    made = contents(tmp_path / "out")
    assert made[includer.replace(".cu", ".mu")].decode() == f"#include {brackets[0]}{expected}{brackets[1]}\n"


def test_include_by_the_name_of_the_folder(tmp_path: Path) -> None:
    tree = write(tmp_path / "engine", {"a.cu": '#include "engine/b.cuh"\n', "b.cuh": "int a;\n"})
    musify("convert", tree, "-o", tmp_path / "out")
    assert contents(tmp_path / "out")["a.mu"] == b'#include "engine/b.muh"\n'


def test_project_header_named_like_the_toolkits(tmp_path: Path) -> None:
    tree = write(
        tmp_path / "in",
        {"a/x.cu": '#include "cuda.h"\n', "a/cuda.h": "int a;\n", "b/y.cu": '#include "cuda.h"\n'},
    )
    musify("convert", tree, "-o", tmp_path / "out")
    made = contents(tmp_path / "out")
    assert made["a/x.mu"] == b'#include "cuda.h"\n' and made["b/y.mu"] == b'#include "musa.h"\n'


def test_name_that_exists_is_not_written_over(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": "cudaStream_t s;\n", "a.mu": "int mine;\n"})
    done = musify("convert", tree, "-i")
    assert contents(tree) == {"a.cu": b"musaStream_t s;\n", "a.mu": b"int mine;\n"}
    assert "MUS116" in done.err


def test_ported_files_are_left_alone(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.mu": "// cudaFree\ncudaFree(p);\n", "b.muh": "cudaStream_t s;\n"})
    assert musify("convert", tree, "-q").out == ""


# --- what files say of each other ---------------------------------------------------------------------------------


def converted(tmp_path: Path, files: dict[str, str | bytes]) -> dict[str, str]:
    tree = write(tmp_path / "in", files)
    done = musify("convert", tree, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    return {name: data.decode() for name, data in contents(tmp_path / "out").items()}


def test_name_declared_in_another_file_is_the_projects(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "a.cpp": "int cudaHelper(int x) { return x; }\n",
            "b.cpp": "void g() { cudaHelper(1); cudaOther(2); }\n",
        },
    )
    report = musify("check", tree).out
    assert "cudaHelper" not in report and "cudaOther" in report


def test_macro_of_an_included_header(tmp_path: Path) -> None:
    made = converted(
        tmp_path,
        {"own.h": "#pragma once\n#define cudaFree(p) pool_free(p)\n", "a.cpp": '#include "own.h"\nvoid f(void* p) { cudaFree(p); }\n',
         "b.cpp": "void f(void* p) { cudaFree(p); }\n"},
    )  # fmt: skip
    assert "cudaFree(p); }" in made["a.cpp"] and "musaFree(p); }" in made["b.cpp"]


def test_compatibility_header_of_another_platform(tmp_path: Path) -> None:
    made = converted(
        tmp_path,
        {"hip.h": "#pragma once\n#define cudaFree hipFree\n", "cuda_api.h": "#pragma once\n#include <cuda_runtime.h>\n",
         "gpu.h": '#if USE_HIP\n#include "hip.h"\n#else\n#include "cuda_api.h"\n#endif\n',
         "a.cpp": '#include "gpu.h"\nvoid f(void* p) { cudaFree(p); }\n'},
    )  # fmt: skip
    assert "musaFree(p); }" in made["a.cpp"]
    assert made["hip.h"] == "#pragma once\n#define cudaFree hipFree\n"


def test_a_header_that_holds_nothing_but_an_own_macro_is_heard(tmp_path: Path) -> None:
    files = {"own.h": "#pragma once\n#define cudaMalloc my_malloc\n"}
    files["a.cu"] = '#include "own.h"\nvoid f(void* p) { cudaMalloc(&p, 3); }\n'
    done = musify("convert", write(tmp_path / "in", files), "-o", tmp_path / "out")
    assert done.code == 0
    assert "cudaMalloc(&p, 3)" in (tmp_path / "out" / "a.mu").read_text()


def test_class_of_an_included_header(tmp_path: Path) -> None:
    made = converted(
        tmp_path,
        {"pool.h": "struct Pool { void cudaFree(int); void g(); };\n",
         "pool.cpp": '#include "pool.h"\nvoid Pool::g() { cudaFree(1); }\nvoid h(void* p) { cudaFree(p); }\n'},
    )  # fmt: skip
    assert made["pool.cpp"] == '#include "pool.h"\nvoid Pool::g() { cudaFree(1); }\nvoid h(void* p) { musaFree(p); }\n'


def test_namespace_of_an_included_header(tmp_path: Path) -> None:
    made = converted(
        tmp_path,
        {"m.h": "namespace mine { void cudaFree(int); }\n",
         "m.cpp": '#include "m.h"\nnamespace mine { void f() { cudaFree(1); } }\nvoid h(void* p) { cudaFree(p); }\n'},
    )  # fmt: skip
    assert "{ void f() { cudaFree(1); } }" in made["m.cpp"] and "musaFree(p)" in made["m.cpp"]


def test_stub_for_builds_without_cuda(tmp_path: Path) -> None:
    made = converted(
        tmp_path,
        {"gpu.h": "#ifdef USE_CUDA\n#include <cuda_runtime.h>\n#else\ntypedef void* cudaStream_t;\n#endif\n",
         "a.cpp": '#include "gpu.h"\ncudaStream_t s;\n'},
    )  # fmt: skip
    assert "typedef void* musaStream_t;" in made["gpu.h"] and made["a.cpp"].endswith("musaStream_t s;\n")


def test_pasting_macro_of_an_included_header(tmp_path: Path) -> None:
    made = converted(
        tmp_path,
        {"c.h": "#define CALL(p, n) p##n\n", "a.cpp": '#include "c.h"\nvoid f() { CALL(cuda, Free)(0); }\n'},
    )
    assert "CALL(musa, Free)" in made["a.cpp"]


def test_own_namespace_cuda(tmp_path: Path) -> None:
    made = converted(
        tmp_path,
        {"n.h": "namespace cuda { int warp_size(); int atomic(); }\n", "a.cpp": '#include "n.h"\nint a = cuda::atomic() + cuda::warp_size();\n'},
    )  # fmt: skip
    assert "cuda::atomic()" in made["a.cpp"] and "cuda::warp_size()" in made["a.cpp"]


# --- choosing files -----------------------------------------------------------------------------------------------


def test_gitignore(tmp_path: Path) -> None:
    tree = write(
        tmp_path / "in",
        {".gitignore": "build/\n*.gen.cu\n!keep.gen.cu\n", "a.cu": "cudaStream_t s;\n", "build/b.cu": "cudaStream_t s;\n",
         "x.gen.cu": "cudaStream_t s;\n", "keep.gen.cu": "cudaStream_t s;\n", "sub/.gitignore": "c.cu\n", "sub/c.cu": "cudaStream_t s;\n",
         "sub/d.cu": "cudaStream_t s;\n"},
    )  # fmt: skip
    changed = [
        line.split()[2] for line in musify("convert", ".", "-q", cwd=tree).out.splitlines() if line.startswith("diff ")
    ]
    assert changed == ["a/a.cu", "a/keep.gen.cu", "a/sub/d.cu"]
    everything = musify("convert", ".", "-q", "--no-gitignore", cwd=tree).out
    assert everything.count("diff --git") == 6


def test_gitignore_above_the_path(tmp_path: Path) -> None:
    write(tmp_path, {".git/HEAD": "", ".gitignore": "gen.cu\n/src/top.cu\n", "src/gen.cu": "cudaStream_t s;\n",
                     "src/top.cu": "cudaStream_t s;\n", "src/a.cu": "cudaStream_t s;\n"})  # fmt: skip
    assert musify("convert", "src", "-q", cwd=tmp_path).out.count("diff --git") == 1


def test_include_and_exclude(tmp_path: Path) -> None:
    tree = write(
        tmp_path / "in",
        {"a.cu": "cudaStream_t s;\n", "third/b.cu": "cudaStream_t s;\n", "c.h": "cudaStream_t s;\n"},
    )
    assert musify("convert", tree, "-q", "--exclude", "third/").out.count("diff --git") == 2
    assert musify("convert", tree, "-q", "--include", "*.cu", "--exclude", "third").out.count("diff --git") == 1
    musify("convert", tree, "-o", tmp_path / "out", "--exclude", "third")
    assert contents(tmp_path / "out")["third/b.cu"] == b"cudaStream_t s;\n"


def test_every_suffix(tmp_path: Path) -> None:
    suffixes = [".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hxx", ".inl", ".inc", ".ipp", ".tcc"]
    tree = write(
        tmp_path,
        {f"f{number}{suffix}": "cudaStream_t s;\n" for number, suffix in enumerate(suffixes)}
        | {"g.txt": "cudaStream_t s;\n"},
    )
    assert musify("convert", tree, "-q").out.count("diff --git") == len(suffixes)


def test_several_paths_lie_under_their_base_names(tmp_path: Path) -> None:
    write(tmp_path, {"p/one/a.cu": "cudaStream_t s;\n", "q/two.cu": "cudaStream_t s;\n"})
    musify("convert", tmp_path / "p/one", tmp_path / "q/two.cu", "-o", tmp_path / "out")
    assert set(contents(tmp_path / "out")) == {"one/a.mu", "two.mu"}


def test_output_inside_the_tree_is_not_read_again(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": "cudaStream_t s;\n"})
    for _ in range(2):
        assert musify("convert", tree, "-o", tree / "out").code == 0
    assert set(contents(tree)) == {"a.cu", "out/a.mu"}


# --- writing ------------------------------------------------------------------------------------------------------


def test_dry_run_writes_nothing_and_its_diff_applies(tmp_path: Path) -> None:
    tree = tmp_path / "heat"
    shutil.copytree(HEAT, tree)
    before = contents(tree)
    text = musify("convert", ".", "-q", cwd=tree).out
    assert contents(tree) == before
    subprocess.run(["git", "apply", "-"], input=text.encode("utf-8", "surrogateescape"), cwd=tree, check=True)
    musify("convert", HEAT, "-o", tmp_path / "out")
    assert contents(tree) == contents(tmp_path / "out")


def test_in_place(tmp_path: Path) -> None:
    tree = tmp_path / "heat"
    shutil.copytree(HEAT, tree)
    assert musify("convert", tree, "-i").code == 0
    musify("convert", HEAT, "-o", tmp_path / "out")
    assert contents(tree) == contents(tmp_path / "out")


def test_modes_are_kept(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": "cudaStream_t s;\n", "run.sh": "#!/bin/sh\n", "b.cu": "cudaStream_t s;\n"})
    (tree / "a.cu").chmod(0o755)
    (tree / "b.cu").chmod(0o600)
    (tree / "run.sh").chmod(0o750)
    musify("convert", tree, "-o", tmp_path / "out")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").iterdir()}
    assert modes == {"a.mu": 0o755, "b.mu": 0o600, "run.sh": 0o750}
    musify("convert", tree, "-i")
    assert stat.S_IMODE((tree / "a.mu").stat().st_mode) == 0o755


def test_links_stay_links(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"o.cu": "cudaStream_t s;\n"})
    tree = write(tmp_path / "in", {"a.cu": "cudaStream_t s;\n", "d/x.h": "int a;\n"})
    (tree / "link.cu").symlink_to("a.cu")
    (tree / "far.cu").symlink_to(outside / "o.cu")
    (tree / "folder").symlink_to("d")
    musify("convert", tree, "-o", tmp_path / "out")
    out = tmp_path / "out"
    assert os.readlink(out / "link.mu") == "a.mu" and (out / "link.mu").read_bytes() == b"musaStream_t s;\n"
    assert os.readlink(out / "folder") == "d" and not (out / "far.mu").is_symlink()
    musify("convert", tree, "-i")
    assert (outside / "o.cu").read_bytes() == b"cudaStream_t s;\n"
    assert (tree / "link.mu").is_symlink() and (tree / "link.mu").read_bytes() == b"musaStream_t s;\n"


def test_never_through_a_link_in_the_output(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": "cudaStream_t s;\n", "d/b.cu": "cudaStream_t s;\n"})
    victim = write(tmp_path / "victim", {"v": "precious\n"})
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.mu").symlink_to(victim / "v")
    (out / "d").symlink_to(victim)
    done = musify("convert", tree, "-o", out, "--force")
    assert contents(victim) == {"v": b"precious\n"}
    assert (out / "a.mu").read_bytes() == b"musaStream_t s;\n" and "outside the output folder" in done.err


def test_output_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": "cudaStream_t s;\n"})
    out = write(tmp_path / "out", {"mine.txt": "mine\n"})
    done = musify("convert", tree, "-o", out)
    assert done.code == 2 and "not empty" in done.err and done.err.count("\n") == 1
    assert contents(out) == {"mine.txt": b"mine\n"}
    assert musify("convert", tree, "-o", out, "--force").code == 0
    assert set(contents(out)) == {"mine.txt", "a.mu"}


def test_own_output_folder_is_used_again(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": "cudaStream_t s;\n", "b.cu": "cudaStream_t s;\n"})
    assert musify("convert", tree, "-o", tmp_path / "out").code == 0
    (tree / "b.cu").unlink()
    assert musify("convert", tree, "-o", tmp_path / "out").code == 0
    assert set(contents(tmp_path / "out")) == {"a.mu"}
    shutil.rmtree(tmp_path / "out")
    write(tmp_path / "out", {"other": "mine\n"})
    assert musify("convert", tree, "-o", tmp_path / "out").code == 2


ENCODINGS = {
    "BOM, CRLF and Latin-1": b"\xef\xbb\xbf#include <cuda.h>\r\n// caf\xe9\r\nvoid f(void* p) { cudaFree(p); }\r\n",
    "no final newline": b"void f(void* p) { cudaFree(p); }",
    "old Mac line ends": b"int a;\rvoid f(void* p) { cudaFree(p); }\r",
    "GBK": "// 显存\nvoid f(void* p) { cudaFree(p); } // 释放\n".encode("gbk"),
    "form feed": b"\x0cvoid f(void* p) { cudaFree(p); }\n",
}


@pytest.mark.parametrize("data", ENCODINGS.values(), ids=ENCODINGS.keys())
def test_bytes_outside_the_edits_stay(tmp_path: Path, data: bytes) -> None:
    tree = write(tmp_path / "in", {"a.cpp": data})
    musify("convert", tree, "-o", tmp_path / "out")
    expected = data.replace(b"cuda.h", b"musa.h").replace(b"cudaFree", b"musaFree")
    assert contents(tmp_path / "out") == {"a.cpp": expected}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16(tmp_path: Path, encoding: str) -> None:
    text = "\ufeff// 显存\r\nvoid f(void* p) { cudaFree(p); }\r\n"
    tree = write(tmp_path / "in", {"a.cpp": text.encode(encoding)})
    musify("convert", tree, "-o", tmp_path / "out")
    assert contents(tmp_path / "out")["a.cpp"].decode(encoding) == text.replace("cudaFree", "musaFree")


def test_one_bad_file_does_not_stop_the_tree(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": "cudaStream_t s;\n", "bad.cu": b"\0\1\2cudaFree", "odd.cu": b"\xff\xfeA"})
    done = musify("convert", tree, "-o", tmp_path / "out")
    made = contents(tmp_path / "out")
    assert done.code == 0 and made["a.mu"] == b"musaStream_t s;\n" and made["bad.cu"] == b"\0\1\2cudaFree"
    assert done.err.count("MUS905") >= 2


def test_file_that_vanishes_is_a_finding(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": "cudaStream_t s;\n"})
    (tree / "dangling.cu").symlink_to("nowhere.cu")
    assert musify("convert", tree, "-o", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "dangling.mu").is_symlink()


# --- stdin, reports, exit codes and errors ------------------------------------------------------------------------


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
    assert content["summary"]["changed"] == 6 and content["target"]["sdk"] == "5.2"
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
        {"a.cu": "int a;\n", "CMakeLists.txt": "add_library(x a.cu other.cu)\nfile(GLOB s *.cu)\n", "setup.py": "s = ['src/a.cu']\n",
         "notes.txt": "a.cu\n"},
    )  # fmt: skip
    out = musify("check", tree, "-q").out
    assert out.count("MUS501") == 2 and out.count("MUS502") == 1


# --- what check can leave out, and annotations ------------------------------------------------------------------------


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


# --- what a newcomer found --------------------------------------------------------------------------------------------


def test_renamed_file_named_by_a_macro_and_by_has_include(tmp_path: Path) -> None:
    made = converted(
        tmp_path, {"k.cuh": "int a;\n", "a.cu": '#define KH "k.cuh"\n#include KH\n#if __has_include("k.cuh")\n#endif\n'}
    )
    assert made["a.mu"] == '#define KH "k.muh"\n#include KH\n#if __has_include("k.muh")\n#endif\n'


def test_interrupted_run_can_be_completed(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.mu": "int a;\n", "b.cpp": '#include "a.cu"\n', ".a.mu.x1.musify": "half"})
    musify("convert", tree, "-i")
    assert contents(tree)["b.cpp"] == b'#include "a.mu"\n'


def test_link_out_of_the_folder_becomes_a_file(tmp_path: Path) -> None:
    write(tmp_path, {"o.cu": "cudaStream_t s;\n", "q/a.cpp": "int a;\n"})
    (tmp_path / "q" / "ol.cu").symlink_to("../o.cu")
    musify("convert", tmp_path / "q", "-o", tmp_path / "out")
    assert contents(tmp_path / "out")["ol.mu"] == b"musaStream_t s;\n"


def test_link_given_as_the_path_is_worked_on(tmp_path: Path) -> None:
    write(tmp_path, {"o.cpp": "cudaStream_t s;\n"})
    (tmp_path / "l.cpp").symlink_to("o.cpp")
    assert "would change" in musify("check", tmp_path / "l.cpp", "-q").out


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


def test_utf16_does_not_spoil_the_diff(tmp_path: Path) -> None:
    tree = write(tmp_path, {"u.cpp": "\ufeffcudaStream_t s;\n".encode("utf-16-le"), "a.cpp": "cudaStream_t s;\n"})
    done = musify("convert", ".", cwd=tree)
    subprocess.run(["git", "apply", "--check", "-"], input=done.out.encode(), cwd=tree, check=True)
    assert done.out.count("diff --git") == 1 and "MUS907" in done.err


def test_time_grows_with_the_size_of_the_file_only(tmp_path: Path) -> None:
    """No timing: 4,000 guards, local names and pasting macros in one file are done at all, in a test's patience."""
    text = "".join(
        f"#if __CUDA_ARCH__ >= 800\nint a{n};\n#endif\nvoid f{n}() {{ int cudaFree = 1; cudaFree++; }}\n"
        for n in range(4000)
    )
    done = musify("convert", write(tmp_path, {"a.cpp": text}), "-q")
    assert done.out.count("+#if __MUSA_ARCH__ >= 220") == 4000
