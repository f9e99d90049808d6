"""CUDA inside Python: source in strings, libraries opened by name, packages without counterpart, Triton."""

from __future__ import annotations

import pytest

from musify.engine.document import Conversion, convert_build
from musify.languages.registry import Language
from musify.languages.surroundings import BuildSurroundings, IncludeTarget, Settings
from musify.rules.book import RuleBook
from musify.source.document import Document

KERNEL = "__global__ void k(int* x) { cudaError_t e; }"
CUPY = "import cupy as cp\n"


def converted(rules: RuleBook, source: str, **surroundings: object) -> Conversion:
    document = Document.from_bytes(source.encode())
    around = BuildSurroundings("a.py", **surroundings)  # type: ignore[arg-type]
    return convert_build(document, Language.PYTHON, rules, Settings(), around)


def found(conversion: Conversion) -> list[tuple[int, int, str, str]]:
    document = conversion.document
    return [(*document.position(item.span.start), item.rule_id, item.name) for item in conversion.findings]


UNCHANGED = {
    "text that speaks of kernels": 'print("a __global__ function calls cudaFree")\n',
    "a message": CUPY + 'raise RuntimeError("cudaMalloc failed")\n',
    "a docstring": f'def f():\n    """{KERNEL}"""\n',
    "a docstring with an include": 'def f():\n    """\n    #include <cuda_fp16.h>\n    """\n',
    "a comment": f"# {KERNEL}\n",
    "comments of the source": CUPY + 'cp.RawKernel("/* cudaMalloc */ void f() {} // cudaFree", "f")\n',
    "the name of the kernel": CUPY + 'cp.RawKernel("void cudaRun() {}", "cudaMalloc")\n',
    "another function called RawKernel": 'from mine import RawKernel\nRawKernel("cudaMalloc();", "k")\n',
    "a word that an f-string goes on": CUPY + 'cp.RawKernel(f"void f() {{ cudaMalloc{kind}(p); }}", "f")\n',
    "a name from two literals": CUPY + 'cp.RawKernel("void f() { cuda" "Malloc(p); }", "f")\n',
    "a program in Python that holds source": 's = "import torch\\nk = load(\'__global__ void k() { cudaError_t e; }\')"\n',
    "source without CUDA": CUPY + 'cp.RawKernel("__global__ void k() { int a = 1; }", "k")\n',
    "a function of the project's library": 'import ctypes\nl = ctypes.CDLL("libmine.so")\nl.run(1)\n',
    "a function of that name in another library": "import ctypes\nl = ctypes.CDLL('libmine.so')\nl.cudaMalloc(1)\n",
    "an attribute of something else": 'import ctypes\nl = ctypes.CDLL("libmine.so")\nother.cudaMalloc(1)\n',
    "a library that is not CUDA's": 'import ctypes.util\nctypes.util.find_library("c")\n',
    "a backend of something else": 'import triton\nif jax.default_backend() == "cuda": pass\n',
    "a backend that is not the target's": 'import triton\nif self.backend == "cuda": pass\n',
}  # fmt: skip


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(rules: RuleBook, source: str) -> None:
    assert converted(rules, source).new_data.decode() == source


HEAD = {
    "cupy": "import cupy as cp\n",
    "inline": "from torch_musa.utils.musa_extension import load_inline\n",
    "pycuda": "from pycuda.compiler import SourceModule\n",
}
CHANGED = {
    "argument": ("cupy", 'k = cp.RawKernel("void f() { cudaFree(p); }", "f")', 'k = cp.RawKernel("void f() { musaFree(p); }", "f")'),
    "keyword": ("cupy", 'k = cp.RawModule(code="cudaError_t e;")', 'k = cp.RawModule(code="musaError_t e;")'),
    "variable": ("cupy", 's = "cudaError_t e;"\nk = cp.RawModule(code=s)', 's = "musaError_t e;"\nk = cp.RawModule(code=s)'),
    "variable of the module in a function": (
        "cupy", 'S = "cudaError_t e;"\ndef f():\n    return cp.RawModule(code=S)', 'S = "musaError_t e;"\ndef f():\n    return cp.RawModule(code=S)'),
    "variable of a function": (
        "cupy", 'def f():\n    s = "cudaError_t e;"\n    return cp.RawModule(code=s)', 'def f():\n    s = "musaError_t e;"\n    return cp.RawModule(code=s)'),
    "raw": ("cupy", "k = cp.RawModule(code=r'cudaError_t e; // \\n')", "k = cp.RawModule(code=r'musaError_t e; // \\n')"),
    "three quotes": ("cupy", 'k = cp.RawModule(code="""\n#include <cuda_fp16.h>\n""")', 'k = cp.RawModule(code="""\n#include <musa_fp16.h>\n""")'),
    "escapes": ("cupy", 'k = cp.RawModule(code="\\tcudaError_t\\n e = \\"\\x41\\"; cudaError_t f;")', 'k = cp.RawModule(code="\\tmusaError_t\\n e = \\"\\x41\\"; musaError_t f;")'),
    "joined literals": ("cupy", 'k = cp.RawModule(code="#include <cuda_fp16.h>\\n"\n    r"cudaError_t e;")', 'k = cp.RawModule(code="#include <musa_fp16.h>\\n"\n    r"musaError_t e;")'),
    "f-string": ("cupy", 'k = cp.RawModule(code=f"{t} f() {{ cudaError_t e = {x}; }}")', 'k = cp.RawModule(code=f"{t} f() {{ musaError_t e = {x}; }}")'),
    "percent": ("cupy", 'k = cp.RawModule(code="%s f() { cudaError_t e; }" % t)', 'k = cp.RawModule(code="%s f() { musaError_t e; }" % t)'),
    "format": ("cupy", 'k = cp.RawModule(code="{} f() {{ cudaError_t e; }}".format(t))', 'k = cp.RawModule(code="{} f() {{ musaError_t e; }}".format(t))'),
    "sum": ("cupy", 'k = cp.RawModule(code=HEAD + "cudaError_t e;" + x)', 'k = cp.RawModule(code=HEAD + "musaError_t e;" + x)'),
    "dedent": ("cupy", 'k = cp.RawModule(code=textwrap.dedent("cudaError_t e;"))', 'k = cp.RawModule(code=textwrap.dedent("musaError_t e;"))'),
    "bytes": ("cupy", 'k = cp.RawModule(code=b"cudaError_t e;")', 'k = cp.RawModule(code=b"musaError_t e;")'),
    "fragment": ("cupy", 'k = cp.ElementwiseKernel("T x", "T y", "cudaError_t e", "n", preamble="cudaStream_t s;")', 'k = cp.ElementwiseKernel("T x", "T y", "musaError_t e", "n", preamble="musaStream_t s;")'),
    "a list of sources": ("inline", 'm = load_inline("m", cpp_sources=["cudaError_t f();"], musa_sources=[A, "cudaError_t g();"])\nA = "cudaStream_t s;"', 'm = load_inline("m", cpp_sources=["musaError_t f();"], musa_sources=[A, "musaError_t g();"])\nA = "musaStream_t s;"'),
    "PyTorch's names": ("inline", 'm = load_inline("m", "auto s = at::cuda::getCurrentCUDAStream();")', 'm = load_inline("m", "auto s = at::musa::getCurrentMUSAStream();")'),
    "SourceModule": ("pycuda", 'm = SourceModule("""cudaError_t e;""")', 'm = SourceModule("""musaError_t e;""")'),
    "a kernel that reaches no call here": ("", f's = "{KERNEL}"', f's = "{KERNEL}"'.replace("cuda", "musa")),
    "a dictionary of sources": ("", f'd = {{"k": """{KERNEL}"""}}', f'd = {{"k": """{KERNEL}"""}}'.replace("cuda", "musa")),
    "guard": ("cupy", 'k = cp.RawModule(code="""\n#if __CUDA_ARCH__ >= 800\n#endif\n""")', 'k = cp.RawModule(code="""\n#if __MUSA_ARCH__ >= 220\n#endif\n""")'),
}  # fmt: skip


@pytest.mark.parametrize(("head", "source", "expected"), CHANGED.values(), ids=CHANGED.keys())
def test_changed(rules: RuleBook, head: str, source: str, expected: str) -> None:
    before, after = HEAD.get(head, "") + source + "\n", HEAD.get(head, "") + expected + "\n"
    conversion = converted(rules, before)
    assert conversion.new_data.decode() == after
    assert "MUS109" in {item.rule_id for item in conversion.findings}
    assert not converted(rules, after).edits
    compile(after, "a.py", "exec")


def test_extension_built_at_run_time(rules: RuleBook) -> None:
    source = (
        "import torch\nfrom torch.utils.cpp_extension import load_inline\n"
        f'src = r"""\n#include <c10/cuda/CUDAStream.h>\n{KERNEL}\n"""\n'
        'm = load_inline(name="m", cpp_sources="", cuda_sources=src, functions=["k"])\n'
    )
    after = converted(rules, source).new_data.decode()
    assert "musa_sources=src" in after and "musaError_t" in after and "torch_musa.utils.musa_extension" in after
    assert not converted(rules, after).edits


def test_positions_are_those_of_the_file(rules: RuleBook) -> None:
    source = (
        CUPY
        + 's = """\n__global__ void k() {\n  cudaBrandNew();\n}"""\nt = "\\t\\x41 é" f"{s}\\n" "int a = cudaOther();"\ncp.RawKernel(t)\n'
    )
    places = found(converted(rules, source))
    assert (4, 3, "MUS101", "cudaBrandNew") in places
    assert (6, 34, "MUS101", "cudaOther") in places


def test_change_that_the_literal_cannot_hold(rules: RuleBook) -> None:
    source = CUPY + 's = "#include <cublas.h>\\n#include <cublas_v2.h>" "\\nvoid f();"\ncp.RawKernel(s)\n'
    conversion = converted(rules, source)
    assert b'<mublas.h>\\n#include <cublas_v2.h>" "' in conversion.new_data
    assert (2, 27, "MUS122", "cublas_v2.h") in found(conversion)


def test_renamed_header_of_the_project(rules: RuleBook) -> None:
    target = IncludeTarget("csrc/k.cuh", "csrc/k.muh")
    source = CUPY + "s = '#include \"k.cuh\"\\nvoid f();'\ncp.RawKernel(s)\n"
    conversion = converted(rules, source, renamed={b"k.cuh": [target]})
    assert b'"k.muh"' in conversion.new_data
    assert "MUS115" not in {item.rule_id for item in conversion.findings}


def test_comments_of_the_source_are_comments(rules: RuleBook) -> None:
    source = CUPY + 'cp.RawKernel("""\n// CUDA\nint a; // cuda MUSIFY_EXCL_LINE\ncudaError_t e;""", "k")\n'
    conversion = converted(rules, source)
    assert "musaError_t" in conversion.new_data.decode()
    assert not [item for item in found(conversion) if item[0] in (3, 4)]


def test_comment_with_an_interpolation(rules: RuleBook) -> None:
    source = CUPY + 'cp.RawKernel(f"""\n// CUDA {cuda_x} cuda\ncudaError_t e;""", "k")\n'
    conversion = converted(rules, source)
    assert "musaError_t" in conversion.new_data.decode()
    assert [item[1:] for item in found(conversion) if item[0] == 3] == [(10, "MUS504", "cuda_x")]  # a name of Python's


def test_what_is_put_in_later_goes_on_a_name(rules: RuleBook) -> None:
    source = 'S = """__global__ void k() { curand%(suffix)s(s); curand_%s(s); x = a %s b; cuda${name}(); }"""\n'
    assert converted(rules, source).new_data.decode() == source


LIBRARIES = {
    "attribute": ('l = ctypes.CDLL(p)\nl.cudaMalloc(1)', 'l = ctypes.CDLL(p)\nl.musaMalloc(1)', "MUS107"),
    "attribute of an attribute": ('self.l = ctypes.CDLL("libcuda.so")\nself.l.cuInit.restype = int', 'self.l = ctypes.CDLL("libmusa.so")\nself.l.muInit.restype = int', "MUS107"),
    "getattr": ('l = ctypes.CDLL(p)\ngetattr(l, "cudaFree")', 'l = ctypes.CDLL(p)\ngetattr(l, "musaFree")', "MUS107"),
    "subscript": ('l = ctypes.cdll.LoadLibrary(p)\nl["ncclGetUniqueId"]', 'l = ctypes.cdll.LoadLibrary(p)\nl["mcclGetUniqueId"]', "MUS107"),
    "a table of names": ('l = ctypes.CDLL(p)\nn = ["cudaFree", "x"]\nf = [getattr(l, x) for x in n]', 'l = ctypes.CDLL(p)\nn = ["musaFree", "x"]\nf = [getattr(l, x) for x in n]', "MUS107"),
    "find_library": ('ctypes.util.find_library("cudart")', 'ctypes.util.find_library("musart")', "MUS108"),
    "find_library without counterpart": ('ctypes.util.find_library("nvidia-ml")', 'ctypes.util.find_library("nvidia-ml")', "MUS108"),
    "file": ('l = ctypes.CDLL("libcudart.so")', 'l = ctypes.CDLL("libmusart.so")', None),
    "file with a version": ('l = ctypes.CDLL("libnccl.so.2")', 'l = ctypes.CDLL("libmccl.so")', "MUS550"),
    "another shape": ('l = ctypes.CDLL("libnvidia-ml.so")\nl.nvmlInit()', 'l = ctypes.CDLL("libnvidia-ml.so")\nl.nvmlInit()', "MUS402"),
    "cffi": ('import cffi\nffi = cffi.FFI()\nffi.cdef("cudaError_t cudaFree(void*);")\nC = ffi.dlopen("libcudart.so")\nC.cudaFree(0)',
             'import cffi\nffi = cffi.FFI()\nffi.cdef("musaError_t musaFree(void*);")\nC = ffi.dlopen("libmusart.so")\nC.musaFree(0)', "MUS107"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected", "identifier"), LIBRARIES.values(), ids=LIBRARIES.keys())
def test_libraries(rules: RuleBook, source: str, expected: str, identifier: str | None) -> None:
    head = "import ctypes, ctypes.util\n"
    conversion = converted(rules, head + source + "\n")
    assert conversion.new_data.decode() == head + expected + "\n"
    assert identifier is None or identifier in {item.rule_id for item in conversion.findings}


REPORTED = {
    "CuPy": ("import cupy as cp\nd = cp.cuda.Device(0)\n", [(1, "error"), (2, "note")]),
    "only where it is there": ("try:\n    import cupy.cuda\nexcept ImportError: pass\n", [(2, "warning")]),
    "numba": ("from numba import cuda\n@cuda.jit\ndef f(): pass\n", [(1, "error"), (2, "note")]),
    "numba without an import of cuda": ("import numba\n@numba.cuda.jit\ndef f(): pass\n", [(2, "error")]),
    "numba asked for CUDA": (
        "from numba import vectorize\n@vectorize(['f(f)'], target='cuda')\ndef f(): pass\n",
        [(2, "error")],
    ),
    "numba asked for something else": ("import numba, cuda_x\n@numba.vectorize(target='cpu')\ndef f(): pass\n", []),
    "PyCUDA": ("import pycuda.driver as cuda\ncuda.mem_alloc(3)\n", [(1, "error"), (2, "note")]),
    "CUDA Python": ("from cuda import cudart\n", [(1, "error")]),
    "NVML": ("import pynvml\n", [(1, "error")]),
}


@pytest.mark.parametrize(("source", "expected"), REPORTED.values(), ids=REPORTED.keys())
def test_packages(rules: RuleBook, source: str, expected: list[tuple[int, str]]) -> None:
    conversion = converted(rules, source)
    assert conversion.new_data.decode() == source
    said = [item for item in conversion.findings if item.rule_id == "MUS620"]
    lines = [conversion.document.position(item.span.start).line for item in said]
    assert (
        list(zip(lines, [item.severity.value if item.severity else "error" for item in said], strict=True)) == expected
    )


def test_triton(rules: RuleBook) -> None:
    source = (
        "import triton\nimport triton.language as tl\nfrom triton.backends.compiler import GPUTarget\n"
        "from triton.language.extra.cuda import libdevice\n"
        'def is_cuda():\n    return triton.runtime.driver.active.get_current_target().backend == "cuda"\n'
        't = GPUTarget("cuda", 80, 32)\ntl.inline_asm_elementwise("mov.u32 $0, 1;", "=r", [], int, True, 1)\n'
    )
    conversion = converted(rules, source)
    assert conversion.new_data.decode() == source.replace('"cuda"', '"musa"')
    ids = [(line, identifier) for line, _, identifier, _ in found(conversion)]
    assert {(4, "MUS621"), (7, "MUS622"), (8, "MUS621")} <= set(ids)
