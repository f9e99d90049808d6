"""Commands run through the real entry point, on trees that a test writes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAT = ROOT / "fixtures" / "projects" / "heat"


class Run:
    """A finished command."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8", "surrogateescape")
        self.err = done.stderr.decode("utf-8", "surrogateescape")
        assert "Traceback" not in self.err, self.err


def musify(*arguments: object, cwd: Path | None = None, stdin: bytes = b"", **environment: str) -> Run:
    command = [sys.executable, "-m", "musify", *(str(argument) for argument in arguments)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return Run(subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, env=env, check=False))


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
