"""Whole PyTorch projects, `fixtures/projects/NAME`: `before/` becomes `after/` in one command, with nothing done by hand.

`findings.json` is what is said, as [[path, id, line], ...] without notes. `stays.json` has the words with CUDA in them that
are right as they stand, each with the reason: all others that are left have a finding at their line.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from musify.languages.build.facts import cuda_words
from musify.languages.registry import Language
from musify.model import Edit
from musify.source.document import Document
from musify.source.lexer import TokenKind, tokenize
from musify.source.positions import PositionMap
from tests.commands import ROOT, contents, musify, write
from tests.extension_stand_ins import run_script

sys.path.insert(0, os.fspath(ROOT / "tools"))

from build_leftovers import span_of  # in tools
from comments import without_comments

pytestmark = pytest.mark.usefixtures("own_state")

PROJECTS = sorted(path.parent for path in (ROOT / "fixtures" / "projects").glob("*/before"))
_WORD = re.compile(rb"[\w.+-]+")
_TORCH = re.compile(r"\btorch\.musa\b|\.musa\(|\"musa|\"mccl\"")


def name_of(project: Path) -> str:
    return project.name


@pytest.fixture(scope="module", params=PROJECTS, ids=name_of)
def project(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


class Converted:
    """A project after one command: its files, and the report."""

    def __init__(self, before: Path, folder: Path) -> None:
        self.before, self.output = before, folder / "out"
        report = folder / "report.json"
        done = musify("convert", before, "-o", self.output, "-q", "--report", f"json:{report}")
        assert done.code == 0, done.err
        self.files: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["files"]

    def path(self, file: dict[str, Any]) -> str:
        return Path(file["path"]).relative_to(self.before).as_posix()


@pytest.fixture(scope="module")
def converted(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Converted:
    return Converted(project / "before", tmp_path_factory.mktemp(project.name))


def test_there_are_four() -> None:
    assert [project.name for project in PROJECTS] == ["data_parallel", "deformable", "experts", "scan"]


def test_result(project: Path, converted: Converted) -> None:
    assert contents(converted.output) == contents(project / "after")


def test_findings(project: Path, converted: Converted) -> None:
    found = [
        [converted.path(file), finding["id"], finding["line"]]
        for file in converted.files
        for finding in file["findings"]
        if finding["severity"] != "note"
    ]
    assert sorted(found) == sorted(json.loads((project / "findings.json").read_text(encoding="utf-8")))


def test_second_run_changes_nothing(project: Path) -> None:
    assert musify("convert", project / "after", "-q").out == ""


def python_files(project: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((project / "after").rglob("*.py")):
        yield path.relative_to(project / "after").as_posix(), path.read_text(encoding="utf-8")


def test_python_compiles(project: Path) -> None:
    for path, text in python_files(project):
        compile(text, path, "exec")


SETUP_SCRIPTS = {
    "experts": (".", ["cuda/stream_manager.cpp", "cuda/binding.cpp", "cuda/exchange.cpp", "cuda/routing.mu", "cuda/expert_linear.mu"]),
    "scan": (".", ["csrc/scan.cpp", "csrc/scan_fwd_fp32.mu", "csrc/scan_fwd_fp16.mu"]),
    "deformable": ("ops", ["src/vision.cpp", "src/cpu/attention_cpu.cpp", "src/cuda/attention_cuda.mu"]),
}  # fmt: skip


@pytest.mark.parametrize("name", SETUP_SCRIPTS)
def test_setup_scripts_run(name: str, tmp_path: Path) -> None:
    """With stand-ins: they build for MUSA, from sources that are there, with flags for mcc."""
    folder, sources = SETUP_SCRIPTS[name]
    shutil.copytree(ROOT / "fixtures" / "projects" / name / "after", tmp_path / "project")
    root = tmp_path / "project" / folder
    found = run_script(root, tmp_path / "stand-ins", FORCE_CUDA="1")
    extension = found["MUSAExtension"]
    given = extension.get("sources") or extension["args"][1]
    assert [os.path.relpath(root / source, root) for source in given] == sources
    assert all((root / source).is_file() for source in sources)
    flags = extension["extra_compile_args"]
    assert set(flags) == {"cxx", "mcc"} and "nvcc" not in found
    assert found["setup"]["cmdclass"] == {"build_ext": "<class 'torch_musa.utils.musa_extension.BuildExtension'>"}


def test_imports_are_in_order(project: Path) -> None:
    """torch_musa once, in files that use the device and in no other, after torch, docstring and __future__."""
    for path, text in python_files(project):
        imported = [module for _, module in imports(text)]
        ours = [module for module in imported if module.split(".")[0] == "torch_musa"]
        assert len(ours) == (1 if _TORCH.search(text) or "musa_extension" in text else 0), path
        if ours:
            position = imported.index(ours[0])
            packages = [module.split(".")[0] for module in imported]
            assert "torch" in packages[:position] or "torch" not in packages, path
            assert "__future__" not in packages[position:], path


def imports(text: str) -> list[tuple[int, str]]:
    """The modules that a file imports, in order, with their lines; a docstring comes before all of them."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append((node.lineno, node.module))
    return sorted(found)


def test_nothing_is_left_in_silence(project: Path, converted: Converted) -> None:
    right = json.loads((project / "stays.json").read_text(encoding="utf-8"))
    silent = [(converted.path(file), *word) for file in converted.files for word in silent_words(converted, file)]
    assert {name for _, _, name in silent} == set(right)


def silent_words(converted: Converted, file: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """CUDA words of a converted file that were there before, with their line there, and have no finding at it."""
    if file["language"] is None:
        return
    old = Document.from_bytes(Path(file["path"]).read_bytes())
    target = converted.output / Path(file["output_path"]).relative_to(converted.before)
    new = Document.from_bytes(target.read_bytes())
    edits = [Edit(span_of(old, edit), edit["new_text"].encode(), edit["rule_id"]) for edit in file["edits"]]
    places, written = PositionMap(edits), written_places(edits)
    reported = {line for finding in file["findings"] for line in range(finding["line"], finding["end_line"] + 1)}
    code = code_of(file["language"], new.data)
    for match in cuda_words().finditer(code):
        line = old.line_index(places.original(match.start())) + 1
        if line in reported or any(start <= match.start() < end for start, end in written):
            continue
        word = next(item for item in _WORD.finditer(code) if item.start() <= match.start() < item.end())
        yield line, word.group().decode()


def written_places(edits: list[Edit]) -> list[tuple[int, int]]:
    """Where the new texts stand in the converted file."""
    found, shift = [], 0
    for edit in sorted(edits, key=lambda item: item.span):
        start = edit.span.start + shift
        found.append((start, start + len(edit.new_text)))
        shift += len(edit.new_text) - (edit.span.end - edit.span.start)
    return found


def code_of(language: str, data: bytes) -> bytes:
    """A file with blanks in place of its comments."""
    if language != Language.CUDA.value:
        return without_comments(language, data)
    parts = [
        b" " * (token.end - token.start) if token.kind is TokenKind.COMMENT else data[token.start : token.end]
        for token in tokenize(data)
    ]
    return b"".join(parts)


def test_torchada_leaves_the_python_as_it_is(project: Path, tmp_path: Path) -> None:
    before = project / "before"
    assert musify("convert", before, "-o", tmp_path / "out", "-q", "--python-mode", "torchada").code == 0
    same, made = contents(before), contents(tmp_path / "out")
    scripts = [path for path in same if path.endswith(".py")]
    assert scripts and [path for path in scripts if made[path] != same[path]] == []
    assert made != same  # shell scripts and C++ are converted


def test_the_proof_can_fail(tmp_path: Path) -> None:
    source = "#include <torch/extension.h>\nvoid f() { cudaFree(0); } // MUSIFY_EXCL_LINE\nvoid my_cuda(); // cuda\n"
    result = Converted(write(tmp_path / "in", {"a.cu": source}), tmp_path)
    assert list(silent_words(result, result.files[0])) == [(2, "cudaFree"), (3, "my_cuda")]
