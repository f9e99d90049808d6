"""Finding libclang, its Python binding and the headers that belong to it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from musify.model import MusifyError

_INSTALL = "install it with: pip install 'cuda-musify[semantic]'"


class Library(NamedTuple):
    """The binding (`clang.cindex`), one index of it, and the folder of clang's own headers, None where it has none."""

    cindex: Any
    index: Any
    resources: Path | None


@lru_cache(maxsize=1)
def load() -> Library:
    """libclang, loaded once a process. Raises MusifyError where it is missing or cannot be loaded."""
    try:
        from clang import cindex
    except ImportError as error:
        raise MusifyError(f"libclang is needed and not installed; {_INSTALL}") from error
    # The wheel would add its own libc++ to every parse, which does not go together with CUDA's headers.
    cindex.Config.libcxx_dir = None
    try:
        index = cindex.Index.create()
    except (cindex.LibclangError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise MusifyError(f"libclang cannot be loaded ({reason}); {_INSTALL}") from error
    return Library(cindex, index, _resources(cindex))


def _resources(cindex: Any) -> Path | None:
    """`stddef.h` and clang's CUDA wrappers: libclang-ng brings them, the wheel called libclang does not."""
    known = getattr(cindex.Config, "resource_dir", None) or Path(cindex.__file__).parent / "native" / "resource"
    folder = Path(known)
    return folder if (folder / "include" / "stddef.h").is_file() else None
