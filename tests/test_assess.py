"""`musify assess`: the first hour with an unknown repository."""

from __future__ import annotations

from pathlib import Path

from tests.commands import contents, musify, write

FILES = {
    "plain/a.h": "int x;\n",
    "easy/a.cpp": "void f(void* p) { cudaFree(p); cudaFree(p); }\n",
    "hard/b.cpp": "void f(void* p) { cudaNope(p); cudaFree(p); }\n#if __CUDA_ARCH__ >= 800\n#endif\n",
}


def test_no_cuda(tmp_path: Path) -> None:
    run = musify("assess", write(tmp_path, {"a.h": "int x;\n"}), "-q")
    assert (run.code, run.out) == (0, "No CUDA was found.\n")


def test_counts(tmp_path: Path) -> None:
    out = musify("assess", write(tmp_path, FILES), "-q").out
    assert out.startswith("2 of 3 source and build files hold CUDA")
    # cudaFree three times; __CUDA_ARCH__ and its threshold; cudaNope
    assert "3 places (50%) change by themselves" in out and "2 places (33%) change and want a look" in out
    assert "1 places (17%) stay and need a person" in out and "1 files convert without anything left" in out
    assert out.index("easy  ") < out.index("hard  ") and "MUS101 Unknown CUDA-looking name" in out


def test_nothing_is_changed_and_nothing_fails(tmp_path: Path) -> None:
    tree = write(tmp_path, FILES)
    before = contents(tree)
    assert musify("assess", tree, "--lang", "zh").code == 0 and contents(tree) == before


def test_other_formats(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", FILES)
    run = musify("assess", tree, "--report", "csv", "--report", f"html:{tmp_path / 'r.html'}")
    assert run.out.startswith("cuda_name,") and (tmp_path / "r.html").stat().st_size
