"""Every rewrite is proved: the C++ that comes out and a model of the PTX ISA agree on many values."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from musify.ptx import translate
from musify.ptx.rules import Rewrite, ptx_rules
from tests.conftest import Convert
from tests.ptx.cases import CASES, Case
from tests.ptx.proof import (
    MODES,
    agree,
    assembled_source,
    compile_program,
    expected,
    program_of,
    rows_of,
    run_program,
    source_of,
)

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the proof compiles C++, and there is no g++")
# Statements whose effect no program on the host shows; tests/test_inline_assembly.py has their texts.
WITHOUT_VALUES = {"trap", "exit", "bar.sync", "bar.warp.sync"}


@pytest.fixture(scope="module")
def used() -> Iterator[list[Rewrite]]:
    """The rules that the conversions of this module applied."""
    rules: list[Rewrite] = []
    original = translate._Form.step

    def noting(form: Any) -> translate.Step:
        step = original(form)
        rules.append(form._rule)
        return step

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translate._Form, "step", noting)
        yield rules


@pytest.fixture(scope="module", params=MODES)
def outcome(
    request: pytest.FixtureRequest, convert: Convert, used: list[Rewrite], tmp_path_factory: pytest.TempPathFactory
) -> list[str]:
    """What does not agree, a line a case."""
    source = source_of(CASES, request.param)
    converted = convert(source)
    assert "asm" not in converted.text, [line for line in converted.text.splitlines() if "asm" in line][:3]
    assert set(converted.ids) <= {"MUS202"} | {name for name in converted.ids if name.startswith("MUS21")}
    program = compile_program(program_of(converted.text, CASES), tmp_path_factory.mktemp("proof"))
    rows = [rows_of(case, seed) for seed, case in enumerate(CASES)]
    outputs, events = run_program(program, CASES, rows)
    return [
        line
        for number, case in enumerate(CASES)
        for line in _differences(case, rows[number], outputs[number], events.get(number, ""))
    ]


def _differences(case: Case, rows: list[list[int]], found: list[list[int]], events: str) -> Iterator[str]:
    if case.memory is not None and events != case.events:
        yield f"{case.name}: fences {events!r}, not {case.events!r}"
    for row, wanted, got in zip(rows, expected(case, rows), found, strict=True):
        if not agree(case, row, wanted, got):
            yield f"{case.name}: {[hex(x) for x in row]} gives {[hex(x) for x in got]}, not {[hex(x) for x in wanted]}"
            return


def test_rewritten_code_computes_what_ptx_defines(outcome: list[str]) -> None:
    assert not outcome, "\n".join(outcome[:20])


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="NVIDIA's assembler says whether the text is PTX; no nvcc")
def test_the_statements_are_ptx(tmp_path: Path) -> None:
    # vote without .sync ended with sm_70; one table of lop3 stands for all.
    cases = [case for case in CASES if "vote.ballot" not in case.text and not case.text.startswith("lop3")]
    cases += [case for case in CASES if case.text.startswith("lop3")][:1]
    source = tmp_path / "statements.cu"
    source.write_text(assembled_source(cases))
    command = ["nvcc", "-arch=sm_90", "-w", "-cubin", "-o", str(tmp_path / "statements.cubin"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]


def test_every_rule_is_proved(outcome: list[str], used: list[Rewrite]) -> None:
    proved = {id(rule) for rule in used}
    missing = [
        rule.pattern
        for rules in ptx_rules().rewrites.values()
        for rule in rules
        if id(rule) not in proved and not any(re.fullmatch(rule.pattern, opcode) for opcode in WITHOUT_VALUES)
    ]
    assert not missing


@pytest.mark.parametrize("name", sorted(set(ptx_rules().specials) - {"clock", "clock64"}))
def test_special_registers_are_read_in_a_case_or_named_alike(name: str) -> None:
    in_a_case = any(f"%{name}" in case.text for case in CASES)
    assert in_a_case or ptx_rules().specials[name].cpp == _named_alike(name)


def _named_alike(name: str) -> str:
    word, _, axis = name.partition(".")
    return {"tid": "threadIdx", "ntid": "blockDim", "ctaid": "blockIdx", "nctaid": "gridDim"}[word] + "." + axis
