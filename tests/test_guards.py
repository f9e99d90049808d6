"""Preprocessor guards: architecture thresholds and version numbers."""

from __future__ import annotations

import pytest

from musify.source.conditions import NotAnExpression, evaluate, parse
from musify.source.lexer import significant
from tests.conftest import Convert


def guarded(condition: str) -> str:
    return f"#if {condition}\nint a;\n#endif\n"


UNCHANGED = {
    "exact architecture": "__CUDA_ARCH__ == 700",
    "all but one architecture": "__CUDA_ARCH__ != 610",
    "above every card": "__CUDA_ARCH__ >= 1000",
    "above every card, guarded": "defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000",
    "beyond the last tier": "__CUDA_ARCH__ > 900",
    "threshold is a macro": "__CUDA_ARCH__ >= MY_ARCH",
    "arithmetic": "__CUDA_ARCH__ / 100 >= 8",
    "version comparison": "CUDA_VERSION >= 12080",
    "guarded version comparison": "defined(CUDART_VERSION) && CUDART_VERSION >= 11000",
    "version comparison, negated": "!(CUDART_VERSION < 11000)",
    "version in arithmetic": "CUDA_VERSION / 1000 == 12",
    "compiler version": "__CUDACC_VER_MAJOR__ >= 12",
    "NCCL version": "NCCL_VERSION_CODE >= NCCL_VERSION(2, 7, 0)",
    "cuDNN version": "CUDNN_VERSION >= 8000",
    "not CUDA's": "MY_CUDA_ARCH >= 800 && defined(FOO)",
    "MUSA's own": "__MUSA_ARCH__ >= 220",
}


@pytest.mark.parametrize("condition", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(convert: Convert, condition: str) -> None:
    assert convert(guarded(condition)).text == guarded(condition)


CARRIED = {
    "fp16 tier": ("__CUDA_ARCH__ >= 530", "__MUSA_ARCH__ >= 210"),
    "before fp16": ("__CUDA_ARCH__ >= 350", "__MUSA_ARCH__ >= 210"),
    "just below Volta": ("__CUDA_ARCH__ >= 620", "__MUSA_ARCH__ >= 210"),
    "Volta": ("__CUDA_ARCH__ >= 700", "__MUSA_ARCH__ >= 220"),
    "Ampere": ("__CUDA_ARCH__ >= 800", "__MUSA_ARCH__ >= 220"),
    "Ampere 8.6": ("__CUDA_ARCH__ >= 860", "__MUSA_ARCH__ >= 220"),
    "Ada": ("__CUDA_ARCH__ >= 890", "__MUSA_ARCH__ >= 310"),
    "Hopper": ("__CUDA_ARCH__ >= 900", "__MUSA_ARCH__ >= 310"),
    "less": ("__CUDA_ARCH__ < 800", "__MUSA_ARCH__ < 220"),
    "greater means the next card": ("__CUDA_ARCH__ > 800", "__MUSA_ARCH__ >= 220"),
    "greater than Ada": ("__CUDA_ARCH__ > 860", "__MUSA_ARCH__ >= 220"),
    "at most": ("__CUDA_ARCH__ <= 750", "__MUSA_ARCH__ < 220"),
    "mirrored": ("800 <= __CUDA_ARCH__", "220 <= __MUSA_ARCH__"),
    "mirrored and strict": ("700 < __CUDA_ARCH__", "220 <= __MUSA_ARCH__"),
    "defined": ("defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 800)", "defined(__MUSA_ARCH__) && (__MUSA_ARCH__ >= 220)"),
    "defined without parentheses": ("defined __CUDA_ARCH__ && __CUDA_ARCH__ < 700", "defined __MUSA_ARCH__ && __MUSA_ARCH__ < 220"),
    "not defined or": ("!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 530", "!defined(__MUSA_ARCH__) || __MUSA_ARCH__ >= 210"),
    "a range": ("__CUDA_ARCH__ >= 700 && __CUDA_ARCH__ < 900", "__MUSA_ARCH__ >= 220 && __MUSA_ARCH__ < 310"),
    "constant expression": ("__CUDA_ARCH__ >= (80 * 10)", "__MUSA_ARCH__ >= (220)"),
    "device code at all": ("__CUDA_ARCH__ > 0", "__MUSA_ARCH__ > 0"),
    "truth": ("!__CUDA_ARCH__ || FOO", "!__MUSA_ARCH__ || FOO"),
    "existence": ("defined(__CUDACC__) && !defined(__CUDA_ARCH__)", "defined(__MUSACC__) && !defined(__MUSA_ARCH__)"),
    "nvcc": ("defined(__NVCC__)", "defined(__MUSACC__)"),
    "version existence": ("defined(CUDART_VERSION)", "defined(MUSART_VERSION)"),
    "one part carried, one left": ("__CUDA_ARCH__ >= 530 && __CUDA_ARCH__ != 610", "__MUSA_ARCH__ >= 210 && __CUDA_ARCH__ != 610"),
    "with a comment": ("__CUDA_ARCH__ /* sm */ >= 800 // Ampere", "__MUSA_ARCH__ /* sm */ >= 220 // Ampere"),
    "over two lines": ("defined(__CUDA_ARCH__) && \\\n    __CUDA_ARCH__ >= 800", "defined(__MUSA_ARCH__) && \\\n    __MUSA_ARCH__ >= 220"),
    "with a version that stays": ("__CUDA_ARCH__ >= 800 && CUDA_VERSION >= 11000", "__MUSA_ARCH__ >= 220 && CUDA_VERSION >= 11000"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), CARRIED.values(), ids=CARRIED.keys())
def test_carried(convert: Convert, before: str, after: str) -> None:
    assert convert(guarded(before)).text == guarded(after)
    assert convert(guarded(after)).text == guarded(after)


def test_every_threshold_is_reported(convert: Convert) -> None:
    assert convert(guarded("__CUDA_ARCH__ >= 700 && __CUDA_ARCH__ < 900")).ids == ["MUS301", "MUS301"]
    assert convert(guarded("__CUDA_ARCH__ == 700")).ids == ["MUS302"]
    assert convert(guarded("CUDA_VERSION >= 12000 && CUDA_VERSION < 13000")).ids == ["MUS303"]


IN_CODE = {
    "if constexpr": ("if constexpr (__CUDA_ARCH__ >= 800) f();", "if constexpr (__MUSA_ARCH__ >= 220) f();"),
    "macro": ("#define OK (__CUDA_ARCH__ >= 800)", "#define OK (__MUSA_ARCH__ >= 220)"),
    "template argument": ("f<__CUDA_ARCH__>();", "f<__MUSA_ARCH__>();"),
    "calculation": ("int k = __CUDA_ARCH__ / 10;", "int k = __MUSA_ARCH__ / 10;"),
    "version as a value": ("int v = CUDART_VERSION / 1000;", "int v = MUSART_VERSION / 1000;"),
    "version comparison in code stays": (
        "bool b = CUDART_VERSION >= 11000;",
        "bool b = CUDART_VERSION >= 11000;",
    ),
    "version comparison in a macro stays": (
        "#define B (CUDA_VERSION >= 11000)",
        "#define B (CUDA_VERSION >= 11000)",
    ),
}


@pytest.mark.parametrize(("before", "after"), IN_CODE.values(), ids=IN_CODE.keys())
def test_in_code(convert: Convert, before: str, after: str) -> None:
    result = convert(before)
    assert result.text == after
    assert result.ids


def test_finding_says_which_branch(convert: Convert) -> None:
    source = "#if CUDA_VERSION >= 12000\nint a;\n#elif CUDA_VERSION < 9000\nint b;\n#else\nint c;\n#endif\n"
    branches = [finding.arguments["branch"] for finding in convert(source).conversion.findings]
    assert branches == ["MUSA skips this branch for the #elif in line 3", "MUSA takes this branch"]


EVALUATED = {
    "1 + 2 * 3 == 7": 1,
    "(1 || X) && !0": 1,
    "0 && X": 0,
    "X || 0": None,
    "defined(A) && A > 3": 1,
    "defined B": 0,
    "B + 1": 1,
    "1 ? 2 : X": 2,
    "-7 / 2": -3,
    "-7 % 3": -1,
    "0x10 << 1": 32,
    "010": 8,
    "5 / 0": None,
    "~0 & 0xff": 255,
    "'A' == 65": 1,
    "__has_include(<x.h>)": None,
    "3 > 2 > 1": 0,
}


@pytest.mark.parametrize(("text", "value"), EVALUATED.items(), ids=EVALUATED.keys())
def test_evaluation(text: str, value: int | None) -> None:
    data = text.encode()
    assert evaluate(parse(data, significant(data)), {b"A": 4, b"B": None}) == value


@pytest.mark.parametrize("text", ["", "1 +", "(1", "1 1", "defined(", "&& 2", "1 ? 2", "@"])
def test_no_expression(text: str) -> None:
    data = text.encode()
    with pytest.raises(NotAnExpression):
        parse(data, significant(data))


CAPABILITY = {
    "another struct": ("void f(Version v) { if (v.major >= 8) g(); }", []),
    "printed only": ('void f(cudaDeviceProp p) { printf("%d.%d", p.major, p.minor); }', []),
    "assigned only": ("void f(cudaDeviceProp p) { p.major = 0; }", []),
    "never true": ("bool f(cudaDeviceProp p) { return p.major >= 8; }", ["MUS306"]),
    "once a statement": (
        "bool f(cudaDeviceProp p) { return p.major > 3 || (p.major == 3 && p.minor >= 5); }",
        ["MUS306"],
    ),
    "through a pointer": (
        "auto p = at::cuda::getCurrentDeviceProperties();\nbool b = p->major == 9;",
        ["MUS102", "MUS306"],
    ),
    "calculation": ("int f(cudaDeviceProp p) { return (p.major << 4) + p.minor; }", ["MUS307"]),
    "attribute": ("cudaDeviceGetAttribute(&m, cudaDevAttrComputeCapabilityMajor, 0);", ["MUS103"]),
}


@pytest.mark.parametrize(("source", "ids"), CAPABILITY.values(), ids=CAPABILITY.keys())
def test_compute_capability(convert: Convert, source: str, ids: list[str]) -> None:
    assert convert(source).ids == ids


def test_capability_says_where_it_holds(convert: Convert) -> None:
    result = convert("bool f(cudaDeviceProp p) { return p.major >= 3; }")
    finding = next(item for item in result.conversion.findings if item.rule_id == "MUS306")
    assert finding.arguments["outcome"] == "true on mp_31 and false on mp_21, mp_22"
    assert convert("bool f(cudaDeviceProp p) { return p.major >= 2; }").conversion.findings[0].severity is not None


TAKEN = {
    "__CUDA_ARCH__ >= 800": "taken on mp_22, mp_31, not on mp_21",
    "__CUDA_ARCH__ >= 530": "taken on every target (mp_21, mp_22, mp_31)",
    "__CUDA_ARCH__ < 530": "taken on no target",
    "__CUDA_ARCH__ >= 900 && USE_TMA": "whether it is taken depends on other macros too",
    "!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900": "taken on mp_31, not on mp_21, mp_22",
}


@pytest.mark.parametrize(("condition", "taken"), TAKEN.items(), ids=TAKEN.keys())
def test_threshold_says_which_targets_take_it(convert: Convert, condition: str, taken: str) -> None:
    finding = next(item for item in convert(guarded(condition)).conversion.findings if item.rule_id == "MUS301")
    assert finding.arguments["taken"] == taken


def test_threshold_macro_is_resolved(convert: Convert) -> None:
    result = convert("#define CC_VOLTA 700\n#if __CUDA_ARCH__ >= CC_VOLTA\n#endif\n")
    assert result.conversion.findings[0].arguments["reason"] == "the threshold is a macro, 700 here"


FEATURE_MACROS = {
    "half operators": ("#undef __CUDA_NO_HALF_OPERATORS__", "#undef __MUSA_NO_HALF_OPERATORS__"),
    "run-time compiler": ("#ifdef __CUDACC_RTC__\n#endif", "#ifdef __MUSACC_RTC__\n#endif"),
}


@pytest.mark.parametrize(("source", "expected"), FEATURE_MACROS.values(), ids=FEATURE_MACROS.keys())
def test_feature_macros(convert: Convert, source: str, expected: str) -> None:
    assert convert(source).text == expected


def test_deep_nesting_is_reported_not_fatal(convert: Convert) -> None:
    source = "#if " + "(" * 3000 + "__CUDA_ARCH__ >= 800" + ")" * 3000 + "\n#endif\ncudaStream_t s;\n"
    result = convert(source)
    assert result.ids == ["MUS302"] and result.text.endswith("musaStream_t s;\n")


def test_a_long_condition_is_reported_not_fatal(convert: Convert) -> None:
    result = convert("#if " + "__CUDA_ARCH__ >= 800 && " * 3000 + "1\n#endif\ncudaStream_t s;\n")
    assert result.ids == ["MUS302"] and result.text.endswith("musaStream_t s;\n")


OWN_MACROS = {
    "version with a fallback": "#ifndef CUDA_VERSION\n#define CUDA_VERSION 11000\n#endif\nint v = CUDA_VERSION / 1000;\n",
    "architecture with a fallback": "#ifndef __CUDA_ARCH__\n#define __CUDA_ARCH__ 0\n#endif\n#if __CUDA_ARCH__ >= 800\n#endif\n",
}


@pytest.mark.parametrize("source", OWN_MACROS.values(), ids=OWN_MACROS.keys())
def test_macro_that_the_file_defines_itself(convert: Convert, source: str) -> None:
    assert convert(source).text == source


TEMPLATES = {
    "default argument": (
        "template <int arch = __CUDA_ARCH__> struct X;",
        "template <int arch = __MUSA_ARCH__> struct X;",
    ),
    "first argument": ("X<__CUDA_ARCH__ / 10> y;", "X<__MUSA_ARCH__ / 10> y;"),
}


@pytest.mark.parametrize(("source", "expected"), TEMPLATES.values(), ids=TEMPLATES.keys())
def test_template_arguments_are_no_comparisons(convert: Convert, source: str, expected: str) -> None:
    assert convert(source).text == expected
