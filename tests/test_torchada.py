"""`--python-mode torchada`: Python stays as it is; what torchada does not carry is said, what is not known too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from musify.engine.document import Conversion, convert_build
from musify.languages.registry import Language
from musify.languages.surroundings import BuildSurroundings, IncludeTarget, Settings
from musify.rules.book import RuleBook
from musify.source.document import Document
from tests.commands import contents, musify, write

pytestmark = pytest.mark.usefixtures("own_state")

HEAD = "import torch\n"
RENAMED = BuildSurroundings("setup.py", {b"a.cu": [IncludeTarget("a.cu", "a.mu")]})


def judged(rules: RuleBook, source: str, surroundings: BuildSurroundings | None = None) -> Conversion:
    document = Document.from_bytes(source.encode())
    settings = Settings(python_mode="torchada")
    return convert_build(document, Language.PYTHON, rules, settings, surroundings or BuildSurroundings("a.py"))


SILENT = {
    "a call of torch.cuda": "torch.cuda.synchronize(); s = torch.cuda.Stream()\n",
    "an extension": "from torch.utils.cpp_extension import BuildExtension, CUDAExtension\nCUDAExtension('a', ['a.cpp'])\n",
    "flags under nvcc":
        "from torch.utils.cpp_extension import CUDAExtension\nCUDAExtension('a', [], extra_compile_args={'nvcc': ['-O3']})\n",
}  # fmt: skip
SAID = {
    "if torch.cuda.is_available(): pass\n": [("MUS610", "torch.cuda.is_available", None)],
    "import torch as t\nok = t.cuda.is_available\n": [("MUS610", "torch.cuda.is_available", None)],
    "if x.device.type == 'cuda': pass\n": [("MUS610", "cuda", None)],
    "if d.type in ('cpu', 'cuda'): pass\n": [("MUS610", "cuda", None)],
    "torch.cuda.nvtx.range_push('a')\n": [("MUS610", "torch.cuda.nvtx.range_push", "note")],
    "if args.device == 'cuda': pass\n": [("MUS611", "cuda", None)],
    "d = torch.device('cuda')\n": [("MUS611", "cuda", None)],
    "x = x.cuda()\n": [("MUS611", "cuda", None)],
    "torch.distributed.init_process_group('nccl')\n": [("MUS611", "nccl", None)],
    "from torch.cuda.amp import autocast\n": [("MUS611", "torch.cuda.amp", None)],
    "print(torch.version.cuda)\n": [("MUS611", "torch.version.cuda", None)],
    "torch.backends.cudnn.benchmark = True\n": [("MUS611", "torch.backends.cudnn", None)],
    "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n": [("MUS611", "CUDA_VISIBLE_DEVICES", None)],
    "print('needs a CUDA card')\n": [("MUS546", "CUDA", None)],
    "name = 'cuda'\n": [("MUS504", "cuda", None)],
    "from mine import cuda\n": [("MUS504", "cuda", None)],
}  # fmt: skip


@pytest.mark.parametrize("source", [*SILENT.values(), *SAID], ids=[*SILENT, *SAID])
def test_nothing_changes(rules: RuleBook, source: str) -> None:
    result = judged(rules, HEAD + source)
    assert result.edits == [] and result.new_data == (HEAD + source).encode()


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_what_it_carries_is_not_reported(rules: RuleBook, source: str) -> None:
    assert judged(rules, HEAD + source).findings == []


@pytest.mark.parametrize(("source", "expected"), SAID.items())
def test_said(rules: RuleBook, source: str, expected: list[tuple[str, str, str | None]]) -> None:
    found = judged(rules, HEAD + source).findings
    assert [(item.rule_id, item.name, item.severity and item.severity.value) for item in found] == expected


def test_a_source_that_gets_another_name(rules: RuleBook) -> None:
    source = "from torch.utils.cpp_extension import CUDAExtension\nCUDAExtension('a', ['a.cu'])\n"
    (finding,) = judged(rules, source, RENAMED).findings
    assert (finding.rule_id, finding.name, finding.arguments["new"]) == ("MUS612", "a.cu", "a.mu")


def test_configurations_and_launchers_keep_their_devices(tmp_path: Path) -> None:
    files = {
        "c.yaml": "device: cuda\nbackend: nccl\n",
        "run.sh": "export CUDA_VISIBLE_DEVICES=0\npython train.py --device cuda --dist-backend nccl\n",
        "train.py": HEAD + "x = torch.ones(1).to('cuda')\n",
    }
    tree = write(tmp_path / "in", files)
    report = tmp_path / "r.json"
    musify("convert", tree, "-o", tmp_path / "out", "-q", "--python-mode", "torchada", "--report", f"json:{report}")
    made = contents(tmp_path / "out")
    assert made["c.yaml"] == files["c.yaml"].encode() and made["train.py"] == files["train.py"].encode()
    assert made["run.sh"] == files["run.sh"].replace("CUDA_VISIBLE", "MUSA_VISIBLE").encode()
    found = [item["id"] for file in json.loads(report.read_text())["files"] for item in file["findings"]]
    assert found == ["MUS611"] * 5
    assert "device: musa" in musify("convert", tree, "-q").out


def test_notebooks_stay(tmp_path: Path) -> None:
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": [HEAD, "x.cuda()\n"],
    }
    book = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    tree = write(tmp_path / "in", {"a.ipynb": book})
    assert ".musa()" in musify("convert", tree, "-q").out
    assert musify("convert", tree, "-q", "--python-mode", "torchada").out == ""


def test_command_and_configuration(tmp_path: Path) -> None:
    files = {"a.py": HEAD + "x = torch.ones(1).cuda()\n", "k.cu": "void f() { cudaFree(0); }\n"}
    tree = write(tmp_path / "in", files)
    report = tmp_path / "r.json"
    options = ("--python-mode", "torchada", "-q", "--report", f"json:{report}")
    assert musify("convert", tree, "-o", tmp_path / "out", *options).code == 0
    assert contents(tmp_path / "out") == {"a.py": files["a.py"].encode(), "k.mu": b"void f() { musaFree(0); }\n"}
    found = {item["id"] for file in json.loads(report.read_text())["files"] for item in file["findings"]}
    assert found == {"MUS611"}
    assert ".musa()" in musify("convert", tree, "-q").out
    (tree / "musify.toml").write_text('python-mode = "torchada"\n', encoding="utf-8")
    assert ".musa()" not in musify("convert", tree, "-q").out
    (tree / "musify.toml").write_text('python-mode = "torch"\n', encoding="utf-8")
    done = musify("convert", tree)
    assert done.code == 2 and "torchada" in done.err
