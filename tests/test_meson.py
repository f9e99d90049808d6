"""Meson itself on what is converted, and on what docs/build-systems.md says to write; with a stand-in for mcc."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from musify.languages.meson.reading import MesonFile
from tests.commands import ROOT, write

CASES = ROOT / "fixtures" / "build" / "meson"
FILES = sorted(CASES.glob("*/before/**/meson.build"))
# Takes what mcc is told, and lets a host compiler do the work.
MCC = """#!{python}
import os, sys
words = sys.argv[1:]
assert words[:3] == ["-x", "musa", "-mtgpu"] and words[3].startswith("--offload-arch=mp_"), words
os.execvp({compiler!r}, ["c++", "-x", "c++", *words[4:]])
"""


def reads(path: Path) -> bool:
    """Whether Meson's own parser takes a file."""
    parser: Any = pytest.importorskip("mesonbuild.mparser", reason="Meson is not installed")
    try:
        parser.Parser(path.read_text(encoding="utf-8"), path.name).parse()
    except parser.MesonException:
        return False
    return True


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CASES).as_posix())
def test_meson_reads_what_it_read_before(path: Path) -> None:
    after = CASES / path.relative_to(CASES).as_posix().replace("/before/", "/after/")
    assert reads(after) == reads(path)


def test_recipe_of_the_documentation_builds(tmp_path: Path) -> None:
    pytest.importorskip("mesonbuild", reason="Meson is not installed")
    ninja: Any = pytest.importorskip("ninja", reason="ninja is not installed")
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("a C++ compiler is needed")
    toolkit = write(
        tmp_path / "musa",
        {
            "bin/mcc": MCC.format(python=sys.executable, compiler=compiler),
            "include/musa_runtime.h": "int musaDeviceSynchronize();\n",
            "runtime.cpp": "int musaDeviceSynchronize() { return 0; }\n",
        },
    )
    (toolkit / "bin" / "mcc").chmod(0o755)
    (toolkit / "lib").mkdir()
    for name in ("musart", "mublas"):
        library = toolkit / "lib" / f"lib{name}.so"
        subprocess.run([compiler, "-shared", "-fPIC", str(toolkit / "runtime.cpp"), "-o", str(library)], check=True)
    recipe = "".join(
        re.findall(r"```meson\n(.*?)```", (ROOT / "docs/build-systems.md").read_text(encoding="utf-8"), re.S)
    )
    project = write(
        tmp_path / "heat",
        {
            "meson.build": "project('heat', 'cpp')\n" + recipe.replace("/usr/local/musa", str(toolkit)),
            "src/kernel.mu": "#include <musa_runtime.h>\nint answer() { return 42 + musaDeviceSynchronize(); }\n",
            "src/main.cpp": "int answer();\nint main() { return answer() == 42 ? 0 : 1; }\n",
        },
    )
    environment = {**os.environ, "PATH": ninja.BIN_DIR + os.pathsep + os.environ["PATH"]}
    out = str(project / "out")
    for words in (("mesonbuild.mesonmain", "setup", out, str(project)), ("ninja", "-C", out)):
        command = [sys.executable, "-m", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stdout
    assert subprocess.run([f"{out}/heat"], check=False).returncode == 0


def test_brackets_that_do_not_fit_are_left_out() -> None:
    file = MesonFile(b"a = [b(['x', 'y'], c: 1)\nd('z')\n")
    assert [group.called for group in file.groups] == ["b", "", "d"]


def test_names_around_a_list_come_from_the_inside() -> None:
    file = MesonFile(b"exe = executable('a', cuda_args: f(['-x']) + [])\n")
    assert list(file.groups[2].around()) == [b"f", b"cuda_args", b"executable", b"exe"]


@pytest.mark.parametrize("text", ["a['x']", "f()['x']", "'x'['y']"], ids=["name", "call", "string"])
def test_an_index_is_no_list(text: str) -> None:
    assert MesonFile(text.encode()).lists == []
