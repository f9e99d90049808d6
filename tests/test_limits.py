"""Limits: sizes are worked out where the source settles them; what it does not counts as nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from musify.checks._constants import constants
from musify.cli import cli
from musify.languages.cuda.unit import Unit
from musify.languages.surroundings import Surroundings
from musify.project.definitions import Definitions, definitions
from musify.rules.book import RuleBook
from tests.conftest import Convert

KIB = 1024


def shared(declarations: str, before: str = "") -> str:
    return f"{before}\n__global__ void k(int n) {{ {declarations} }}\n"


NOTHING = {
    "within the smallest limit": shared("__shared__ float a[7168];"),
    "dynamic": shared("extern __shared__ float a[];"),
    "a template's size": "template <int N> __global__ void k() { __shared__ float a[N]; }\n",
    "an unknown type": shared("__shared__ typename Reduce::TempStorage a;"),
    "a header's constant": shared("__shared__ float a[TILE][TILE];"),
    "a constant with two values": shared("__shared__ float a[N];", "#ifdef BIG\n#define N 16384\n#else\n#define N 16\n#endif"),
    "either of two branches": shared("\n#ifdef A\n__shared__ float a[4096];\n#else\n__shared__ float a[4097];\n#endif\n"),
    "a pointer to shared memory": shared("__shared__ float* a[100];"),
    "two kernels": shared("__shared__ float a[4096];") + shared("__shared__ float a[4096];"),
    "constant memory that fits": "__constant__ float a[2048];\n",
    "constant memory declared elsewhere": "extern __constant__ float a[4096];\n",
    "constant memory once in each branch": "#ifdef A\n__constant__ float a[2000];\n#else\n__constant__ float a[1000];\n#endif\n",
    "launch bounds of a block": "__global__ void __launch_bounds__(1024, 2) k() {}\n",
    "launch bounds of a template": "template <int N> __global__ void __launch_bounds__(N) k() {}\n",
    "a grid above 1024": "void f() { k<<<65536, 1024>>>(); }\n",
    "a grid's dim3": "void f() { dim3 g(64, 64), b(32, 32); k<<<g, b>>>(); }\n",
    "a block of 1024": "void f() { k<<<1, dim3(32, 32)>>>(); }\n",
    "dynamic memory that fits": "void f() { k<<<1, 32, 28 * 1024>>>(); }\n",
    "dynamic memory that changes": "void f() { int s = 65536; s /= 4; k<<<1, 32, s>>>(); }\n",
    "dynamic memory that is asked for": "void f(int s) { k<<<1, 32, s>>>(); }\n",
    "a shift, not a launch": "int f(int a) { return a << 2; }\n",
}  # fmt: skip


@pytest.mark.parametrize("source", NOTHING.values(), ids=NOTHING.keys())
def test_nothing_found(convert: Convert, source: str) -> None:
    assert convert(source).ids == []


FOUND = {
    "one array": ("MUS220", shared("__shared__ float a[7169];")),
    "the sum of several": ("MUS220", shared("__shared__ float a[4096]; __shared__ double b[2048];")),
    "several in one declaration": ("MUS220", shared("__shared__ float a[4096], b[4096];")),
    "in a device function": ("MUS220", "__device__ void f() { __shared__ float a[8192]; }\n"),
    "a function behind a macro": ("MUS220", "#define DEVICE __device__ __forceinline__\nDEVICE void f() { __shared__ float a[8192]; }\n"),
    "macros": ("MUS220", shared("__shared__ float a[T][T + 1];", "#define T (4 * U)\n#define U 32")),
    "constexpr": ("MUS220", shared("__shared__ float a[T * T];", "constexpr int T = 128;")),
    "an enumerator": ("MUS220", shared("__shared__ float a[B * 4096];", "enum Size { A = 2, B };")),
    "sizeof": ("MUS220", shared("__shared__ char a[sizeof(float4) * 2048];")),
    "a vector": ("MUS220", shared("__shared__ float4 a[2048];")),
    "half": ("MUS220", shared("__shared__ __half a[16384];")),
    "a struct": ("MUS220", shared("__shared__ S a[2048];", "struct S { double d; int i; char c[3]; };")),
    "a typedef": ("MUS220", shared("__shared__ real a[8192];", "typedef float real;")),
    "an alias": ("MUS220", shared("__shared__ real a[8192];", "using real = unsigned long long;")),
    "a type by macro": ("MUS220", shared("__shared__ real a[8192];", "#define real float")),
    "aligned": ("MUS220", shared("__shared__ __align__(16) float a[8192]; __shared__ alignas(alignof(float4)) float b[1];")),
    "constant memory": ("MUS221", "__constant__ float a[2049];\n"),
    "constant memory in sum": ("MUS221", "__constant__ float a[2000];\n__constant__ float b[2000];\n"),
    "constant memory by initialiser": ("MUS221", "__constant__ float a[2048];\nstatic __constant__ int b[] = {1, 2, 3};\n"),
    "launch bounds": ("MUS222", "#define N 2048\n__global__ void __launch_bounds__(N) k() {}\n"),
    "a block of more": ("MUS222", "void f() { k<<<1, 2048>>>(); }\n"),
    "a block by dim3": ("MUS222", "void f() { dim3 b(32, 32, 2); k<<<1, b>>>(); }\n"),
    "a block by dim3 in place": ("MUS222", "void f() { k<<<1, dim3(64, 32)>>>(); }\n"),
    "dynamic memory": ("MUS223", "void f() { k<<<1, 32, 48 * 1024>>>(); }\n"),
    "dynamic memory by variable": ("MUS223", "void f() { size_t s = 12288 * sizeof(float); k<<<1, 32, s>>>(); }\n"),
    "dynamic memory by configuration": ("MUS223", "void f(cudaLaunchConfig_t c) { c.dynamicSmemBytes = 98304; }\n"),
}  # fmt: skip


@pytest.mark.parametrize(("finding", "source"), FOUND.values(), ids=FOUND.keys())
def test_found(convert: Convert, finding: str, source: str) -> None:
    assert [item for item in convert(source).ids if item != "MUS102"] == [finding]


def test_attribute_has_its_value_reported_beside_its_known_issue(convert: Convert) -> None:
    source = "void f() { cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304); }\n"
    assert sorted(convert(source).ids) == ["MUS103", "MUS223"]
    assert convert(source, architectures=("mp_31",)).ids == ["MUS103"]


@pytest.mark.parametrize(("kib", "over"), [(28, []), (29, ["mp_21"]), (73, ["mp_21", "mp_22"])])
def test_limits_by_architecture(convert: Convert, kib: int, over: list[str]) -> None:
    source = shared(f"__shared__ char a[{kib * KIB}];")
    for architecture in ("mp_21", "mp_22", "mp_31"):
        assert convert(source, architectures=(architecture,)).ids == (["MUS220"] if architecture in over else [])


def test_constant_memory_is_known_of_mp_31_only(convert: Convert) -> None:
    assert convert("__constant__ float a[4096];\n", architectures=("mp_21", "mp_22")).ids == []


EXPRESSIONS = {
    b"1 << 10": 1024, b"(int)8 * 2": 16, b"sizeof(double) * 3": 24, b"static_cast<int>(5) % 3": 2, b"N / 2": 21,
    b"sizeof(float3)": 12, b"sizeof(unsigned long long)": 8, b"sizeof(P)": 16, b"2.5 * 2": None, b"n": None,
    b"f(3)": None, b"LOOP": None, b"sizeof(Unknown)": None, b"1 / 0": None,
}  # fmt: skip


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS.items(), ids=[text.decode() for text in EXPRESSIONS])
def test_constant_expressions(rules: RuleBook, expression: bytes, value: int | None) -> None:
    source = b"#define N 42\n#define LOOP (LOOP + 1)\nstruct P { char c; double d; };\nint n = 5;\n"
    assert constants(Unit(source, rules)).value(expression) == value


def test_constants_of_included_headers(convert: Convert) -> None:
    source = shared("__shared__ float a[TILE][TILE];")
    around = Surroundings("k.cu", constants=lambda: {b"TILE": b"(1 << 7)"})
    assert convert(source, surroundings=around).ids == ["MUS220"]
    template = "template <int TILE> __global__ void k() { __shared__ float a[TILE][TILE]; }\n"
    assert convert(template, surroundings=around).ids == []


def test_definitions_of_a_header() -> None:
    header = b"#pragma once\n#define A 16 // lanes\n#define B (A * 2)\n#define F(x) x\nstatic constexpr int C = 3;\ntypedef float R;\n"
    assert definitions(header) == {b"A": b"16", b"B": b"(A * 2)", b"C": b"3", b"R": b"float"}
    assert definitions(b"#ifdef X\n#define A 1\n#else\n#define A 2\n#endif\n") == {b"A": b""}


def test_definitions_of_several_headers() -> None:
    files = {"a.h": b"#define A 1\n#define B 2\n", "b.h": b"#define A 1\n#define B 3\n"}
    assert Definitions(files.__getitem__).of(files) == {b"A": b"1"}


def test_constants_over_files(tmp_path: Path) -> None:
    (tmp_path / "sizes.h").write_text("#define TILE 128\n")
    (tmp_path / "k.cu").write_text('#include "sizes.h"\n' + shared("__shared__ float a[TILE][TILE];"))
    result = CliRunner().invoke(cli, ["check", str(tmp_path)])
    assert "MUS220" in result.output
