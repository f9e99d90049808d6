"""What is written, where, and that nothing is lost."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.commands import HEAT, contents, musify, write

pytestmark = pytest.mark.usefixtures("own_state")


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


def test_in_place_every_file_is_judged_by_the_originals(tmp_path: Path) -> None:
    """`a.cuh` is converted, and gone under that name, before `b.cu` needs what it defines."""
    header = '#define BLOCK 2048\n#ifdef OWN\n#include "own.h"\n#endif\n'
    kernel = '#include "a.cuh"\n__global__ void k();\nvoid f(void* p) { k<<<1, BLOCK>>>(); cudaFree(p); }\n'
    tree = write(tmp_path / "in", {"a.cuh": header, "b.cu": kernel, "own.h": "void cudaFree(int);\n"})
    kept = musify("convert", tree, "-o", tmp_path / "out", "--report", "text").out
    assert musify("convert", tree, "-i", "--report", "text").out == kept and "MUS222" in kept
    assert contents(tree) == contents(tmp_path / "out")


def test_in_place_an_original_and_a_link_to_it_are_both_given(tmp_path: Path) -> None:
    write(tmp_path, {"o.cpp": "cudaStream_t s;\n"})
    (tmp_path / "l.cpp").symlink_to("o.cpp")
    done = musify("convert", tmp_path / "o.cpp", tmp_path / "l.cpp", "-i")
    assert contents(tmp_path) == {"l.cpp": b"musaStream_t s;\n", "o.cpp": b"musaStream_t s;\n"}
    assert (tmp_path / "l.cpp").is_symlink() and "MUS901" not in done.err


def test_a_path_that_is_given_twice_is_one_file(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": "cudaStream_t s;\n"})
    done = musify("convert", tree / "a.cu", tree / "a.cu", "-o", tmp_path / "out")
    assert done.code == 0 and contents(tmp_path / "out") == {"a.mu": b"musaStream_t s;\n"}


def test_a_link_to_itself_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.cu").symlink_to("a.cu")
    for path in (tmp_path, tmp_path / "a.cu"):
        done = musify("check", path)
        assert done.code == 1 and "would change" in done.out  # its name


def test_in_place_what_cannot_be_put_in_its_place_is_a_finding(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": "cudaStream_t s;\n", "b.cu": "cudaStream_t s;\n", "a.mu/x": ""})
    done = musify("convert", tree / "a.cu", tree / "b.cu", "-i")
    assert "MUS901" in done.err and (tree / "b.mu").read_bytes() == b"musaStream_t s;\n"
    assert sorted(path.name for path in tree.iterdir()) == ["a.cu", "a.mu", "b.mu"]


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
