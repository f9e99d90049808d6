"""`check --diff-base`, `--root` and `--exit-zero`: what a hook and a CI check of a change ask for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.commands import contents, musify, write

OLD = "void f(void* p) {\n    cudaNope(p);\n    int x = 0;\n}\n"


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    tree = write(tmp_path / "tree", {"old.cc": OLD, "ü b.cc": OLD, "gone.cc": OLD})
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "first")
    return tree


def test_nothing_changed(repository: Path) -> None:
    run = musify("check", ".", "-q", "--diff-base", "HEAD", cwd=repository)
    assert (run.code, run.out) == (0, "")


def test_only_touched_lines(repository: Path) -> None:
    git(repository, "switch", "-qc", "work")
    write(repository, {"ü b.cc": OLD.replace("int x = 0;", "cudaFree(p); cudaNope(0);")})
    git(repository, "commit", "-qam", "second")
    write(repository, {"new.cc": OLD})  # git does not know it
    (repository / "gone.cc").unlink()
    run = musify("check", ".", "-q", "--diff-base", "main", cwd=repository)
    assert run.code == 1
    assert run.out.splitlines() == [
        "new.cc:2:5: warning: cudaNope looks like CUDA Runtime and is on no list; no file of this run declares it, so it "
        "was left as it is [MUS101]",
        "ü b.cc: would change (1 edits)",
        "ü b.cc:3:18: warning: cudaNope looks like CUDA Runtime and is on no list; no file of this run declares it, so it "
        "was left as it is [MUS101]",
    ]


def test_what_others_did_meanwhile_does_not_count(repository: Path) -> None:
    git(repository, "switch", "-qc", "work")
    git(repository, "switch", "-q", "main")
    write(repository, {"old.cc": OLD + OLD})
    git(repository, "commit", "-qam", "on main")
    git(repository, "switch", "-q", "work")
    assert musify("check", repository, "-q", "--diff-base", "main").out == ""


def test_bad_revision_and_no_repository(repository: Path, tmp_path: Path) -> None:
    for revision in ("nope", "--help", "HEAD:old.cc"):
        run = musify("check", repository, "--diff-base", revision)
        assert run.code == 2 and run.err.count("\n") == 1 and "--diff-base" in run.err
    outside = write(tmp_path / "outside", {"a.cc": OLD})
    run = musify("check", outside, "--diff-base", "HEAD", GIT_CEILING_DIRECTORIES=str(tmp_path))
    assert run.code == 2 and run.err.count("\n") == 1


def test_exit_zero(repository: Path) -> None:
    run = musify("check", repository, "-q", "--exit-zero")
    assert run.code == 0 and "MUS101" in run.out


FILES = {
    "inc/api.h": "void cudaOurs(int);\n#define cudaMine 1\n",
    "inc/k.cuh": "#pragma once\n",
    "a.cu": '#include "inc/k.cuh"\n#include "inc/api.h"\nvoid f(void* p) { cudaOurs(1); cudaFree(p); cudaNope(2); }\n',
    "b.cu": '#include "inc/k.cuh"\nvoid g(void* p) { cudaFree(p); }\n',
}  # fmt: skip


def test_root_gives_the_declarations_of_the_project(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", FILES)
    alone, within = (musify("check", "a.cu", "-q", *more, cwd=tree).out for more in ((), ("--root", ".")))
    assert "cudaOurs" in alone and "cudaOurs" not in within and "cudaNope" in within
    assert "b.cu" not in within and "k.cuh" not in within


def test_root_changes_only_the_paths(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", FILES)
    musify("convert", "b.cu", "-i", "-q", "--root", ".", cwd=tree)
    made = contents(tree)
    assert made.pop("b.mu") == b'#include "inc/k.cuh"\nvoid g(void* p) { musaFree(p); }\n'
    assert made == {name: text.encode() for name, text in FILES.items() if name != "b.cu"}


def test_renamed_header_that_others_still_include(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", FILES)
    out = musify("check", "inc/k.cuh", "b.cu", "-q", "--root", ".", cwd=tree).out
    assert [line for line in out.splitlines() if "MUS121" in line and "a.cu" in line and "b.cu" not in line]


def test_path_outside_the_root(tmp_path: Path) -> None:
    tree = write(tmp_path, {"in/a.cu": "", "b.cu": ""})
    run = musify("check", tree / "b.cu", "--root", tree / "in")
    assert run.code == 2 and "outside --root" in run.err
