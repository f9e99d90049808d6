"""The HTML report: its data, and the page in a real browser where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.commands import HEAT, musify, write

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def page_of(tmp_path: Path, *arguments: object) -> str:
    path = tmp_path / "report.html"
    musify("check", *arguments, "-q", "--report", f"html:{path}")
    return path.read_text(encoding="utf-8")


def data_of(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert match is not None
    content: dict[str, Any] = json.loads(match.group(1))
    return content


def test_nothing_comes_from_elsewhere(tmp_path: Path) -> None:
    page = page_of(tmp_path, HEAT)
    assert not re.search(r'(?:src|href)="(?!data:|#)', page) and "@import" not in page and "url(" not in page
    assert "__" not in re.sub(r'id="data">.*?</script>', "", page, flags=re.S)


def test_source_text_cannot_end_the_script(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cu": "void f() { cudaFree(0); } // </script><script>alert(1)</script> <!--\n"})
    page = page_of(tmp_path, tree)
    assert page.count("<script") == 2 and page.count("</script>") == 2
    assert "</script><script>alert(1)" in data_of(page)["files"][0]["diff"]


def test_data(tmp_path: Path) -> None:
    data = data_of(page_of(tmp_path, HEAT, "--lang", "zh"))
    files = {Path(file["path"]).name: file for file in data["files"]}
    assert data["language"] == "zh" and files["solver.cu"]["output"].endswith("solver.mu")
    assert files["solver.cu"]["diff"].startswith("@@ -")
    assert {finding["id"] for file in files.values() for finding in file["findings"]} == set(data["kinds"])


def test_nothing_found(tmp_path: Path) -> None:
    data = data_of(page_of(tmp_path, write(tmp_path / "in", {"a.h": "int x;\n"})))
    assert [file["diff"] for file in data["files"]] == [""] and data["kinds"] == {}


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
@pytest.mark.parametrize("place", ["", "#file=CMakeLists.txt"])
def test_in_a_browser(tmp_path: Path, place: str) -> None:
    page_of(tmp_path, HEAT)
    path = str(HEAT / "CMakeLists.txt")
    address = (tmp_path / "report.html").as_uri() + (f"#file={path.replace('/', '%2F')}" if place else "")
    command = [
        str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--virtual-time-budget=4000",
        f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr", "--dump-dom", address,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert "files seen" in done.stdout and "solver.cu" in done.stdout
    if place:
        assert re.search(r"<mark>\w*musa\w*</mark>", done.stdout) and 'class="found ' in done.stdout
