"""The generated pages are what the rules say, and the READMEs say the same in both languages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_generated_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_docs.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr + "run: python tools/make_docs.py"


def test_readmes_name_the_same_commands() -> None:
    blocks = [
        re.findall(r"```sh\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.S)
        for name in ("README.md", "README.zh-CN.md")
    ]
    commands = [[re.sub(r"\s*#.*", "", line) for block in part for line in block.splitlines()] for part in blocks]
    assert commands[0] == commands[1] and commands[0]


def test_no_relative_link_is_broken() -> None:
    for page in [
        ROOT / "README.md",
        ROOT / "README.zh-CN.md",
        *(ROOT / "docs").glob("*.md"),
        ROOT / "rules" / "README.md",
    ]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
