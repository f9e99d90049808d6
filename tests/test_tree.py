"""Whole trees: names of files, the include graph, what files say of each other, and which files are chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import HEAT, contents, musify, write

pytestmark = pytest.mark.usefixtures("own_state")


# --- names of files and the include graph ---------------------------------------------------------------------------


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
    assert b"src/solver.mu" in made["CMakeLists.txt"] and b"src/solver.mu" in made["Makefile"]


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


def test_renamed_file_named_by_a_macro_and_by_has_include(tmp_path: Path) -> None:
    made = converted(
        tmp_path, {"k.cuh": "int a;\n", "a.cu": '#define KH "k.cuh"\n#include KH\n#if __has_include("k.cuh")\n#endif\n'}
    )
    assert made["a.mu"] == '#define KH "k.muh"\n#include KH\n#if __has_include("k.muh")\n#endif\n'


# --- what files say of each other -----------------------------------------------------------------------------------


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


# --- choosing files -------------------------------------------------------------------------------------------------


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


def test_time_grows_with_the_size_of_the_file_only(tmp_path: Path) -> None:
    """No timing: 4,000 guards, local names and pasting macros in one file are done at all, in a test's patience."""
    text = "".join(
        f"#if __CUDA_ARCH__ >= 800\nint a{n};\n#endif\nvoid f{n}() {{ int cudaFree = 1; cudaFree++; }}\n"
        for n in range(4000)
    )
    done = musify("convert", write(tmp_path, {"a.cpp": text}), "-q")
    assert done.out.count("+#if __MUSA_ARCH__ >= 220") == 4000


def test_what_a_header_hands_on_in_a_namespace_is_the_api(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "api.h": "namespace gpu { using ::cudaFree; }\n",
        "a.cpp": '#include "api.h"\nvoid f(void *p) { gpu::cudaFree(p); pool::cudaFree(p); cudaFree(p); }\n',
    }
    made = converted(tmp_path, files)
    assert made["api.h"] == "namespace gpu { using ::musaFree; }\n"
    assert made["a.cpp"].endswith("{ gpu::musaFree(p); pool::cudaFree(p); musaFree(p); }\n")
