"""Compilers: where they are, and the command lines that preprocess and compile one file with them.

nvcc, clang and g++ see CUDA's headers, the converted file through the shim besides. mcc is that of a real SDK and sees
MUSA's own headers. Command lines of g++ follow what `nvcc --dryrun` shows of nvcc's own preprocessing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from musify import sdk
from musify.clang import flags as clang_flags
from musify.headers.shim import PRELUDE
from musify.model import MusifyError
from musify.verify.flags import Flags

_CUDA_FOLDERS = ("CUDA_HOME", "CUDA_PATH")
_LANGUAGES = {".cu": "cuda", ".mu": "cuda", ".cuh": "cuda", ".muh": "cuda", ".c": "c"}
HEADER_SUFFIXES = frozenset(".h .hh .hpp .hxx .inl .inc .ipp .tcc .tpp .txx .h++ .cuh .muh".split())
# Values that differ between two preprocessings for no reason of the text.
_FIXED = ("-D__LINE__=1", '-D__DATE__="date"', '-D__TIME__="time"', '-D__TIMESTAMP__="time"')
_GCC_AS_NVCC = ("-D__CUDACC__", "-D__NVCC__", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0",
                "-D__CUDACC_VER_BUILD__=0", "-include", "cuda_runtime.h")  # fmt: skip


class Kind(str, Enum):
    """The compilers that are known."""

    NVCC = "nvcc"
    CLANG = "clang"
    GCC = "gcc"
    MCC = "mcc"


class Pass(str, Enum):
    """CUDA source is compiled once for the host and once for the device."""

    HOST = "host"
    DEVICE = "device"


@dataclass(frozen=True)
class Source:
    """A file to be worked on and its flags. `root` is replaced by `new_root` in include paths.

    `shim` is the folder of the shim headers; None for an original, and for mcc. `as_cuda`: headers and sources of
    plain C++ suffix count as CUDA source.
    """

    path: Path
    flags: Flags
    root: Path
    new_root: Path
    shim: Path | None = None
    defines: tuple[str, ...] = ()

    @property
    def language(self) -> str:
        """cuda, c++ or c, by the suffix; a header may be meant for device code."""
        suffix = self.path.suffix.lower()
        return _LANGUAGES.get(suffix, "cuda" if suffix in HEADER_SUFFIXES else "c++")

    @property
    def is_header(self) -> bool:
        """Whether it is compiled only with the files that include it."""
        return self.path.suffix.lower() in HEADER_SUFFIXES


@dataclass(frozen=True)
class Compiler:
    """A compiler, the folders of CUDA's headers, and the architecture (`80`) that device code is looked at for.

    `musa_architectures` are those that mcc compiles for.
    """

    kind: Kind
    path: str
    cuda_includes: tuple[Path, ...] = ()
    architecture: str = "80"
    musa_architectures: tuple[str, ...] = ()

    def passes(self, source: Source) -> tuple[Pass, ...]:
        """What a source is preprocessed for."""
        return (Pass.DEVICE, Pass.HOST) if source.language == "cuda" else (Pass.HOST,)

    def preprocess(self, source: Source, which: Pass) -> list[str]:
        """The command that prints the preprocessed source."""
        architecture = source.flags.architecture or self.architecture
        command = [self.path, "-E", *_FIXED]
        if self.kind is Kind.NVCC:
            command += ["-x", _nvcc_language(source), f"-arch=sm_{architecture}"]
            command += ["-U__CUDA_ARCH__"] if which is Pass.HOST else []
        elif self.kind is Kind.CLANG:
            command += ["-Wno-builtin-macro-redefined", *_clang_language(source, architecture, which)]
        else:
            number = int(re.sub(r"\D", "", architecture)) * 10
            command += ["-x", "c" if source.language == "c" else "c++"]
            command += _GCC_AS_NVCC if source.language == "cuda" else ()
            command += [f"-D__CUDA_ARCH__={number}"] if which is Pass.DEVICE else []
        return [*command, *self._words(source), os.fspath(source.path)]

    def compile(self, source: Source, output: Path) -> list[str]:
        """The command that compiles the source."""
        architecture = source.flags.architecture or self.architecture
        if self.kind is Kind.NVCC:
            command = [self.path, "-c", "-x", _nvcc_language(source), f"-arch=sm_{architecture}"]
        elif self.kind is Kind.CLANG:
            # To the end of semantic analysis, for host and device: no toolkit is needed for what comes after.
            command = [self.path, "-fsyntax-only", *_clang_language(source, architecture, None)]
        elif self.kind is Kind.MCC:
            command = [self.path, "-c", *self._musa(source)]
        else:
            command = [self.path, "-c", "-x", "c" if source.language == "c" else "c++"]
        return [*command, *self._words(source), "-o", os.fspath(output), os.fspath(source.path)]

    def _musa(self, source: Source) -> list[str]:
        if source.language != "cuda":
            return []
        return ["-x", "musa", "-mtgpu", *(f"--offload-arch={name}" for name in self.musa_architectures)]

    def _words(self, source: Source) -> list[str]:
        """Include paths, macros and other flags, the shim before CUDA's own headers, wherever those stand."""
        flags = source.flags
        own = Path(flags.compiler).name.startswith(self.kind.value) or not flags.compiler
        if not own:
            flags = Flags(flags.portable(), flags.folder)
        words = list(flags.moved(source.root, source.new_root))
        shim = [] if source.shim is None else ["-I", os.fspath(source.shim)]
        place = next((index for index, word in enumerate(words) if _is_toolkit(word)), len(words))
        words[place:place] = shim
        if self.kind is not Kind.MCC:
            words += [word for path in self.cuda_includes for word in ("-I", os.fspath(path))]
        if source.shim is not None:
            words += [f"-D{define}" for define in source.defines]
            words += ["-include", os.fspath(source.shim / PRELUDE)]
        return words


def _is_toolkit(word: str) -> bool:
    """Whether a word is an include path with CUDA's headers in it."""
    path = re.sub(r"^(?:-I|-isystem)=?", "", word)
    return path != word and bool(path) and os.path.isfile(os.path.join(path, "cuda_runtime.h"))


def _nvcc_language(source: Source) -> str:
    return {"cuda": "cu", "c++": "c++", "c": "c"}[source.language]


def _clang_language(source: Source, architecture: str, which: Pass | None) -> list[str]:
    if source.language != "cuda":
        return ["-x", source.language]
    side = [] if which is None else [f"--cuda-{which.value}-only"]
    gaps = ["-idirafter", os.fspath(clang_flags.STUBS)]  # headers that clang asks for and newer toolkits lack
    return ["-x", "cuda", f"--cuda-gpu-arch=sm_{architecture}", "-Wno-unknown-cuda-version", *gaps, *side]


def find_compiler(wanted: str, cuda_includes: Sequence[Path], architecture: str, *, compiles: bool) -> Compiler:
    """The compiler that `wanted` names (`auto`, nvcc, clang++, g++, a path). Raises MusifyError where there is none.

    `compiles`: it has to compile CUDA source, which g++ cannot.
    """
    names = [wanted] if wanted != "auto" else ["nvcc", "clang++"] + ([] if compiles else ["g++", "c++"])
    for name in names:
        path = _which(name)
        if path is not None:
            return Compiler(_kind(path), path, tuple(cuda_includes), architecture)
    needed = "nvcc or clang++" if compiles else "nvcc, clang++ or g++"
    what = f"{wanted}: no such compiler" if wanted != "auto" else f"found none of {needed}"
    raise MusifyError(f"{what}; put it on PATH or name it with --compiler, or use --depth tokens")


def find_mcc(architectures: Sequence[str]) -> Compiler | None:
    """The compiler of an installed MUSA SDK, None where there is none.

    Raises MusifyError where MUSA_HOME, MUSA_PATH or MUSA_ROOT name a folder that is no SDK.
    """
    if not sdk.is_installed():
        return None
    compiler = sdk.find_sdk().compiler
    return None if compiler is None else Compiler(Kind.MCC, str(compiler), musa_architectures=tuple(architectures))


def _which(name: str) -> str | None:
    found = shutil.which(name)
    if found is None and name == "nvcc":
        folders = [os.environ[item] for item in _CUDA_FOLDERS if os.environ.get(item)]
        path = os.pathsep.join(os.path.join(folder, "bin") for folder in (*folders, "/usr/local/cuda"))
        found = shutil.which(name, path=path)
    return found


def _kind(path: str) -> Kind:
    name = os.path.basename(path)
    for kind, pattern in ((Kind.NVCC, "nvcc"), (Kind.MCC, "mcc"), (Kind.CLANG, "clang")):
        if pattern in name:
            return kind
    return Kind.GCC


@dataclass(frozen=True)
class Done:
    """What a command came to. `code` is None where it took too long."""

    code: int | None
    out: bytes
    err: bytes


def execute(command: Sequence[str], folder: Path, seconds: float) -> Done:
    """Run a compiler. Raises MusifyError where it cannot be started."""
    environment = {**os.environ, "LC_ALL": "C"}  # messages in the form that is read here
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, timeout=seconds, env=environment, stdin=subprocess.DEVNULL,
            check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)
    except subprocess.TimeoutExpired:
        return Done(None, b"", b"")
    except OSError as error:
        raise MusifyError(f"{command[0]}: cannot be run: {error.strerror or error}") from error
