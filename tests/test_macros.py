"""Names that macros paste together."""

from __future__ import annotations

import pytest

from musify.languages.cuda.macros import pasting_macros
from musify.languages.surroundings import Surroundings
from musify.source.outline import Outline
from tests.conftest import Convert

UNCHANGED = {
    "pastes the user's names": "#define F(x) cu##x\nint F(be) = 1;",
    "prefix in the middle": "#define F(x) my_##cuda##x\nF(Malloc)();",
    "stringised": "#define F(x) #x\nconst char* s = F(nothing);",
    "user prefix": "#define F(x) mine##x\nF(Malloc)();",
    "argument that pastes to no API": "#define CAT(a, b) a##b\nint CAT(cuda, _thing) = 1;",
    "prefix longer than any name": "#define F(x) cudaQqq##x\nF(Malloc)();",
}


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(convert: Convert, source: str) -> None:
    assert convert(source).text == source


RENAMED = {
    "literal prefix": ("#define RT(n) cuda##n\nRT(Free)(p);", "#define RT(n) musa##n\nRT(Free)(p);"),
    "driver prefix": ("#define D(n) cu##n\nD(Init)(0);", "#define D(n) mu##n\nD(Init)(0);"),
    "prefix in the middle of a name": ("#define G(t) cublas##t##gemm\nG(S)(h);", "#define G(t) mublas##t##gemm\nG(S)(h);"),
    "enumerators": ("#define K(n) CUDA_R_##n\nint k = K(16F);", "#define K(n) MUSA_R_##n\nint k = K(16F);"),
    "longer prefix": ("#define C(n) cudaMemcpy##n\nint k = C(HostToDevice);", "#define C(n) musaMemcpy##n\nint k = C(HostToDevice);"),
    "prefix handed over": ("#define CALL(p, n) p##n\nCALL(cuda, Free)(x); CALL(mine, Free)(x);",
                           "#define CALL(p, n) p##n\nCALL(musa, Free)(x); CALL(mine, Free)(x);"),
    "handed on through a second macro": ("#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)\nCAT(cuda, Free)(x);",
                                         "#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)\nCAT(musa, Free)(x);"),
    "literal handed on in a body": ("#define CAT(a, b) a##b\n#define RT(n) CAT(cuda, n)\nRT(Free)(x);",
                                    "#define CAT(a, b) a##b\n#define RT(n) CAT(musa, n)\nRT(Free)(x);"),
    "over two lines": ("#define RT(n) \\\n  cuda##n\nRT(Free)(p);", "#define RT(n) \\\n  musa##n\nRT(Free)(p);"),
    "blanks around ##": ("#define RT(n) cuda ## n\nRT(Free)(p);", "#define RT(n) musa ## n\nRT(Free)(p);"),
    "no call in the file": ("#define RT(n) cuda##n\n", "#define RT(n) musa##n\n"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), RENAMED.values(), ids=RENAMED.keys())
def test_renamed(convert: Convert, source: str, expected: str) -> None:
    assert convert(source).text == expected
    assert convert(expected).text == expected


def test_names_made_are_listed(convert: Convert) -> None:
    result = convert("#define RT(n) cuda##n\nRT(Malloc)(p, 8); RT(Free)(p);")
    finding = next(item for item in result.conversion.findings if item.rule_id == "MUS112")
    assert finding.arguments["names"] == "cudaFree, cudaMalloc"


def test_name_against_the_convention_is_an_error(convert: Convert) -> None:
    result = convert("#define M(n) CUBLAS_##n\nint a = M(TF32_TENSOR_OP_MATH), b = M(OP_N);")
    assert result.ids == ["MUS112", "MUS113"]


def test_macro_of_another_file(convert: Convert) -> None:
    macros = pasting_macros(Outline(b"#define CALL(p, n) p##n\n"))
    source = '#include "call.h"\nvoid f(void* x) { CALL(cuda, Free)(x); }'
    result = convert(source, surroundings=Surroundings("t.cu", macros=macros))
    assert result.text == source.replace("cuda,", "musa,")


OTHERS = {
    "library of another shape": ("#define API(n) cudnn##n\nvoid f() { API(Create)(&h); }", ["MUS113", "MUS401"]),
    "pasted name that is on no list": (
        "#define RT(n) cuda##n\nvoid f() { RT(Free)(p); RT(BrandNew)(); }",
        ["MUS101", "MUS112"],
    ),
    "API name pasted into the project's": ("#define W(x) my_##x\nvoid f() { W(cudaMalloc)(1); }", ["MUS118"]),
    "internal prefix": ("#define R(x) __cuda##x\nvoid f() { R(RegisterFatBinary)(); }", ["MUS101", "MUS112"]),
}


@pytest.mark.parametrize(("source", "ids"), OTHERS.values(), ids=OTHERS.keys())
def test_findings_of_pastes(convert: Convert, source: str, ids: list[str]) -> None:
    assert sorted(set(convert(source).ids) - {"MUS102"}) == ids


OWN = {
    "one in every branch": (
        "#ifdef A\n#define CUDART_CB x\n#else\n#define CUDART_CB\n#endif\nvoid CUDART_CB f();\n",
        None,
    ),
    "one in every branch, nested": (
        "#if A\n#define CUDART_CB x\n#else\n#if B\n#define CUDART_CB\n#else\n#define CUDART_CB y\n#endif\n#endif\nvoid CUDART_CB f();\n",
        None,
    ),
    "a branch without one": (
        "#if A\n#define CUDART_CB x\n#elif B\n#define CUDART_CB\n#endif\nvoid CUDART_CB f();\n",
        "#if A\n#define CUDART_CB x\n#elif B\n#define CUDART_CB\n#endif\nvoid MUSART_CB f();\n",
    ),
    "used where it is defined, and elsewhere": (
        "#ifdef A\n#define CUDART_CB x\nvoid CUDART_CB f();\n#endif\nvoid CUDART_CB g();\n",
        "#ifdef A\n#define CUDART_CB x\nvoid CUDART_CB f();\n#endif\nvoid MUSART_CB g();\n",
    ),
    "given where it is missing": (
        "#if !defined(CUDART_CB) // old\n#define CUDART_CB\n#endif\nvoid CUDART_CB g();\n",
        "#if !defined(MUSART_CB) // old\n#define MUSART_CB\n#endif\nvoid MUSART_CB g();\n",
    ),
    "given where it is missing, and otherwise too": (
        "#ifdef A\n#define CUDART_CB x\n#endif\n#ifndef CUDART_CB\n#define CUDART_CB\n#endif\nvoid CUDART_CB g();\n",
        "#ifdef A\n#define MUSART_CB x\n#endif\n#ifndef MUSART_CB\n#define MUSART_CB\n#endif\nvoid MUSART_CB g();\n",
    ),
    "inside an include guard": (
        "#ifndef MY_H\n#define MY_H\n#define CUDART_CB x\nvoid CUDART_CB f();\n#endif\n",
        None,
    ),
}


@pytest.mark.parametrize(("source", "expected"), OWN.values(), ids=OWN.keys())
def test_macros_of_the_project(convert: Convert, source: str, expected: str | None) -> None:
    assert convert(source).text == (expected or source)
