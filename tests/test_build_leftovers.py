"""The proof that build files keep nothing in silence: it holds for the golden trees, and it can fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT, write

TOOL = ROOT / "tools" / "build_leftovers.py"


def prove(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), *(str(argument) for argument in arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_golden_trees() -> None:
    done = prove(ROOT / "fixtures" / "build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| build |" in done.stdout


def test_words_beside_edits(tmp_path: Path) -> None:
    write(tmp_path, {"cuda_kernel.cu": "", "Jenkinsfile": "sh 'cc cuda_kernel.cu $CUDA_HOME/my_cuda' // no\n// CUDA\n"})
    done = prove(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| 1 plain | 1 | 2 |" in done.stdout and "| 2 (100.0 %) |" in done.stdout


def test_words_that_a_reader_has_no_token_for(tmp_path: Path) -> None:
    done = prove(write(tmp_path, {"broken.py": "cdef extern from 'my_cufft.h' nogil:\n    pass\n"}))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| 1 (100.0 %) |" in done.stdout


def test_a_word_in_silence_is_found(tmp_path: Path) -> None:
    """A marker keeps a line as it is, without a finding: the proof must not take that for granted."""
    write(tmp_path, {"Makefile": "a:\n\tnvcc a.c # MUSIFY_EXCL_LINE\n"})
    done = prove(tmp_path)
    assert done.returncode == 1
    assert f"silent: {tmp_path.name}/Makefile:2: nvcc" in done.stdout


@pytest.mark.parametrize(
    ("language", "text", "code"),
    [
        ("make", "a # CUDA\n#CUDA\\\nCUDA\nb#CUDA 'x # y' \\# CUDA\n", "a\n\n\nb#CUDA 'x # y' \\# CUDA\n"),
        ("cmake", 'a #[[CUDA\n]] b "# CUDA" # CUDA\n', 'a\n b "# CUDA"\n'),
        ("python", "a = '# CUDA' # CUDA\n", "a = '# CUDA'\n"),
        ("python", "'''CUDA\n'''\ndef f():\n    \"CUDA\"; x = \"CUDA\"\n", '\n\ndef f():\n    "CUDA"; x = "CUDA"\n'),
        ("python", 'def f():\n    "CUDA"\n    # CUDA\n    return 1\n', "def f():\n\n\n    return 1\n"),
        ("python", "broken( # CUDA\n", "broken(\n"),
        ("python", 'k = """__global__ // CUDA\n x; /* CUDA */"""\n', 'k = """__global__\n x;              """\n'),
        ("python", 'k = "http://CUDA"\n', 'k = "http://CUDA"\n'),
        ("json", '{"a": "// CUDA"} // CUDA\n', '{"a": "// CUDA"}\n'),
        (
            "notebook",
            '{\n   "cell_type": "markdown",\n   "source": [\n    "CUDA"\n   ]\n   "cell_type": "code",\n'
            '   "outputs": "CUDA",\n   "source": [\n    "CUDA # CUDA\\n",\n    "# CUDA"\n   ]\n}\n',
            "\n\n\n\n\n\n\n\n" + '    "CUDA       \\n",\n    "\n   ]\n\n',
        ),
        ("xmake", "a -- CUDA\n--[[CUDA\n]] '-- CUDA'\n", "a\n\n '-- CUDA'\n"),
        ("shell", "cat <<E # CUDA\n# CUDA\nE\n# CUDA\n", "cat <<E\n# CUDA\nE\n\n"),
        ("plain", "<a><!-- CUDA --></a>\n", "<a> </a>\n"),
    ],
)
def test_comments_are_no_code(language: str, text: str, code: str) -> None:
    script = "import sys; from comments import without_comments as c; sys.stdout.buffer.write(c(sys.argv[1], sys.stdin.buffer.read()))"
    command = [sys.executable, "-c", script, language]
    done = subprocess.run(command, input=text.encode(), capture_output=True, cwd=ROOT / "tools", check=True)
    assert len(done.stdout) == len(text)
    assert [line.split() for line in done.stdout.decode().splitlines()] == [line.split() for line in code.splitlines()]
