"""The compiled rules on disk, so that start-up does not pay for parsing them.

The key is a hash over names, sizes, times and the code's version; a stale or broken cache is only ever slow.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from musify import __version__
from musify.source.writing import write_atomically

_FORM = 9


def load(
    folder: Path,
    parts: Sequence[str],
    compile_rules: Callable[[Path], dict[str, Any]],
    own: Sequence[bytes] = (),
    form: Sequence[str] = (),
) -> dict[str, Any]:
    """What `compile_rules` makes of the folders `parts` in `folder`, from the cache where it is fresh.

    `own`: what stands in rule files of the user's that it puts over them. `form`: words for what else it does to them.
    """
    # Each installation has files of its own, so that two of them in turn do not make each other's stale.
    kind = "-".join([*parts, *form, *(["own"] if own else []), hashlib.sha256(str(folder).encode()).hexdigest()[:8]])
    path = cache_folder() / f"rules-{kind}-{_fingerprint(folder, parts, own)}.marshal"
    with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
        tables = marshal.loads(path.read_bytes())
        if isinstance(tables, dict):
            return tables
    tables = compile_rules(folder)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        for stale in path.parent.glob(f"rules-{kind}-*.marshal"):
            stale.unlink(missing_ok=True)
        write_atomically(path, marshal.dumps(tables))
    return tables


def cache_folder() -> Path:
    """Where musify keeps what it can make again."""
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base or os.path.expanduser("~/.cache")) / "musify"


def _fingerprint(folder: Path, parts: Sequence[str], own: Sequence[bytes]) -> str:
    digest = hashlib.sha256(f"{__version__} {_FORM} {sys.implementation.cache_tag} {folder}".encode())
    for sub in parts:
        with os.scandir(folder / sub) as entries:
            for entry in sorted(entries, key=lambda item: item.name):
                status = entry.stat()
                digest.update(f"{sub}/{entry.name} {status.st_size} {status.st_mtime_ns}".encode())
    for module in ("loader.py", "mapping.py", "inverse.py", "interest.py", "book.py", "model.py"):
        digest.update(str((Path(__file__).parent / module).stat().st_mtime_ns).encode())
    for content in own:
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()[:20]
