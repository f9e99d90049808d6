"""Reports in every format, each read by a tool that is not ours."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path

import pytest
from junitparser import JUnitXml
from sarif_pydantic import Sarif

from musify.engine.results import fingerprint
from musify.model import Span
from musify.report import format_names
from musify.source.document import Document
from tests.commands import contents, musify, write

SOURCE = (
    '#include <cuda_runtime.h>\n'
    "void f(void* p) {\n"
    "\tcudaFree(p); cudaNope(p, \"é\"); cudaNope(p);\n"
    "#if __CUDA_ARCH__ >= 800\n"
    "    g();  // musify: ignore[MUS101] nothing\n"
    "#endif\n"
    "    cudaNope(p);\n"
    "}\n"
)  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write(tmp_path / "tree", {"src/a b.cu": SOURCE, "src/clean.h": "int x;\n", "100%,:.cuh": "cudaNope(1);\n"})


def report(tree: Path, name: str, *options: str) -> str:
    return musify("check", ".", "-q", "--report", name, *options, cwd=tree).out


def test_a_long_line_is_known_by_what_is_near() -> None:
    found = b"cudaNope(1);"
    document = Document(b"x" * 30_000 + found + b"y" * 30_000)
    changed = Document(b"z" + document.data + b"z")
    spans = Span(30_000, 30_000 + len(found)), Span(30_001, 30_001 + len(found))
    assert fingerprint(document, spans[0], "MUS101", "n") == fingerprint(changed, spans[1], "MUS101", "n")


def test_unknown_format_names_those_that_exist(tree: Path) -> None:
    run = musify("check", tree, "--report", "sraif")
    assert run.code == 2 and all(name in run.err for name in format_names())


def test_several_reports_at_once(tree: Path) -> None:
    requests = [part for name in format_names() for part in ("--report", f"{name}:{tree.parent / name}")]
    musify("convert", tree, "-o", tree.parent / "out", "-q", *requests)
    assert all((tree.parent / name).stat().st_size for name in format_names())


def test_report_that_cannot_be_written(tree: Path) -> None:
    run = musify("check", tree, "--report", f"sarif:{tree}/no/folder/x.sarif")
    assert run.code == 2 and run.err.count("\n") == 1 and "cannot write the report" in run.err


def test_text_shows_line_and_mark(tree: Path) -> None:
    lines = report(tree, "text").splitlines()
    place = next(number for number, line in enumerate(lines) if "a b.cu:3:15: warning: cudaNope" in line)
    assert lines[place + 1] == '    3 | \tcudaFree(p); cudaNope(p, "é"); cudaNope(p);'
    assert lines[place + 2] == "      | \t             ^~~~~~~~"


def test_diff_applies(tree: Path) -> None:
    patch = report(tree, "diff").encode()
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    subprocess.run(["git", "apply", "-"], cwd=tree, input=patch, check=True)
    musify("convert", ".", "-o", tree.parent / "out", "-q", cwd=tree)
    made = {name: data for name, data in contents(tree).items() if not name.startswith(".git/")}
    assert made == contents(tree.parent / "out")


def test_sarif(tree: Path) -> None:
    text = report(tree, "sarif")
    run = Sarif.model_validate_json(text).runs[0]
    rules = [rule.id for rule in run.tool.driver.rules or []]
    results = run.results or []
    assert {result.rule_id for result in results} == set(rules) and len(rules) == len(set(rules))
    raw = json.loads(text)["runs"][0]["results"]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in raw)
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in raw}
    assert uris == {"src/a%20b.cu", "100%25%2C%3A.cuh"}
    prints = [(uri_of(item), item["partialFingerprints"]["musify/v1"]) for item in raw]
    assert len(prints) == len(set(prints))
    fixes = [item["fixes"] for item in raw if item["ruleId"] == "MUS301"]
    replaced = fixes[0][0]["artifactChanges"][0]["replacements"]
    assert [item["insertedContent"]["text"] for item in replaced] == ["__MUSA_ARCH__", "220"]


def uri_of(result: dict[str, object]) -> str:
    return json.dumps(result["locations"])


def test_sarif_fingerprints_survive_moved_lines(tree: Path) -> None:
    def prints() -> list[str]:
        results = json.loads(report(tree, "sarif"))["runs"][0]["results"]
        return [item["partialFingerprints"]["musify/v1"] for item in results]

    before = prints()
    write(tree, {"src/a b.cu": "// one more line\n\n" + SOURCE})
    assert prints() == before


def test_junit(tree: Path) -> None:
    xml = JUnitXml.fromstring(report(tree, "junit").encode())
    suites = {suite.name: suite for suite in xml}
    assert suites["src/a b.cu"].failures == 4 and suites["src/clean.h"].failures == 0
    assert suites["src/clean.h"].tests == 1 and xml.failures == 5
    assert all(case.result for case in suites["src/a b.cu"])


def test_github(tree: Path) -> None:
    lines = report(tree, "github").splitlines()
    assert len(lines) >= 5 and all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines)
    odd = next(line for line in lines if "100" in line)
    assert "file=100%25%2C%3A.cuh,line=1" in odd and "%0A" in odd


def test_gitlab(tree: Path) -> None:
    entries = json.loads(report(tree, "gitlab"))
    assert len({entry["fingerprint"] for entry in entries}) == len(entries) >= 5
    assert {entry["severity"] for entry in entries} <= {"info", "minor", "major", "critical", "blocker"}
    assert {"path": "src/a b.cu", "lines": {"begin": 7, "end": 7}} in [entry["location"] for entry in entries]


def test_csv(tree: Path) -> None:
    rows = {row["cuda_name"]: row for row in csv.DictReader(io.StringIO(report(tree, "csv")))}
    assert rows["cudaFree"] == {
        "cuda_name": "cudaFree", "musa_name": "musaFree", "library": "runtime", "evidence": "code", "count": "1",
        "files": "1", "findings": "",
    }  # fmt: skip
    assert rows["cudaNope"]["musa_name"] == "" and rows["cudaNope"]["count"] == "4" and rows["cudaNope"]["files"] == "2"


@pytest.mark.parametrize(("language", "words"), [("en", "Findings"), ("zh", "全部发现")])
def test_markdown(tree: Path, language: str, words: str) -> None:
    text = report(tree, "markdown", "--lang", language)
    assert text.startswith("### musify") and words in text and "| MUS101 |" in text
    assert text.count("<details>") == text.count("</details>") == 2


def test_markdown_fits_a_comment(tmp_path: Path) -> None:
    files = {f"{'d' * 150}{number}.cu": "void f() { cudaNope(1); }\n" * 5 for number in range(120)}
    text = report(write(tmp_path / "tree", files), "markdown")
    assert len(text) < 65_536 and "more" in text


def test_nothing_to_report(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.h": "int x;\n"})
    assert [report(tree, name) for name in ("text", "diff", "github")] == ["", "", ""]
    assert json.loads(report(tree, "gitlab")) == [] and "No findings." in report(tree, "markdown")
    assert Sarif.model_validate_json(report(tree, "sarif")).runs[0].results == []
