"""Findings as JUnit XML: a suite a file, a case a finding; errors and warnings fail, a file without any passes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from musify.engine.results import FileResult, FindingRecord
from musify.report.content import Report, one_line

# What XML 1.0 cannot hold.
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def render(report: Report) -> str:
    """Every source file that was looked at."""
    root = ElementTree.Element("testsuites", name="musify")
    for file in report.result.files:
        if file.language is not None or file.findings:
            _suite(root, file)
    tests, failures = (sum(int(suite.get(key, "0")) for suite in root) for key in ("tests", "failures"))
    root.attrib.update(tests=str(tests), failures=str(failures), errors="0", time=f"{report.result.seconds:.3f}")
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(root: ElementTree.Element, file: FileResult) -> None:
    findings = [finding for finding in file.active_findings() if finding.severity != "note"]
    tests = max(1, len(findings))
    suite = ElementTree.SubElement(
        root, "testsuite", name=_clean(file.path), tests=str(tests), failures=str(len(findings)), errors="0",
        skipped="0", time="0",
    )  # fmt: skip
    for finding in findings:
        _case(suite, file, finding)
    if not findings:
        ElementTree.SubElement(suite, "testcase", name="musify", classname=_clean(file.path), time="0")


def _case(suite: ElementTree.Element, file: FileResult, finding: FindingRecord) -> None:
    name = f"{finding.id} line {finding.line} column {finding.column}"
    case = ElementTree.SubElement(
        suite, "testcase", name=name, classname=_clean(file.path), file=_clean(file.path), line=str(finding.line),
        time="0",
    )  # fmt: skip
    failure = ElementTree.SubElement(case, "failure", message=_clean(finding.message), type=finding.severity)
    failure.text = _clean(f"{one_line(file, finding)}\n{finding.suggestion}")


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
