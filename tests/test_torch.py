"""PyTorch's C++ API: names, namespaces, headers, devices."""

from __future__ import annotations

import pytest

from tests.conftest import Convert

HEAD = "#include <torch/extension.h>\n"
UNCHANGED = {
    "no PyTorch in the file": "void f(CUDAGuard g) { kCUDA; x.is_cuda(); }\n",
    "a member": HEAD + "int a = x.kCUDA + p->CUDAGuard;\n",
    "another's namespace": HEAD + "mine::CUDAGuard g; mine::kCUDA;\n",
    "the project's own": HEAD + "struct CUDAGuard {};\nCUDAGuard g;\n",
    "a longer name": HEAD + "int my_is_cuda(); bool b = not_is_cuda(); kCUDAX k;\n",
    "a function of the same name": HEAD + "bool is_cuda(int);\nbool b = is_cuda(1);\n",
    "text": HEAD + 'TORCH_CHECK(ok, "x must be a CUDA tensor, not cuda:0");\n// at::cuda::getCurrentCUDAStream\n',
    "an enumeration of the project's": HEAD + "enum class Kind { CUDA };\nKind k = Kind::CUDA;\n",
    "a string that is no device": HEAD + 'load("cuda"); std::string s = "cuda:0";\n',
}  # fmt: skip


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(convert: Convert, source: str) -> None:
    assert convert(source).text == source


CHANGED = {
    "at::cuda::getCurrentCUDAStream()": "at::musa::getCurrentMUSAStream()",
    "::at::cuda::getCurrentCUDAStream().stream()": "::at::musa::getCurrentMUSAStream().stream()",
    "c10::cuda::CUDAGuard g(d)": "c10::musa::MUSAGuard g(d)",
    "using namespace at::cuda": "using namespace at::musa",
    "using at::cuda::CUDAStream": "using at::musa::MUSAStream",
    "at::PhiloxCudaState s": "at::PhiloxMusaState s",
    "torch::empty({1}, torch::kCUDA)": "torch::empty({1}, torch::kPrivateUse1)",
    "t.device().is_cuda() && p->is_cuda()": "t.device().is_privateuseone() && p->is_privateuseone()",
    "c10::DeviceType::CUDA": "c10::DeviceType::PrivateUse1",
    "c10::DispatchKey::AutogradCUDA": "c10::DispatchKey::AutogradPrivateUse1",
    'torch::Device d("cuda:1")': 'torch::Device d("musa:1")',
    'x.to("cuda")': 'x.to("musa")',
    'at::Device("cuda")': 'at::Device("musa")',
    "C10_CUDA_CHECK(cudaGetLastError())": "C10_MUSA_CHECK(musaGetLastError())",
    "AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"f\", [&] {})": "AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"f\", [&] {})",
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), CHANGED.items(), ids=CHANGED.keys())
def test_changed(convert: Convert, before: str, after: str) -> None:
    assert convert(f"{HEAD}void f() {{ {before}; }}\n").text == f"{HEAD}void f() {{ {after}; }}\n"


def test_file_with_nothing_but_a_device_test_is_looked_at(convert: Convert) -> None:
    source = HEAD + "void f(at::Tensor x) { TORCH_CHECK(x.is_cuda()); }\n"
    assert ".is_privateuseone()" in convert(source).text


def test_header_paths(convert: Convert) -> None:
    source = "#include <ATen/cuda/CUDAContext.h>\n#include <c10/cuda/CUDAGuard.h>\n#include <ATen/ATen.h>\n"
    assert convert(source).text == (
        "#include <torch_musa/csrc/aten/musa/MUSAContext.h>\n#include <torch_musa/csrc/core/MUSAGuard.h>\n"
        "#include <ATen/ATen.h>\n"
    )
    assert convert("#include <ATen/cuda/Sleep.h>\n").ids == ["MUS114"]


def test_what_is_not_attested_is_said(convert: Convert) -> None:
    assert convert(HEAD + "void f() { C10_CUDA_KERNEL_LAUNCH_CHECK(); }\n").ids == ["MUS102"]
    assert convert(HEAD + "auto s = at::cuda::getCurrentCUDAStream();\n").ids == []
