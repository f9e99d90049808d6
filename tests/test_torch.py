"""PyTorch's C++ API: names, namespaces, headers, devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from musify.languages.surroundings import Surroundings
from tests.commands import contents, musify, write
from tests.conftest import Convert

HEAD = "#include <torch/extension.h>\n"
UNCHANGED = {
    "no PyTorch in the file": "void f(CUDAGuard g) { kCUDA; x.is_cuda(); }\n",
    "another's namespace that ends so": "void f() { Format::x; kCUDA; x.is_cuda(); CUDAGuard g; float::y; }\n",
    "a member": HEAD + "int a = x.kCUDA + p->CUDAGuard;\n",
    "another's namespace": HEAD + "mine::CUDAGuard g; mine::kCUDA;\n",
    "the project's own": HEAD + "struct CUDAGuard {};\nCUDAGuard g;\n",
    "a longer name": HEAD + "int my_is_cuda(); bool b = not_is_cuda(); kCUDAX k;\n",
    "a function of the same name": HEAD + "bool is_cuda(int);\nbool b = is_cuda(1);\n",
    "text": HEAD + 'TORCH_CHECK(ok, "x must be a CUDA tensor, not cuda:0");\n// at::cuda::getCurrentCUDAStream\n',
    "an enumeration of the project's": HEAD + "enum class Kind { CUDA };\nKind k = Kind::CUDA;\n",
    "a device in an enumeration": HEAD + "enum class Kind { CPU, CUDA, XPU };\nvoid f(Kind CUDA) {} \n",
    "a type's own test": HEAD + "bool a = type().is_cuda; cuda();\n",
    "a method with arguments": HEAD + "void f(Pool p) { p.cuda(1); }\n",
    "a macro that pastes the device to a name of the project's": HEAD + "#define R(d) mine##d()\nvoid f() { R(CUDA); }\n",
    "a name with its function": HEAD + 'PYBIND11_MODULE(a, m) { m.def("scan_cuda", &scan, "the scan"); }\n',
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
    "at::empty(s, at::CUDA(t.scalar_type()))": "at::empty(s, at::device(at::kPrivateUse1).dtype(t.scalar_type()))",
    "at::empty(s, at::CUDA(f(g(t))))": "at::empty(s, at::device(at::kPrivateUse1).dtype(f(g(t))))",
    "STABLE_TORCH_LIBRARY_IMPL(ops, CUDA, m)": "STABLE_TORCH_LIBRARY_IMPL(ops, PrivateUse1, m)",
    "x.type().is_cuda()": "x.is_privateuseone()",
    "auto y = x.cuda()": "auto y = x.to(at::kPrivateUse1)",
    'torch::Device d("cuda:" + i)': 'torch::Device d("musa:" + i)',
    "THCudaCheck(cudaGetLastError())": "AT_MUSA_CHECK(musaGetLastError())",
    "::at::cuda::getCurrentDeviceProperties()": "::at::musa::getCurrentDeviceProperties()",
    "at::cuda::detail::getDefaultCUDAGenerator()": "at::musa::detail::getDefaultMUSAGenerator()",
    "c10::cuda::CUDACachingAllocator::get()": "c10::musa::MUSACachingAllocator::get()",
    "auto s = THCState_getCurrentStream(state)": "auto s = at::musa::getCurrentMUSAStream()",
    "cuda::getCurrentCUDAStream()": "musa::getCurrentMUSAStream()",
    "c10d::ProcessGroupNCCL* p": "c10d::ProcessGroupMCCL* p",
    "REGISTER_DISPATCH(stub, &f)": "REGISTER_PRIVATEUSE1_DISPATCH(stub, &f)",
    "REGISTER_CUDA_DISPATCH(stub, &f)": "REGISTER_PRIVATEUSE1_DISPATCH(stub, &f)",
    "TORCH_LIBRARY_IMPL_EXPAND(NAME(a), CUDA, m)": "TORCH_LIBRARY_IMPL_EXPAND(NAME(a), PrivateUse1, m)",
    "C10_CUDA_CHECK(cudaGetLastError())": "C10_MUSA_CHECK(musaGetLastError())",
    "AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"f\", [&] {})": "AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"f\", [&] {})",
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), CHANGED.items(), ids=CHANGED.keys())
def test_changed(convert: Convert, before: str, after: str) -> None:
    assert convert(f"{HEAD}void f() {{ {before}; }}\n").text == f"{HEAD}void f() {{ {after}; }}\n"


def test_file_with_nothing_but_a_device_test_is_looked_at(convert: Convert) -> None:
    source = HEAD + "void f(at::Tensor x) { TORCH_CHECK(x.is_cuda()); }\n"
    assert ".is_privateuseone()" in convert(source).text


NEEDED = "#include <ATen/ceil_div.h>\n"
NEEDS_A_HEADER = {
    "once": (HEAD + "int a = THCCeilDiv(1, 2) + at::cuda::ATenCeilDiv(3, 4);\n",
             NEEDED + HEAD + "int a = at::ceil_div(1, 2) + at::ceil_div(3, 4);\n"),
    "it is there": (HEAD + NEEDED + "int a = THCCeilDiv(1, 2);\n", HEAD + NEEDED + "int a = at::ceil_div(1, 2);\n"),
    "another header becomes it": ("#include <THC/THCDeviceUtils.cuh>\nint a = THCCeilDiv(1, 2);\n",
                                  NEEDED + "int a = at::ceil_div(1, 2);\n"),
    "inside an include guard": ("#ifndef A_H\n#define A_H\n" + HEAD + "int a = THCCeilDiv(1, 2);\n#endif\n",
                                "#ifndef A_H\n#define A_H\n" + NEEDED + HEAD + "int a = at::ceil_div(1, 2);\n#endif\n"),
    "not where others would lack it":
        ("#ifdef A\n#include <vector>\n#endif\n" + HEAD + "int a = THCCeilDiv(1, 2);\n",
         "#ifdef A\n#include <vector>\n#endif\n" + NEEDED + HEAD + "int a = at::ceil_div(1, 2);\n"),
    "the lines of the file": (HEAD.replace("\n", "\r\n") + "int a = THCCeilDiv(1, 2);\r\n",
                              (NEEDED + HEAD).replace("\n", "\r\n") + "int a = at::ceil_div(1, 2);\r\n"),
    "a byte order mark": ("\ufeff" + HEAD + "int a = THCCeilDiv(1, 2);\n",
                          "\ufeff" + NEEDED + HEAD + "int a = at::ceil_div(1, 2);\n"),
    "the project's own": (HEAD + "int THCCeilDiv(int, int);\nint a = THCCeilDiv(1, 2);\n",) * 2,
    "a member": (HEAD + "int a = x.THCCeilDiv(1, 2);\n",) * 2,
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), NEEDS_A_HEADER.values(), ids=NEEDS_A_HEADER.keys())
def test_a_header_that_the_new_name_needs(convert: Convert, before: str, after: str) -> None:
    assert convert(before).text == after


def test_no_place_for_the_header(convert: Convert) -> None:
    source = "#ifdef A\n#include <torch/extension.h>\n#endif\nint a = THCCeilDiv(1, 2);\n"
    result = convert(source)
    assert result.text == source.replace("THCCeilDiv", "at::ceil_div") and result.ids == ["MUS616"]


HEADERS = {
    "ATen/cuda/CUDAContext.h": "torch_musa/csrc/aten/musa/MUSAContext.h",
    "c10/cuda/CUDAGuard.h": "torch_musa/csrc/core/MUSAGuard.h",
    "THC/THC.h": "torch_musa/csrc/aten/musa/MUSAContext.h",
    "THC/THCAtomics.cuh": "torch_musa/share/generated_cuda_compatible/include/ATen/musa/Atomic.muh",
    "torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp": "torch_musa/csrc/distributed/ProcessGroupMCCL.h",
    "ATen/cuda/CUDAContextLight.h": "torch_musa/csrc/aten/musa/MUSAContextLight.h",
    "ATen/ATen.h": "ATen/ATen.h",
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), HEADERS.items())
def test_header_paths(convert: Convert, before: str, after: str) -> None:
    assert convert(f"#include <{before}>\n").text == f"#include <{after}>\n"
    assert convert(f'#include "{before}"\n').text == f'#include "{after}"\n'


@pytest.mark.parametrize(
    "header",
    [
        "ATen/cuda/Sleep.h",
        "ATen/cuda/DeviceUtils.cuh",
        "THC/THCReduce.cuh",
        "ATen/CUDAGeneratorImpl.h",
        "torch/csrc/distributed/c10d/NCCLUtils.hpp",
    ],
)
def test_header_without_counterpart(convert: Convert, header: str) -> None:
    assert convert(f"#include <{header}>\n").ids == ["MUS114"]


FINDINGS = {
    "C10_CUDA_KERNEL_LAUNCH_CHECK();": ["MUS102"],
    "at::cuda::warp_size();": ["MUS102"],
    "THCState* s;": ["MUS104"],
    "THCudaFree(s, p);": ["MUS104"],
    "THCTensor_free(t);": ["MUS101"],
    "c10d::ProcessGroup::NCCL;": ["MUS601"],
    "at::CUDA(at::kFloat).zeros(1);": ["MUS601"],
    "at::zeros({1}, at::CUDA(at::kFloat));": [],
    "STD_CUDA_CHECK(f());": ["MUS101"],
    "at::TensorTypeId::CUDATensorId;": ["MUS601"],
    "if (at::hasCUDA()) {}": ["MUS602"],
    "at::globalContext().lazyInitCUDA();": ["MUS602"],
    "at::detail::getCUDAHooks().x();": ["MUS602"],
    "at::cudnn_convolution(x, w);": ["MUS602"],
    "pool.hasCUDA2(); mine::hasCUDA(); myCUDA(1);": [],
    "C10_CUDA_SOMETHING(1);": ["MUS101"],
    "REGISTER_DEVICE_IMPL(a, CUDA, b);": ["MUS615"],
    "REGISTER_DISPATCH(stub, &f);": ["MUS613"],
    'TORCH_CHECK(ok, "not on a CUDA device");': ["MUS614"],
    'MY_CHECK(ok, "not on a CUDA device");': ["MUS614"],
    'check(ok, "not on a CUDA device");': [],
    "at::cuda::getCurrentCUDAStream();": [],
    "TORCH_CHECK(x.is_cuda());": [],
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), FINDINGS.items())
def test_findings(convert: Convert, source: str, expected: list[str]) -> None:
    assert convert(f"{HEAD}void f() {{ {source} }}\n").ids == expected


def test_macro_that_makes_a_device(convert: Convert) -> None:
    macro = "#define REGISTER(key, device, value) add(key, at::k##device, value)\n"
    result = convert(HEAD + macro + "REGISTER(1, CUDA, 2);\n")
    assert result.text == HEAD + macro + "REGISTER(1, PrivateUse1, 2);\n"


def test_registration_in_host_code_stays(convert: Convert) -> None:
    source = HEAD + "REGISTER_DISPATCH(stub, &f);\n"
    assert convert(source, surroundings=Surroundings("a.cpp")).text == source


DISPATCHES = {
    ("a.cu", "AT_DISPATCH_FLOATING_TYPES"): ["MUS235"],
    ("a.cu", "AT_DISPATCH_CASE_FLOATING_TYPES"): ["MUS235"],
    ("a.cu", "AT_DISPATCH_REDUCED_FLOATING_TYPES"): [],
    ("a.cpp", "AT_DISPATCH_FLOATING_TYPES"): [],
}  # fmt: skip


@pytest.mark.parametrize(("dispatch", "expected"), DISPATCHES.items())
def test_dispatch_over_double(convert: Convert, dispatch: tuple[str, str], expected: list[str]) -> None:
    """Also where the kernel is launched in a header."""
    path, macro = dispatch
    source = f'{HEAD}void f(at::Tensor x) {{ {macro}(x.scalar_type(), "f", [&] {{ launch(x); }}); }}\n'
    assert convert(source, surroundings=Surroundings(path)).ids == expected


def test_names_that_nobody_attests_can_stay(convert: Convert) -> None:
    source = HEAD + "auto a = at::cuda::warp_size(); auto b = c10::cuda::CUDAGuard(0);\n"
    assert convert(source, unattested="keep").text == source


def test_files_that_include_pytorch_through_one_of_the_project(tmp_path: Path) -> None:
    files = {
        "base.h": "#pragma once\n#include <torch/extension.h>\n",
        "ops.h": '#include "base.h"\nbool on_device(Tensor x) { return x.is_cuda(); }\n',
        "ops.cpp": '#include "ops.h"\nvoid f() { AT_CUDA_CHECK(g()); auto d = kCUDA; }\n',
        "other.cpp": '#include "plain.h"\nbool f(Pool x) { int kCUDA; return x.is_cuda(); }\n',
        "plain.h": "#pragma once\n#include <vector>\n",
    }
    musify("convert", write(tmp_path / "in", files), "-o", tmp_path / "out", "-q")
    assert contents(tmp_path / "out") == {
        "base.h": files["base.h"].encode(),
        "ops.h": b'#include "base.h"\nbool on_device(Tensor x) { return x.is_privateuseone(); }\n',
        "ops.cpp": b'#include "ops.h"\nvoid f() { AT_MUSA_CHECK(g()); auto d = kPrivateUse1; }\n',
        "other.cpp": files["other.cpp"].encode(),
        "plain.h": files["plain.h"].encode(),
    }
