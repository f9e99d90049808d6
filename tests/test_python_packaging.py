"""Python packaging: what is left alone, every form of import, and converted setup scripts that run.

The scripts run against packages that the test writes: `torch` and `torch_musa` record what they are given.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import ROOT, Run, musify, write
from tests.extension_stand_ins import run_script

GOLDEN = ROOT / "fixtures" / "build" / "python"
ALL = ["--offload-arch=mp_21", "--offload-arch=mp_22", "--offload-arch=mp_31"]
BOTH = "from torch.utils.cpp_extension import CUDAExtension, BuildExtension\n"
OPTIONS = ("--arch", "mp_31")


def converted(tmp_path: Path, source: str, *options: str, **files: str) -> tuple[str, list[dict[str, Any]]]:
    """What becomes of a setup.py, and what is said of it, with further files (`kernel_cu`) beside it."""
    others = {name.replace("_", "."): text for name, text in files.items()}
    tree = write(tmp_path / "in", {"setup.py": source, **others})
    report = tmp_path / "report.json"
    done: Run = musify("convert", tree, "-o", tmp_path / "out", "--report", f"json:{report}", *OPTIONS, *options)
    assert done.code == 0, done.err
    [file] = [item for item in json.loads(report.read_text())["files"] if item["path"].endswith("setup.py")]
    text = (tmp_path / "out" / "setup.py").read_bytes().decode()
    compile(text, "setup.py", "exec")
    return text, file["findings"]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "from torch.utils.cpp_extension import BuildExtension, CppExtension\ncuda = 1\n", id="builds no CUDA"
        ),
        pytest.param("from .cpp_extension import CUDAExtension\nCUDAExtension()\n", id="another module"),
        pytest.param("class CUDAExtension: pass\nCUDAExtension()\n", id="a class of the project"),
        pytest.param("import torch\ndef f(torch):\n    torch.utils.cpp_extension.CUDAExtension\n", id="a parameter"),
        pytest.param("# from torch.utils.cpp_extension import CUDAExtension\n", id="a comment"),
        pytest.param('"""CUDAExtension with nvcc: -arch=sm_80"""\n', id="a docstring"),
        pytest.param("x = ['-arch', 'arm64', '-G', 'Ninja', '-lineno']  # cuda\n", id="flags of others"),
        pytest.param("cmd = ['cmake', '-DWITH_CUDA=ON', '-G', 'Ninja']\n", id="flags of cmake"),
        pytest.param("versions = {'nvcc': '12.6'}\nversions['nvcc']\n", id="no list of flags under the key"),
        pytest.param("if backend == 'nvcc': pass\n", id="a mode called like the compiler"),
        pytest.param("print('call nvcc -arch=sm_80 to compile it')\n", id="text for people"),
        pytest.param("keys = conf['CUDA_HOME']\n", id="a key of a configuration"),
        pytest.param("define_macros = [('WITH_CUDA', None)]\n", id="a macro of the project"),
        pytest.param("libraries = ['cudalike', 'm']\n", id="libraries of the project"),
    ],
)
def test_left_alone(tmp_path: Path, source: str) -> None:
    assert converted(tmp_path, source)[0] == source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            "from torch.utils.cpp_extension import CUDAExtension as E, CUDA_HOME\nE(); CUDA_HOME\n",
            "from torch_musa.utils.musa_extension import MUSAExtension as E, MUSA_HOME\nE(); MUSA_HOME\n",
            id="alias",
        ),
        pytest.param(
            "from torch.utils.cpp_extension import (CppExtension,  # host\n    CUDAExtension,  # device\n    BuildExtension)\n",
            "from torch.utils.cpp_extension import (CppExtension,  # host\n    # device\n    )\n"
            "from torch_musa.utils.musa_extension import MUSAExtension, BuildExtension\n",
            id="comments between names",
        ),
        pytest.param(
            "import torch.utils.cpp_extension\ntorch.utils.cpp_extension.CUDAExtension\ntorch.nn\n",
            "import torch.utils.cpp_extension\nimport torch_musa.utils.musa_extension\n"
            "torch_musa.utils.musa_extension.MUSAExtension\ntorch.nn\n",
            id="the whole path",
        ),
        pytest.param(
            "from torch.utils import cpp_extension as ce\nce.CUDAExtension\nce.BuildExtension\n",
            "from torch_musa.utils import musa_extension as ce\nce.MUSAExtension\nce.BuildExtension\n",
            id="the module under another name",
        ),
        pytest.param(
            "from torch.utils import data, cpp_extension\ncpp_extension.CUDAExtension\n",
            "from torch.utils import data\nfrom torch_musa.utils import musa_extension\nmusa_extension.MUSAExtension\n",
            id="beside another module",
        ),
        pytest.param(
            "from torch.utils import cpp_extension\ncpp_extension.CUDAExtension\ncpp_extension.CppExtension\n",
            "from torch.utils import cpp_extension\nfrom torch_musa.utils import musa_extension\n"
            "musa_extension.MUSAExtension\ncpp_extension.CppExtension\n",
            id="both kinds through the module",
        ),
        pytest.param(
            "from torch.utils.cpp_extension import *\nCUDAExtension\nCppExtension\n",
            "from torch.utils.cpp_extension import *\nfrom torch_musa.utils.musa_extension import MUSAExtension\n"
            "MUSAExtension\nCppExtension\n",
            id="everything",
        ),
        pytest.param(
            "def build():\n\tfrom torch.utils.cpp_extension import CUDAExtension, CppExtension\n\treturn CUDAExtension\n",
            "def build():\n\tfrom torch.utils.cpp_extension import CppExtension\n"
            "\tfrom torch_musa.utils.musa_extension import MUSAExtension\n\treturn MUSAExtension\n",
            id="in a function, with tabs",
        ),
        pytest.param(
            "if x: from torch.utils.cpp_extension import CUDAExtension, CppExtension\n",
            "if x: from torch_musa.utils.musa_extension import MUSAExtension; from torch.utils.cpp_extension import CppExtension\n",
            id="behind a condition",
        ),
        pytest.param(
            "from torch.utils.cpp_extension import CUDA_HOME, CppExtension",
            "from torch.utils.cpp_extension import CppExtension\nfrom torch_musa.utils.musa_extension import MUSA_HOME",
            id="no newline at the end",
        ),
    ],
)
def test_imports(tmp_path: Path, source: str, expected: str) -> None:
    assert converted(tmp_path, source)[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("out.index('release')", "out.index('version')"),
        (r"re.search(r'release (\d+\.\d+),', out)", r"re.search(r'version (\d+\.\d+),', out)"),
        ("out.partition('release ')", "out.partition('version ')"),
        (r"re.search(r'release .+ V(.*)', out)", r"re.search(r'release .+ V(.*)', out)"),
        (r"re.search(r'V(\d+)', out)", r"re.search(r'V(\d+)', out)"),
        ("'a release candidate'", "'a release candidate'"),
    ],
)
def test_how_the_version_is_read(tmp_path: Path, text: str, expected: str) -> None:
    head = "def version():\n    out = check_output(['mcc', '--version']).split()\n    return "
    source = head.replace("mcc", "nvcc") + text + "\n\nnote = 'release'\n"
    assert converted(tmp_path, source)[0] == f"{head}{expected}\n\nnote = 'release'\n"


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("if v < Version('11.6'): raise E", "if v < Version('0'): raise E"),
        ("if v < (11, 6): raise E", "if v < (11, 6): raise E"),
        ("if v < 1106: sys.exit(1)", "if v < 0: sys.exit(1)"),
        ("assert v >= parse('11.0')", "assert v >= parse('0')"),
        ("if v >= Version('11.6'): f()", "if v >= Version('11.6'): f()"),
        ("if v < Version('11.6'): f()", "if v < Version('11.6'): f()"),
        ("if other < Version('11.6'): raise E", "if other < Version('11.6'): raise E"),
    ],
)
def test_checks_of_the_version(tmp_path: Path, test: str, expected: str) -> None:
    head = "def version():\n    return check_output(['mcc', '--version'])\n_, v = version()\n"
    assert converted(tmp_path, head.replace("mcc", "nvcc") + test + "\n")[0] == f"{head}{expected}\n"


def test_a_name_that_is_taken_stays(tmp_path: Path) -> None:
    source = BOTH + "MUSAExtension = None\nCUDAExtension()\n"
    text, findings = converted(tmp_path, source)
    assert "CUDAExtension()" in text and "MUS542" in {item["id"] for item in findings}


def test_parts_without_counterpart_are_errors(tmp_path: Path) -> None:
    source = "from torch.utils.cpp_extension import CUDAExtension, _jit_compile\nimport torch.utils.cpp_extension as c\nc.COMMON_NVCC_FLAGS\n"
    findings = converted(tmp_path, source)[1]
    found = {(item["line"], item["name"], item["severity"]) for item in findings if item["id"] == "MUS540"}
    assert found == {(1, "_jit_compile", "error"), (3, "COMMON_NVCC_FLAGS", "error")}


SUFFIXED = """from torch.utils.cpp_extension import CppExtension, CUDAExtension
kinds = ['cpu', 'cuda'] if WITH_GPU else ['cpu']
for kind in kinds:
    path = join('csrc', kind, f'{name}_gpu.cu') if kind == 'cuda' else join('csrc', name + '_cpu.cpp')
    other = name + '_gpu.cu', name + '_none.cu', f'{name}/gpu.cu'
"""


def test_names_of_sources_that_are_put_together(tmp_path: Path) -> None:
    text, findings = converted(tmp_path, SUFFIXED, "--keep-names")
    assert text.splitlines()[2:] == SUFFIXED.splitlines()[1:]
    tree = write(tmp_path / "tree", {"setup.py": SUFFIXED, "csrc/cuda/scatter_gpu.cu": "void f() { cudaFree(0); }\n"})
    musify("convert", tree, "-i")
    lines = (tree / "setup.py").read_text().splitlines()
    assert lines[2:] == [line.replace("_gpu.cu", "_gpu.mu") for line in SUFFIXED.splitlines()[1:]]
    assert {"MUS504"} <= {finding["id"] for finding in findings if finding["severity"] == "warning"}


def test_sources_that_keep_their_name(tmp_path: Path) -> None:
    source = BOTH + "CUDAExtension('x', ['kernel.cu', 'there/absent.cu'])\n"
    text, findings = converted(tmp_path, source, kernel_cu="")
    assert "['kernel.mu', 'there/absent.cu']" in text
    assert [item["name"] for item in findings if item["id"] == "MUS548"] == ["there/absent.cu"]
    found = converted(tmp_path / "keep", source, "--keep-names", kernel_cu="")[1]
    assert [item["name"] for item in found if item["id"] == "MUS548"] == ["kernel.cu", "there/absent.cu"]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("['-O3', '-gencode', 'arch=compute_80,code=sm_80', '-gencode=arch=compute_90,code=compute_90']", "['-O3', '--offload-arch=mp_31']"),
        ("['-lineinfo']", "[]"),
        ("[\n  '-O3',\n  '-lineinfo',\n]", "[\n  '-O3',\n]"),
        ("['-O3',\n  '-lineinfo',  # where\n  '-v']", "['-O3',\n  # where\n  '-v']"),
        ("('-lineinfo', '-O3')", "('-O3',)"),
        ("('-O3', '-lineinfo')", "('-O3',)"),
        ("('-O3', '-lineinfo',)", "('-O3',)"),
        ("['-gencode arch=compute_80,code=sm_80', '-gencode arch=compute_70,code=sm_70']", "['--offload-arch=mp_31']"),
        ("['-O3'] + ['-lineinfo']", "['-O3'] + []"),
        ("base + ['-O3'] + ['-lineinfo'] + more", "base + ['-O3'] + more"),
        ("['-O3', *['-lineinfo']]", "['-O3', *[]]"),
        ("['-O3'] if x else ['-arch=sm_80']", "['-O3'] if x else ['--offload-arch=mp_31']"),
        ("'-O3 -arch=sm_80 -lineinfo'.split()", "'-O3 --offload-arch=mp_31'.split()"),
        ("[f'-arch=sm_{n}' for n in numbers]", "[f'--offload-arch=mp_{n}' for n in numbers]"),
        ("['-gencode', f'arch=compute_{n},code=sm_{n}']", "[f'--offload-arch=mp_{n}']"),
        ("['-arch=sm_%d' % n]", "['-arch=sm_%d' % n]"),
        ("['-arch', arch]", "['-arch', arch]"),
        ("['-arch=sm_{}'.format(n)]", "['--offload-arch=mp_{}'.format(n)]"),
        ("['-gencode=arch={},code={}'.format(a, b)]", "['-gencode=arch={},code={}'.format(a, b)]"),
        (r"['-Xcompiler', '-DX=\"a\"']", r"['-DX=\"a\"']"),
        ("[r'-Xcompiler=-fPIC', b'x']", "[r'-fPIC', b'x']"),
    ],
)  # fmt: skip
def test_flags_in_lists(tmp_path: Path, flags: str, expected: str) -> None:
    text, findings = converted(tmp_path, BOTH + f"args = {{'nvcc': {flags}}}\n")
    assert text.split("args = ")[1] == f"{{'mcc': {expected}}}\n"
    if flags == expected:
        assert findings


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("f = []\nf.append('-lineinfo')\n", "f = []\n"),
        ("f = []\nif x:\n    f.append('-lineinfo')\n", "f = []\nif x:\n    pass\n"),
        ("f = []\nif x: f += ['-lineinfo']\n", "f = []\nif x: pass\n"),
        ("f = []\nf.append('-arch=sm_80'); g()\n", "f = []\nf.append('--offload-arch=mp_31'); g()\n"),
        (
            "f = []\nif x:\n    f += ['-arch=sm_80']\nelse:\n    f += ['-arch=sm_90']\n",
            "f = []\nif x:\n    f += ['--offload-arch=mp_31']\nelse:\n    f += ['--offload-arch=mp_31']\n",
        ),
        (
            "f = ['-arch=sm_80']\nif x:\n    f += ['-arch=sm_90']\n",
            "f = ['--offload-arch=mp_31']\nif x:\n    pass\n",
        ),
        (
            "def flags(more):\n    return more + ['-lineinfo', '-O2']\nf = flags(['-arch=sm_80'])\n",
            "def flags(more):\n    return more + ['-O2']\nf = flags(['--offload-arch=mp_31'])\n",
        ),
        (
            "def make(flags=()):\n    return {'nvcc': list(flags)}\nmake(['-lineinfo'])\nf = 0\n",
            "def make(flags=()):\n    return {'mcc': list(flags)}\nmake([])\nf = 0\n",
        ),
    ],
)
def test_flags_in_statements(tmp_path: Path, statements: str, expected: str) -> None:
    text, _ = converted(tmp_path, f"{BOTH}{statements}args = {{'nvcc': f}}\n")
    assert text.split("\n", 1)[1] == f"{expected}args = {{'mcc': f}}\n"


def test_several_architectures_are_added_at_once(tmp_path: Path) -> None:
    source = BOTH + "f = []\nf.append('-gencode')\nf.append('arch=compute_80,code=sm_80')\nargs = {'nvcc': f}\n"
    text, _ = converted(tmp_path, source, "--arch", "mp_22")
    assert "f.extend(['--offload-arch=mp_31', '--offload-arch=mp_22'])\nargs" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("os.environ['TORCH_CUDA_ARCH_LIST'] = '8.0;9.0+PTX'", "os.environ['TORCH_MUSA_ARCH_LIST'] = '31'"),
        ("os.environ.get('TORCH_CUDA_ARCH_LIST', 'Ampere 9.0a')", "os.environ.get('TORCH_MUSA_ARCH_LIST', '31')"),
        ("env = {'TORCH_CUDA_ARCH_LIST': '7.5'}", "env = {'TORCH_MUSA_ARCH_LIST': '31'}"),
        ("x = os.getenv('TORCH_CUDA_ARCH_LIST').split(';')", "x = os.getenv('TORCH_MUSA_ARCH_LIST').split(';')"),
        ("TORCH_CUDA_ARCH_LIST = '8.0'", "TORCH_CUDA_ARCH_LIST = '8.0'"),
    ],
)
def test_lists_of_architectures(tmp_path: Path, text: str, expected: str) -> None:
    assert converted(tmp_path, f"import os\n{text}\n")[0] == f"import os\n{expected}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("subprocess.run(['nvcc', '-V'])", "subprocess.run(['mcc', '--version'])"),
        ("subprocess.run([home + '/bin/nvcc', '-arch=sm_80', x])", "subprocess.run([home + '/bin/mcc', '--offload-arch=mp_31', x, '-lmusart'])"),
        ("os.system('nvcc -arch=sm_80 -c a.c')", "os.system('mcc --offload-arch=mp_31 -c a.c')"),
        ("os.system(f'{nvcc} -arch=sm_80 -o {out} -c {src}')", "os.system(f'{nvcc} --offload-arch=mp_31 -o {out} -c {src}')"),
        ("subprocess.run(['nvcc', 'a.o', '-o', out])", "subprocess.run(['mcc', 'a.o', '-o', out, '-lmusart'])"),
        ("subprocess.run(['nvcc', *more, 'a.o'])", "subprocess.run(['mcc', *more, 'a.o'])"),
        ("search_on_path(('nvcc', 'nvcc.exe'))", "search_on_path(('mcc', 'mcc.exe'))"),
        ("run(command, folder, 'nvcc')", "run(command, folder, 'nvcc')"),
        ("f'/usr/local/cuda-{n}/lib'", "f'/usr/local/cuda-{n}/lib'"),
        ("'/usr/local/cuda-12.4/lib64'", "'/usr/local/musa/lib'"),
        ("shutil.which('nvcc')", "shutil.which('mcc')"),
        ("nvcc = os.environ.get('NVCC', 'nvcc')", "nvcc = os.environ.get('NVCC', 'mcc')"),
        ("os.path.join(CUDA_HOME, 'lib64')", "os.path.join(CUDA_HOME, 'lib')"),
        ("f'-L{CUDA_HOME}/lib64'", "f'-L{CUDA_HOME}/lib'"),
        ("Path(os.environ['CUDA_PATH']) / 'lib64' / 'x'", "Path(os.environ['MUSA_PATH']) / 'lib' / 'x'"),
        ("os.path.join(root, 'lib64')", "os.path.join(root, 'lib64')"),
    ],
)  # fmt: skip
def test_programs_and_folders(tmp_path: Path, text: str, expected: str) -> None:
    head = "import os, shutil, subprocess  # cuda\nfrom pathlib import Path\n"
    assert converted(tmp_path, f"{head}x = {text}\n")[0] == f"{head}x = {expected}\n"


def test_unreadable_python_is_still_converted_where_it_is_read(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"setup.py": "from torch.utils.cpp_extension import CUDAExtension\ndef (:\n  'x\n"})
    assert musify("convert", tree, "-o", tmp_path / "out").code == 0
    assert (
        (tmp_path / "out" / "setup.py")
        .read_text()
        .startswith("from torch_musa.utils.musa_extension import MUSAExtension\n")
    )


# --- converted scripts run


def run_converted(tmp_path: Path, case: str, script: str = "setup.py") -> dict[str, Any]:
    """What a golden case's script hands to the stand-ins once it is converted, by the function it calls last."""
    out = tmp_path / "out"
    done = musify("convert", GOLDEN / case / "before", "-o", out)
    assert done.code == 0, done.err
    return run_script(out, tmp_path / "stand-ins", script)


def test_expert_exchange_runs(tmp_path: Path) -> None:
    extension = run_converted(tmp_path, "expert_exchange")["MUSAExtension"]
    sources = ["kernels/bindings.cpp", "kernels/exchange.mu", "kernels/dispatch.mu", "kernels/gates.mu"]
    assert extension["sources"] == sources
    assert all((tmp_path / "out" / source).exists() for source in sources)
    assert extension["libraries"] == ["mccl"]
    assert extension["extra_compile_args"] == {
        "cxx": ["-DMOE_USE_NCCL"],
        "mcc": ["-DMOE_USE_NCCL"],
    }


def test_selective_scan_runs(tmp_path: Path) -> None:
    found = run_converted(tmp_path, "selective_scan")
    extension = found["MUSAExtension"]
    assert all((tmp_path / "out" / source).exists() for source in extension["sources"])
    halves = ["-U__MUSA_NO_HALF_OPERATORS__", "-U__MUSA_NO_HALF_CONVERSIONS__"]
    assert extension["extra_compile_args"]["mcc"] == ["-O3", "-std=c++17", *halves, "-use_fast_math", *ALL]
    assert found["setup"]["cmdclass"] == {"build_ext": "<class 'torch_musa.utils.musa_extension.BuildExtension'>"}


def test_causal_conv_runs(tmp_path: Path) -> None:
    extension = run_converted(tmp_path, "causal_conv")["MUSAExtension"]
    assert extension["args"][1] == ["csrc/conv.cpp", "csrc/conv_fwd.mu", "csrc/conv_bwd.mu"]
    assert extension["extra_compile_args"] == {"cxx": ["-O3"], "mcc": ["-O3", "-use_fast_math", "-fPIC", *ALL]}
    assert extension["library_dirs"] == [str(tmp_path / "stand-ins" / "musa" / "lib")]
    assert extension["libraries"] == ["mublas", "musart"] and extension["extra_link_args"][0] == "-lmusa"


def test_extensions_built_at_run_time(tmp_path: Path) -> None:
    loaded = run_converted(tmp_path, "jit", "pkg/__init__.py")["load"]
    assert sorted(Path(source).name for source in loaded["sources"]) == ["ops.cpp", "ops.mu"]
    assert loaded["extra_musa_cflags"] == ["-O2", *ALL] and loaded["with_musa"] is True
    inline = run_converted(tmp_path / "inline", "jit", "pkg/inline.py")["load_inline"]
    assert inline["musa_sources"] and inline["extra_musa_cflags"] == [] and inline["extra_include_paths"] == ["inc"]


def test_plain_setuptools_runs(tmp_path: Path) -> None:
    extension = run_converted(tmp_path, "plain_setuptools")["Extension"]
    home = tmp_path / "stand-ins" / "musa"
    assert extension["sources"] == ["src/wrapper.pyx", "src/kernels.mu"]
    assert extension["extra_compile_args"] == {"gcc": [], "mcc": [*ALL, "-c", "-fPIC"]}
    assert extension["library_dirs"] == [str(home / "lib")] and extension["libraries"] == ["musart", "murand"]


# --- CMake's variables, and settings in TOML


def other_file(tmp_path: Path, name: str, source: str, *options: str) -> str:
    tree = write(tmp_path / "in", {name: source})
    done = musify("convert", tree, "-o", tmp_path / "out", *(options or OPTIONS))
    assert done.code == 0, done.err
    return (tmp_path / "out" / name).read_text()


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.sh", "cmake -DCMAKE_CUDA_ARCHITECTURES=80 .\n", 'cmake -DMUSA_ARCHITECTURES="mp_22;mp_31" .\n'),
        ("a.sh", 'cmake "-DCMAKE_CUDA_ARCHITECTURES=80;90" .\n', 'cmake "-DMUSA_ARCHITECTURES=mp_22;mp_31" .\n'),
        ("a.sh", 'cmake -DCMAKE_CUDA_ARCHITECTURES="80" .\n', 'cmake -DMUSA_ARCHITECTURES="mp_22;mp_31" .\n'),
        ("a.sh", "cmake -DCMAKE_CUDA_ARCHITECTURES=$ARCH .\n", "cmake -DMUSA_ARCHITECTURES=$ARCH .\n"),
        ("a.sh", "cmake -DWITH_CUDA=ON -DCUDAToolkit_X=1 .\n", "cmake -DWITH_CUDA=ON -DCUDAToolkit_X=1 .\n"),
        ("a.py", "os.system('cmake -DCMAKE_CUDA_ARCHITECTURES=80 .')\n", None),
        ("pyproject.toml", "[tool.other]\ncmake = '-DCMAKE_CUDA_ARCHITECTURES=80'\n", None),
        ("pyproject.toml", "[tool.other.define]\nCMAKE_CUDA_ARCHITECTURES = '80'\n", None),
        (
            "pyproject.toml",
            "[tool.scikit-build]\ncmake.args = ['-DWITH_CUDA=ON'] # -DCMAKE_CUDA_ARCHITECTURES=80\n",
            None,
        ),
        (
            "pyproject.toml",
            "[tool.scikit-build]\ncmake.define.CMAKE_CUDA_ARCHITECTURES = 'native' # all\n",
            "[tool.scikit-build]\ncmake.define.MUSA_ARCHITECTURES = 'mp_22;mp_31' # all\n",
        ),
        ("pyproject.toml", "[project]\ndescription = 'a # CUDA_HOME'\n", "[project]\ndescription = 'a # MUSA_HOME'\n"),
    ],
)
def test_variables_handed_to_cmake(tmp_path: Path, name: str, source: str, expected: str | None) -> None:
    head = "import os\n" if name.endswith(".py") else ""
    converted = other_file(tmp_path, name, head + source, "--arch", "mp_22", "--arch", "mp_31")
    if name.endswith(".py"):
        expected = source.replace("-DCMAKE_CUDA_ARCHITECTURES=80", '-DMUSA_ARCHITECTURES="mp_22;mp_31"')
    assert converted == head + (source if expected is None else expected)
