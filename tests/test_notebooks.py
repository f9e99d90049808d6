"""Notebooks: what is converted in their cells, what stays, and that no other byte changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from musify.engine.document import Conversion
from musify.engine.notebook import convert_notebook
from musify.languages.surroundings import BuildSurroundings, Settings
from musify.rules.book import RuleBook
from musify.source.document import Document
from tests.commands import contents, musify, write


def notebook(*cells: str, indent: int | None = 1, **others: object) -> str:
    """A notebook with these code cells."""
    listed = [
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": cell.splitlines(True)}
        for cell in cells
    ]
    return json.dumps({"cells": listed, "nbformat": 4, **others}, indent=indent)


def converted(rules: RuleBook, text: str | bytes) -> Conversion:
    data = text if isinstance(text, bytes) else text.encode()
    return convert_notebook(Document.from_bytes(data), rules, Settings(), BuildSurroundings("a.ipynb"))


def cells_of(conversion: Conversion) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(conversion.new_data)["cells"]]


def ids(conversion: Conversion) -> list[tuple[int, str]]:
    position = conversion.document.position
    return [(position(item.span.start).line, item.rule_id) for item in conversion.findings]


UNCHANGED = {
    "outputs": '{"cells": [{"cell_type": "code", "outputs": [{"text": ["x.cuda() cudaMalloc nvcc"]}], "source": ["x"]}]}',
    "text": '{"cells": [{"cell_type": "markdown", "source": ["run `nvcc a.cu` and torch.cuda"]}]}',
    "raw cells": '{"cells": [{"cell_type": "raw", "source": ["!nvcc a.cu"]}]}',
    "metadata": '{"cells": [], "metadata": {"accelerator": "cuda", "source": ["import torch.cuda"]}}',
    "no source": '{"cells": [{"cell_type": "code", "outputs": ["CUDA"]}, {"cell_type": "code", "source": []}]}',
    "nothing": "",
    "comments": notebook("# CUDA\nx = 1  # nvcc"),
    "text of another sort": notebook("%%markdown\nCUDA's nvcc", "%%html\n<b>CUDA</b>"),
}


@pytest.mark.parametrize("text", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(rules: RuleBook, text: str) -> None:
    conversion = converted(rules, text)
    assert conversion.new_data == text.encode()
    assert not conversion.findings or text == ""


def test_cells_know_each_other(rules: RuleBook) -> None:
    conversion = converted(rules, notebook("import torch as t", "x = 1", "t.cuda.synchronize()\nt.ones(1).cuda()"))
    assert cells_of(conversion) == [
        "import torch as t\nimport torch_musa  # noqa: F401",
        "x = 1",
        "t.musa.synchronize()\nt.ones(1).musa()",
    ]
    assert not converted(rules, conversion.new_data).edits


def test_import_goes_where_torch_is_imported_first(rules: RuleBook) -> None:
    conversion = converted(
        rules, notebook("import os", "import torch\nimport numpy", "import torch\ntorch.cuda.init()")
    )
    assert cells_of(conversion)[1] == "import torch\nimport torch_musa  # noqa: F401\nimport numpy"
    assert cells_of(conversion)[2] == "import torch\ntorch.musa.init()"


def test_lines_stay_strings_of_their_own(rules: RuleBook) -> None:
    text = notebook("import torch", "import os\nx.cuda()")
    lines = converted(rules, text).new_data.decode().splitlines()
    at = lines.index('    "import torch\\n",')
    assert lines[at + 1] == '    "import torch_musa  # noqa: F401"'


FORMS = {
    "indentation": notebook("import torch\nx.cuda()", indent=4),
    "one line": notebook("import torch\nx.cuda()", indent=None),
    "a string": '{"cells":[{"cell_type":"code","source":"import torch\\nx.cuda()"}]}',
    "order of keys": '{"b": 1, "cells": [{"source": ["import torch\\n", "x.cuda()"], "cell_type": "code"}], "a": 2}',
    "escapes": '{"cells": [{"cell_type": "code", "source": ["import torch\\n", "print(\\"\\u00e9 \\ud83d\\ude00 é\\")\\n", "x.cuda()"]}], "z": "\\u00e9\\/é"}',
    "version 3": '{"worksheets": [{"cells": [{"cell_type": "code", "input": ["import torch\\n", "x.cuda()"]}]}]}',
    "CRLF": notebook("import torch\nx.cuda()").replace("\n", "\r\n"),
    "a mark and a last newline": "\ufeff" + notebook("import torch\nx.cuda()") + "\n",
}  # fmt: skip


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_every_other_byte_stays(rules: RuleBook, text: str) -> None:
    conversion = converted(rules, text)
    data = conversion.new_data
    assert b"x.musa()" in data and b"import torch_musa" in data
    json.loads(data.decode().removeprefix("\ufeff"))
    for edit in reversed(conversion.edits):  # nothing but what the edits say
        assert edit.new_text in data
    pieces, position = [], 0
    for edit in conversion.edits:
        pieces.append(text.encode()[position : edit.span.start])
        position = edit.span.end
    pieces.append(text.encode()[position:])
    assert all(piece in data for piece in pieces)
    assert not converted(rules, data).edits


MAGICS = {
    "a command": ("!nvcc -arch=sm_80 a.cu -o a", "!mcc "),
    "a command in a block": ("if x:\n    !nvcc a.cu\n    y.cuda()", "if x:\n    !mcc -x musa a.cu -lmusart\n    y.musa()"),
    "a command whose output is kept": ("x = !nvcc a.cu\ny.cuda()", "x = !mcc -x musa a.cu -lmusart\ny.musa()"),
    "a command over two lines": ("!nvcc \\\n  a.cu\ny.cuda()", "!mcc \\\n  -x musa a.cu -lmusart\ny.musa()"),
    "quotes of a command": ("!echo it's\ny.cuda()", "!echo it's\ny.musa()"),
    "environment": ("%env CUDA_VISIBLE_DEVICES=0\ny.cuda()", "%env MUSA_VISIBLE_DEVICES=0\ny.musa()"),
    "environment with a blank": ("%env CUDA_VISIBLE_DEVICES 0,1", "%env MUSA_VISIBLE_DEVICES 0,1"),
    "a magic before a statement": ("%time y.cuda()", "%time y.musa()"),
    "a magic with options": ("%timeit -n 10 -r 3 y.cuda()", "%timeit -n 10 -r 3 y.musa()"),
    "a cell of Python": ("%%time\ny.cuda()", "%%time\ny.musa()"),
    "a cell of an unknown magic that is Python": ("%%mine\ny.cuda()", "%%mine\ny.musa()"),
    "a shell": ("%%bash\nexport CUDA_HOME=/usr/local/cuda\nnvcc a.cu", "%%bash\nexport MUSA_HOME=/usr/local/musa\nmcc -x musa a.cu"),
    "a script of a shell": ("%%script bash\nnvcc a.cu", "%%script bash\nmcc -x musa a.cu"),
    "a script of Python": ("%%script python\ny.cuda()", "%%script python\ny.musa()"),
    "a source": ("%%writefile a.cu\n#include <cuda_fp16.h>\ncudaError_t e;", "%%writefile a.cu\n#include <musa_fp16.h>\nmusaError_t e;"),
    "a source below a title": ("# @title CUDA\n%%writefile a.cu\ncudaError_t e;", "# @title CUDA\n%%writefile a.cu\nmusaError_t e;"),
    "a module": ("%%writefile -a a.py\nimport torch\nx.cuda()", "%%writefile -a a.py\nimport torch\nimport torch_musa  # noqa: F401\nx.musa()"),
    "CUDA": ("%%cu\ncudaError_t e;", "%%cu\nmusaError_t e;"),
    "a modulo": ("x = (a\n  %b)\ny.cuda()", "x = (a\n  %b)\ny.musa()"),
    "text with percent signs": ("s = '''\n%cuda\n!nvcc\n'''\ny.cuda()", "s = '''\n%cuda\n!nvcc\n'''\ny.musa()"),
    "help": ("torch.cuda?\ny.cuda()", "torch.musa?\ny.musa()"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), MAGICS.values(), ids=MAGICS.keys())
def test_magics(rules: RuleBook, source: str, expected: str) -> None:
    conversion = converted(rules, notebook("import torch\nimport torch_musa", source))
    assert expected in cells_of(conversion)[1]
    assert expected.count("\n") == cells_of(conversion)[1].count("\n")
    assert not converted(rules, conversion.new_data).edits


def test_broken_cell_does_not_tear_down_the_others(rules: RuleBook) -> None:
    conversion = converted(rules, notebook("import torch as t", "print 'x", "t.cuda.init()"))
    assert cells_of(conversion)[2] == "t.musa.init()"


def test_cell_of_an_unknown_language_is_reported(rules: RuleBook) -> None:
    text = notebook("%%R\nx <- device('cuda')\nif (y) { 1 } else { 2 }")
    conversion = converted(rules, text)
    assert conversion.new_data == text.encode()
    assert [item.rule_id for item in conversion.findings] == ["MUS504"]


def test_import_before_one_that_needs_it(rules: RuleBook) -> None:
    conversion = converted(rules, notebook("x = 1", "from torch import cuda\ncuda.synchronize()"))
    assert cells_of(conversion) == [
        "x = 1",
        "import torch_musa  # noqa: F401\nfrom torch import musa\nmusa.synchronize()",
    ]


def test_broken_cell_knows_what_others_import(rules: RuleBook) -> None:
    conversion = converted(rules, notebook("import os\nimport torch", "broken(\nimport torch\nx = torch.cuda.Stream()"))
    assert cells_of(conversion) == [
        "import os\nimport torch\nimport torch_musa  # noqa: F401",
        "broken(\nimport torch\nx = torch.musa.Stream()",
    ]
    assert not converted(rules, conversion.new_data).edits


def test_source_in_a_string_in_a_cell(rules: RuleBook) -> None:
    cell = 'import cupy as cp\nk = cp.RawKernel("""\n__global__ void k() {\n  cudaError_t e;\n  cudaBrandNew();\n}""", "k")'
    conversion = converted(rules, notebook("x = 1", cell))
    assert "  musaError_t e;" in cells_of(conversion)[1]
    finding = next(item for item in conversion.findings if item.rule_id == "MUS101")
    line, column = conversion.document.position(finding.span.start)
    assert conversion.document.data.decode().splitlines()[line - 1][column - 1 :].startswith("cudaBrandNew")
    assert finding.arguments["cell"] == "2"


def test_flags_over_several_lines(rules: RuleBook) -> None:
    cell = (
        "from torch.utils.cpp_extension import load\nm = load(name='m', sources=['a.cu'], extra_cuda_cflags=[\n"
        "    '-O3',\n    '--expt-relaxed-constexpr',\n    '--expt-extended-lambda',\n    '-g',\n])"
    )
    conversion = converted(rules, notebook(cell))
    assert conversion.edits and "MUS902" not in {item.rule_id for item in conversion.findings}
    compile(cells_of(conversion)[0], "cell", "exec")
    assert "extra_musa_cflags" in cells_of(conversion)[0] and "--expt" not in cells_of(conversion)[0]


BROKEN = {
    "a bracket too few": '{"cells": [{"cell_type": "code", "source": ["torch.cuda"]}]',
    "a comma too many": '{"cells": [{"cell_type": "code", "source": ["torch.cuda",]}]}',
    "a comment": '{"cells": [] // torch.cuda\n}',
    "no object": '["torch.cuda"]',
    "cells of another kind": '{"cells": ["torch.cuda"]}',
    "a string that is not closed": '{"cells": "torch.cuda',
    "text": "torch.cuda",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_broken(rules: RuleBook, text: str) -> None:
    conversion = converted(rules, text)
    assert conversion.new_data == text.encode()
    assert [item.rule_id for item in conversion.findings] == ["MUS630"]


def test_way_back(tmp_path: Path) -> None:
    cells = notebook("import torch_musa\nx.musa()", "%%writefile a.mu\nmusaError_t e;")
    write(tmp_path / "in", {"a.ipynb": cells})
    report = tmp_path / "report.json"
    done = musify("convert", tmp_path / "in", "--reverse", "-q", "-o", tmp_path / "out", "--report", f"json:{report}")
    assert done.code == 0, done.err
    after = json.loads(contents(tmp_path / "out")["a.ipynb"])["cells"]
    assert "".join(after[1]["source"]).endswith("cudaError_t e;")
    found = json.loads(report.read_text())["files"][0]["findings"]
    assert "MUS136" in {item["id"] for item in found}


def test_markers(rules: RuleBook) -> None:
    cell = "import torch\nx.cuda()  # MUSIFY_EXCL_LINE\ny.cuda()\n# musify: ignore[MUS602] known\ntorch.version.cuda"
    conversion = converted(rules, notebook(cell))
    assert "x.cuda()" in cells_of(conversion)[0] and "y.musa()" in cells_of(conversion)[0]
    assert [item.suppressed for item in conversion.findings if item.rule_id == "MUS602"] == [True]
    assert "MUS904" not in {item.rule_id for item in conversion.findings}


def test_command(tmp_path: Path) -> None:
    write(tmp_path / "in", {"a.ipynb": notebook("import torch\ntorch.version.cuda", "torch.cuda.init()")})
    done = musify("convert", tmp_path / "in", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert b"torch.musa.init()" in contents(tmp_path / "out")["a.ipynb"]
    assert "a.ipynb:10:" in done.err + done.out and "(cell 1)" in done.err + done.out
