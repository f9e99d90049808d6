"""The shim headers: what they must not define and when, and that they undo every rename."""

from __future__ import annotations

from pathlib import Path

import pytest

from musify.headers.shim import PRELUDE, choices, shim_files, shim_names, write_shim
from musify.rules.book import RuleBook
from musify.rules.model import Action
from tests.commands import contents, musify, write
from tests.small_cuda import preprocessed, toolkit


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, rules: RuleBook) -> list[str]:
    """The arguments that put the shim and a small toolkit into the include path."""
    shim = tmp_path_factory.mktemp("shim")
    write_shim(shim, rules)
    cuda = toolkit(tmp_path_factory.mktemp("cuda"))
    return [f"-I{shim}", f"-I{cuda}", "-include", str(shim / PRELUDE)]


def ask(*names: str) -> str:
    """Source that says of each macro whether it exists."""
    return "BEGIN\n" + "".join(f"#ifdef {name}\nyes\n#else\nno\n#endif\n" for name in names)


# Source and what is left of it after the marker; the traps are those of the real headers.
CASES = {
    "no guard of a header is known before it": (ask("MUBLAS_API_H_", "MUFFT_FORWARD", "MUSART_VERSION"), "no no no"),
    "no guard of another header": ("#include <musa_runtime.h>\n" + ask("MUFFT_FORWARD"), "no"),
    "no device code on the host": ("#include <musa_runtime.h>\n" + ask("__MUSA_ARCH__", "__MUSACC__"), "no no"),
    "CUDA's own names stay": ("#include <cuda_runtime.h>\n" + ask("CUDART_VERSION") + "cudaFree", "yes cudaFree"),
    "a macro is known after its header": (
        "#include <mufft.h>\n" + ask("MUFFT_FORWARD") + "MUFFT_FORWARD\n",
        "yes -1",
    ),
    "a macro of a header that keeps its name": ("#include <math_constants.h>\nBEGIN MUSART_PI_F\n", "3.14f"),
    "a function": ("#include <musa_runtime.h>\nBEGIN musaFree(p)\n", "cudaFree(p)"),
    "a function that is a macro too": (
        "#define MUSA_API_PER_THREAD_DEFAULT_STREAM\n#include <musa_runtime.h>\nBEGIN musaMemcpy\n",
        "cudaMemcpy_ptds",
    ),
    "a macro that a header looks at": (
        "BEGIN\n#define __MUSA_NO_HALF_OPERATORS__\n#include <musa_fp16.h>\n",
        "int no_operators; struct __half {}; typedef __half nv_half;",
    ),
    "three headers that became one": ("#include <mublas.h>\nBEGIN mublasCreate\n", "cublasCreate_v2"),
    "qualified names": (
        "#include <musa/std/atomic>\n#include <mma.h>\nBEGIN musa::std::atomic a; mtmusa::wmma::fragment f;\n",
        "cuda::std::atomic a; nvcuda::wmma::fragment f;",
    ),
    "a type that CUDA has by both names": ("#include <musa_fp16.h>\nBEGIN __half h;\n", "__half h;"),
    "pasted names": ("#define CALL(x) musa##x\nBEGIN CALL(Free)(p)\n", "cudaFree(p)"),
}


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES.keys())
def test_preprocessed(tmp_path: Path, folders: list[str], source: str, expected: str) -> None:
    assert preprocessed(source, *folders, folder=tmp_path) == expected.split()


ARCHITECTURES = {350: 210, 690: 210, 700: 220, 880: 220, 890: 310, 900: 310, 1200: 310}


@pytest.mark.parametrize(("cuda", "musa"), ARCHITECTURES.items())
def test_architecture_follows_the_tiers(tmp_path: Path, folders: list[str], cuda: int, musa: int) -> None:
    source = "#include <musa_runtime.h>\nBEGIN __MUSA_ARCH__\n"
    assert preprocessed(source, f"-D__CUDA_ARCH__={cuda}", *folders, folder=tmp_path) == [str(musa)]


def test_architecture_is_forgotten_where_it_was_defined_for_a_while(tmp_path: Path, folders: list[str]) -> None:
    source = "#define __CUDA_ARCH__ 800\n#include <mufft.h>\n#undef __CUDA_ARCH__\n#include <mma.h>\n" + ask(
        "__MUSA_ARCH__"
    )
    assert preprocessed(source, *folders, folder=tmp_path) == ["no"]


def test_every_rename_is_undone(rules: RuleBook) -> None:
    names = shim_names(rules)
    back = {**names.plain, **names.macros}
    wrong = []
    for name in rules.all_names():
        rule = rules.name(name)
        if rule is None or rule.action is not Action.RENAME or rules.is_architecture_macro(name):
            continue
        if name in rule.library.one_way:
            continue
        parts = zip(name.split(b"::"), rule.target.split(b"::"), strict=True)
        wrong += [name for old, new in parts if names.merged.get(old, old) != back.get(new, new)]
    assert wrong == []


def test_every_renamed_header_leads_back(rules: RuleBook) -> None:
    files = shim_files(rules, shim_names(rules))
    renamed = [
        (path, rule) for path in rules.all_headers() if (rule := rules.header(path)) and rule.action is Action.RENAME
    ]
    assert len(renamed) > 200
    assert [path for path, rule in renamed if b"#include <" + path + b">" not in files[rule.target.decode()]] == []


def test_what_several_names_share_can_be_chosen(rules: RuleBook, tmp_path: Path, folders: list[str]) -> None:
    names = shim_names(rules)
    assert choices(rules, names, {b"cublas_v2.h", b"cublas.h", b"cudaFree"}) == []
    assert choices(rules, names, {b"cublas.h", b"CUBLAS_GEMM_DEFAULT_TENSOR_OP"}) == [
        "MUBLAS_GEMM_DEFAULT=CUBLAS_GEMM_DEFAULT_TENSOR_OP",
        "MUSIFY_SHIM_CUBLAS_H",
    ]
    source = "BEGIN\n#include <mublas.h>\nMUBLAS_GEMM_DEFAULT\n"
    words = [f"-D{word}" for word in choices(rules, names, {b"cublas.h", b"CUBLAS_GEMM_DEFAULT_TENSOR_OP"})]
    assert preprocessed(source, *words, *folders, folder=tmp_path)[-3:] == [
        "int",
        "cublasInit();",
        "CUBLAS_GEMM_DEFAULT_TENSOR_OP",
    ]


def test_a_conversion_leaves_the_shim_alone(tmp_path: Path, rules: RuleBook) -> None:
    write_shim(tmp_path, rules)
    done = musify("check", tmp_path, "-q", "--include", "musa*.h", "--include", "musify*.h")
    assert (done.code, done.out) == (0, "")


def test_written_by_the_command(tmp_path: Path, rules: RuleBook) -> None:
    assert musify("verify", "--write-shim", tmp_path / "shim").code == 0
    assert contents(tmp_path / "shim") == shim_files(rules, shim_names(rules))
    assert musify("verify", "--write-shim", tmp_path / "shim").code == 0


def test_no_file_of_others_is_written_over(tmp_path: Path) -> None:
    tree = write(tmp_path, {"include/musa.h": "int mine;\n"})
    done = musify("verify", "--write-shim", tree / "include")
    assert (
        done.code == 2
        and "musa.h: is there already" in done.err
        and contents(tree) == {"include/musa.h": b"int mine;\n"}
    )
    assert musify("verify", "--write-shim", tree / "include", "--force").code == 0


def test_own_rules_are_undone_too(tmp_path: Path) -> None:
    write(tmp_path, {"mine.toml": '[rename]\ncudaBrandNew = "musaBrandNew"\n'})
    assert musify("verify", "--write-shim", tmp_path / "shim", "--rules", tmp_path / "mine.toml").code == 0
    assert "#define musaBrandNew cudaBrandNew" in (tmp_path / "shim" / PRELUDE).read_text(encoding="utf-8")
