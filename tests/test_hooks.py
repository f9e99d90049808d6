"""The hooks of .pre-commit-hooks.yaml under the real pre-commit, and the steps of action.yml under a real shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from musify.languages.cuda.source import SUFFIXES
from tests.commands import ROOT, write
from tests.test_changes import git

CLEAN = "void f(void* p) { musaFree(p); }\n"
CUDA = "void f(void* p) { cudaFree(p); }\n"


def hooks() -> list[dict[str, Any]]:
    """The hooks as they are shipped, but run from this checkout and not from an environment of their own."""
    shipped: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    for hook in shipped:
        hook["language"] = "system"
        hook["entry"] = hook["entry"].replace("musify ", f"{sys.executable} -m musify ", 1)
    return shipped


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    files = {"a.cpp": CLEAN, "other.cpp": CUDA, "own.h": "void cudaOurs(int);\n", "notes.txt": "cudaFree\n"}
    tree = write(tmp_path / "tree", files)
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "first")
    return tree


def commit(repository: Path, hook: str) -> subprocess.CompletedProcess[str]:
    """Run one hook on what is staged, as a commit does."""
    chosen = [item for item in hooks() if item["id"] == hook]
    configuration = {"repos": [{"repo": "local", "hooks": chosen}]}
    path = repository.parent / "hooks.yaml"
    path.write_text(yaml.safe_dump(configuration), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PRE_COMMIT_HOME": str(repository.parent / "home")}
    command = [sys.executable, "-m", "pre_commit", "run", "--config", str(path), "--color", "never"]
    return subprocess.run(command, cwd=repository, capture_output=True, text=True, env=environment, check=False)


def test_nothing_staged_costs_nothing(repository: Path) -> None:
    done = commit(repository, "musify-check")
    assert done.returncode == 0 and "Skipped" in done.stdout


def test_every_source_suffix_is_looked_at() -> None:
    for hook in hooks():
        pattern = re.compile(hook["files"])
        assert all(pattern.search(f"src/a{suffix}") for suffix in SUFFIXES)
        assert not any(pattern.search(name) for name in ("a.mu", "notes.txt", "a.cu.orig", "README.md"))


def test_other_files_are_not_looked_at(repository: Path) -> None:
    write(repository, {"notes.txt": "cudaMalloc\n"})
    git(repository, "add", ".")
    assert "Skipped" in commit(repository, "musify-check").stdout


def test_check_passes_what_is_clean(repository: Path) -> None:
    write(repository, {"a.cpp": CLEAN + "void g() { cudaOurs(1); }\n"})
    git(repository, "add", ".")
    done = commit(repository, "musify-check")
    assert done.returncode == 0 and "Passed" in done.stdout


def test_check_stops_cuda(repository: Path) -> None:
    write(repository, {"a.cpp": CLEAN + CUDA})
    git(repository, "add", ".")
    done = commit(repository, "musify-check")
    assert done.returncode == 1 and "a.cpp: would change (1 edits)" in done.stdout
    assert "other.cpp" not in done.stdout


def test_convert_changes_what_is_staged(repository: Path) -> None:
    write(repository, {"a.cpp": CLEAN + CUDA})
    git(repository, "add", ".")
    done = commit(repository, "musify-convert")
    assert done.returncode == 1 and "files were modified by this hook" in done.stdout
    assert (repository / "a.cpp").read_text() == CLEAN + CLEAN
    assert (repository / "other.cpp").read_text() == CUDA
    git(repository, "add", ".")
    assert commit(repository, "musify-convert").returncode == 0


def test_partly_staged_files_keep_what_is_not_staged(repository: Path) -> None:
    write(repository, {"a.cpp": CUDA + CLEAN})
    git(repository, "add", ".")
    write(repository, {"a.cpp": CUDA + CLEAN + "\n\n\nint unstaged;\n"})
    done = commit(repository, "musify-check")
    assert done.returncode == 1
    assert (repository / "a.cpp").read_text() == CUDA + CLEAN + "\n\n\nint unstaged;\n"
    commit(repository, "musify-convert")
    assert "int unstaged;" in (repository / "a.cpp").read_text()


def test_action(repository: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    defaults = {name: str(item["default"]) for name, item in action["inputs"].items()}
    step = action["runs"]["steps"][-1]
    values = {**defaults, "diff-base": "main", "sarif": "out.sarif", "arguments": "--arch mp_31 --fail-on error"}
    inputs = {name: values[text.split("inputs.")[1].split(" ")[0]] for name, text in step["env"].items()}
    write(repository, {"a.cpp": "void h() { cudaNope(1); }\n"})
    summary = repository.parent / "summary.md"
    musify = write(repository.parent, {"bin/musify": f'#!/bin/sh\nexec {sys.executable} -m musify "$@"\n'}) / "bin"
    (musify / "musify").chmod(0o755)
    environment = {
        **os.environ, **inputs, "GITHUB_STEP_SUMMARY": str(summary), "PYTHONPATH": str(ROOT),
        "PATH": f"{musify}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("::warning file=a.cpp,line=1") and done.stdout.count("\n") == 1
    assert "MUS101" in summary.read_text(encoding="utf-8") and (repository / "out.sarif").stat().st_size
