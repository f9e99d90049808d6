"""Where a MUSA SDK lies, what it holds, and where CUDA's headers lie. Looks at folders and small files only."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from musify.model import MusifyError

# Ports try all three; the toolkit is installed into the first of the folders, ggml looks into the second as well.
_SDK_VARIABLES = ("MUSA_HOME", "MUSA_PATH", "MUSA_ROOT")
_SDK_FOLDERS = (Path("/usr/local/musa"), Path("/opt/musa"))
_CUDA_VARIABLES = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")
_CUDA_FOLDERS = (Path("/usr/local/cuda"),)
_HEADERS = ("musa.h", "musa_runtime.h", "musa_runtime_api.h")
# Both are MAJOR * 10000 + MINOR * 100 + PATCH (50200).
_VERSION_MACROS = (
    ("musa.h", "MUSA_VERSION"),
    ("musart_version.h", "MUSART_VERSION"),
    ("musa_runtime_api.h", "MUSART_VERSION"),
)


class Sdk(NamedTuple):
    """A MUSA SDK. `version` is `5.2.0`, empty where unknown; `compiler` is mcc, None where missing."""

    root: Path
    include: Path
    libraries: tuple[Path, ...]
    version: str
    compiler: Path | None


def find_sdk(given: Path | None = None) -> Sdk:
    """The SDK in the folder `given`, else where MUSA_HOME, MUSA_PATH or MUSA_ROOT say, else where it is installed.

    Raises MusifyError where there is none, or where the folder that was given or set is no SDK.
    """
    if given is not None:
        return _sdk_at(given, str(given))
    for variable in _SDK_VARIABLES:
        if os.environ.get(variable):
            root = Path(os.environ[variable])
            return _sdk_at(root, f"{variable}={root}")
    for root in _SDK_FOLDERS:
        if root.is_dir():
            return _sdk_at(root, str(root))
    places = ", ".join([*_SDK_VARIABLES, *map(str, _SDK_FOLDERS)])
    raise MusifyError(f"no MUSA SDK found ({places}); name its folder")


def is_installed() -> bool:
    """Whether an SDK is named by the environment, or stands where SDKs are installed."""
    return any(os.environ.get(variable) for variable in _SDK_VARIABLES) or any(root.is_dir() for root in _SDK_FOLDERS)


def cuda_include() -> Path | None:
    """CUDA's include folder, from CUDA_HOME, CUDA_PATH, CUDA_ROOT or the usual place; None where there is none."""
    roots = [Path(os.environ[name]) for name in _CUDA_VARIABLES if os.environ.get(name)]
    for root in (*roots, *_CUDA_FOLDERS):
        if _is_file(root / "include" / "cuda.h"):
            return root / "include"
    return None


def _sdk_at(root: Path, named: str) -> Sdk:
    if not root.is_dir():
        raise MusifyError(f"{named}: no such folder; name the folder of a MUSA SDK, which holds include/musa_runtime.h")
    include = root / "include"
    try:
        found = any((include / name).is_file() for name in _HEADERS)
    except OSError as error:
        raise MusifyError(f"{named}: cannot be read: {error.strerror or error}") from error
    if not found:
        raise MusifyError(f"{named}: no MUSA SDK: include/ has none of {', '.join(_HEADERS)}")
    libraries = tuple(folder for folder in (root / "lib", root / "lib64") if folder.is_dir())
    compiler = root / "bin" / "mcc"
    return Sdk(root, include, libraries, _version(root), compiler if os.access(compiler, os.X_OK) else None)


def _version(root: Path) -> str:
    for header, macro in _VERSION_MACROS:
        match = re.search(
            rb"^[ \t]*#[ \t]*define[ \t]+" + macro.encode() + rb"[ \t]+\(?(\d+)", _read(root / "include" / header), re.M
        )
        if match:
            number = int(match.group(1))
            return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    try:
        return _version_in(json.loads(_read(root / "version.json") or b"{}"))
    except ValueError:
        return ""


def _version_in(content: Any) -> str:
    """The version in a version.json of the form that CUDA's has: parts by name, each with a version."""
    if not isinstance(content, Mapping):
        return ""
    for name, part in content.items():
        version = part.get("version") if isinstance(part, Mapping) else None
        if name.lower().startswith("musa") and isinstance(version, str) and re.fullmatch(r"\d+(\.\d+)*", version):
            return version
    return ""


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
