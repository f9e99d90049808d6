"""The styles of PyTorch's C++: each changes what it is about and nothing else, and one is the default."""

from __future__ import annotations

from pathlib import Path

import pytest

from musify.model import Evidence, MusifyError
from musify.rules import book
from musify.rules.book import RuleBook
from musify.rules.styles import styles
from tests.commands import musify, write
from tests.conftest import Convert

pytestmark = pytest.mark.usefixtures("own_state")

HEAD = "#include <torch/extension.h>\n"


@pytest.fixture(scope="module")
def device() -> RuleBook:
    return book.load(torch_styles=["kMUSA"])


UNCHANGED_BY_THE_STYLE = {
    "a dispatch key": "auto k = c10::DispatchKey::CUDA;\n",
    "a device type": "auto t = at::DeviceType::CUDA;\n",
    "a registration": "TORCH_LIBRARY_IMPL(a, CUDA, m) {}\n",
    "a test": "bool f(at::Tensor x) { return x.is_cuda(); }\n",
    "a function": "auto s = at::cuda::getCurrentCUDAStream();\n",
    "another's name": "auto k = mine::kCUDA;\n",
}  # fmt: skip


@pytest.mark.parametrize("source", UNCHANGED_BY_THE_STYLE.values(), ids=UNCHANGED_BY_THE_STYLE.keys())
def test_what_it_is_not_about(convert: Convert, device: RuleBook, source: str) -> None:
    assert convert(HEAD + source, own=device).text == convert(HEAD + source).text


DEVICES = {
    "at::kCUDA": ("at::kPrivateUse1", "at::musa::kMUSA"),
    "::torch::kCUDA": ("::torch::kPrivateUse1", "at::musa::kMUSA"),
    "kCUDA": ("kPrivateUse1", "at::musa::kMUSA"),
    "x.cuda()": ("x.to(at::kPrivateUse1)", "x.to(at::musa::kMUSA)"),
}


@pytest.mark.parametrize(("before", "after"), DEVICES.items())
def test_device(convert: Convert, device: RuleBook, before: str, after: tuple[str, str]) -> None:
    source = f"{HEAD}void f(at::Tensor x) {{ use({before}); }}\n"
    found = [convert(source, own=rules) for rules in (None, device)]
    assert [item.text for item in found] == [f"{HEAD}void f(at::Tensor x) {{ use({text}); }}\n" for text in after]
    assert [item.ids for item in found] == [[], []]


def test_a_macro_cannot_make_the_alias(convert: Convert, device: RuleBook) -> None:
    source = HEAD + "#define R(key, d) add(key, at::k##d)\nR(1, CUDA);\n"
    result = convert(source, own=device)
    assert result.text == source and result.ids == ["MUS113"]


def test_headers(convert: Convert) -> None:
    rules = book.load(torch_styles=["ATen"])
    source = "#include <ATen/cuda/CUDAContext.h>\n#include <ATen/cuda/Atomic.cuh>\n#include <c10/cuda/CUDAGuard.h>\n"
    result = convert(source, own=rules)
    assert result.text == (
        "#include <ATen/musa/MUSAContext.h>\n#include <ATen/musa/Atomic.muh>\n#include <torch_musa/csrc/core/MUSAGuard.h>\n"
    )
    assert result.ids == ["MUS102"]  # the one that was seen is not reported


def test_rules_of_the_users_win(convert: Convert, tmp_path: Path) -> None:
    own = write(tmp_path, {"own.toml": '[rename]\nkCUDA = "kMine"\nAT_CUDA_CHECK = "C10_MUSA_CHECK"\n'}) / "own.toml"
    result = convert(HEAD + "void f() { AT_CUDA_CHECK(kCUDA); }\n", own=book.load([own], ["kMUSA"]))
    assert result.text == HEAD + "void f() { C10_MUSA_CHECK(kMine); }\n" and result.ids == []


def test_command_and_configuration(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cpp": HEAD + "auto d = at::kCUDA;\n"})
    assert "kPrivateUse1" in musify("convert", tree, "-q").out
    assert "at::musa::kMUSA" in musify("convert", tree, "-q", "--torch-style", "kMUSA").out
    for key in ("torch-style", "torch_style"):
        (tree / "musify.toml").write_text(f'{key} = ["kMUSA"]\n', encoding="utf-8")
        assert "at::musa::kMUSA" in musify("convert", tree / "a.cpp", "-q").out


def test_a_style_that_there_is_not(tmp_path: Path) -> None:
    done = musify("convert", write(tmp_path, {"a.cpp": HEAD}), "--torch-style", "MUSA")
    assert done.code == 2
    assert done.err.strip().endswith("torch style 'MUSA': there is no such style; known are ATen, kMUSA")


def test_two_styles_about_one_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = (styles()[0], styles()[0]._replace(name="other"))
    monkeypatch.setattr("musify.rules.styles.styles", lambda: twice)
    with pytest.raises(MusifyError, match="kMUSA and other exclude each other: both are about the device"):
        book.load(torch_styles=["kMUSA", "other"])


@pytest.mark.parametrize("style", styles(), ids=lambda style: style.name)
def test_each_says_what_it_rests_on(style: object) -> None:
    from musify.rules.styles import Style

    assert isinstance(style, Style)
    assert style.source and style.summary_zh and style.default_zh
    assert style.evidence in (Evidence.CODE, Evidence.DOCUMENTED) or style.attested
