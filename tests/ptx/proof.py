"""Rewrites cases by musify, compiles what came out with g++, and runs both sides on the same values."""

from __future__ import annotations

import math
import random
import re
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.ptx import model
from tests.ptx.cases import Case

HERE = Path(__file__).parent
ROWS = 300
MEMORY_WORDS = 4
_TYPES = {
    False: {"h": "unsigned short", "r": "unsigned int", "l": "unsigned long long", "f": "float", "d": "double"},
    True: {"h": "short", "r": "int", "l": "long long", "f": "float", "d": "double"},
}
_EDGES_32: list[int] = [*range(9), 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 127, 128, 255, 256, 0x1F1F, 0x8080, 0xFFFF, 0x10000,
             0xFFFFFF, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFF80, 0xFFFFFFFE, 0xFFFFFFFF]  # fmt: skip
_FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 1e-3, 1e3, 65504.0, 65519.0, 65520.0, 6e-5, 5.9e-8, 2.0**31, -(2.0**31),
           2.0**32, 2.0**24 + 2, 1e30, -1e30, 3.4e38, 1.2e-38, 1e-39, -1e-45, 1e-45, math.pi, 88.0, 126.0, 127.9, 128.0, -126.0, -149.0,
           math.inf, -math.inf, math.nan]  # fmt: skip


def letters(constraints: str) -> list[str]:
    """`+r+rf` as +r, +r, f."""
    return re.findall(r"\+?[a-z]", constraints)


def random_bits(letter: str, source: random.Random) -> int:
    """A value for a register: an edge, a small one, or any."""
    if letter in "fd":
        pack = "<f" if letter == "f" else "<d"
        if source.random() < 0.15:
            # Any bits; a signalling NaN, which the host's library treats apart and PTX does not, is made a quiet one.
            bits, quiet, of = (32, 1 << 22, model.f32) if letter == "f" else (64, 1 << 51, model.f64)
            any_bits = source.getrandbits(bits)
            return any_bits | quiet if math.isnan(of(any_bits)) else any_bits
        value = (
            source.choice(_FLOATS) if source.random() < 0.4 else source.uniform(-1, 1) * 2.0 ** source.randint(-20, 36)
        )
        return int.from_bytes(struct.pack(pack, value), "little")
    if letter == "z":
        return 0
    bits = {"h": 16, "r": 32, "l": 64, "p": 64}[letter]
    kind = source.random()
    if kind < 0.4:
        return model.u(source.choice(_EDGES_32), bits)
    if kind < 0.5 and bits == 64:
        return source.choice(_EDGES_32) << 32 | source.choice(_EDGES_32)
    if kind < 0.65:
        return source.randrange(70)
    return source.getrandbits(bits)


def rows_of(case: Case, seed: int) -> list[list[int]]:
    """Input values, as many rows as the case is tried on; memory words stand behind them."""
    source = random.Random(seed)
    inputs = [item[-1] for item in letters(case.outputs) if item[0] == "+"] + letters(case.inputs)
    count = {True: 32 * 8, False: ROWS}[case.warp is not None]
    if case.memory is not None:
        count = 12
    if not inputs:
        count = min(count, 32)
    rows: list[list[int]] = []
    while len(rows) < count:
        row = [random_bits(letter, source) for letter in inputs]
        if case.memory is not None:
            row += [source.getrandbits(64) for _ in range(MEMORY_WORDS)]
        if case.accepts(row):
            rows.append(row)
    if case.warp is not None and len(inputs) > 1:
        # The control of a shuffle is the same in all lanes.
        for start in range(0, count, 32):
            for row in rows[start : start + 32]:
                row[2:] = rows[start][2:]
    return rows


def expected(case: Case, rows: list[list[int]]) -> Iterator[list[int]]:
    """What the model says; the memory words follow the outputs."""
    if case.warp is not None:
        for start in range(0, len(rows), 32):
            yield from case.warp(rows[start : start + 32])
        return
    for row in rows:
        if case.memory is not None:
            memory = bytearray(struct.pack(f"<{MEMORY_WORDS}Q", *row[-MEMORY_WORDS:]))
            yield [*case.memory(row[:-MEMORY_WORDS], memory), *struct.unpack(f"<{MEMORY_WORDS}Q", memory)]
        else:
            assert case.meaning is not None
            yield case.meaning(row)


MODES = ("unsigned-variables", "operands-with-effects", "macro-with-signed-variables")


def source_of(cases: list[Case], mode: str) -> str:
    """A file with one function a case.

    In the second mode every input is a call that counts; in the third one such calls are arguments of a macro whose
    body the statement is, and integer variables are signed.
    """
    return "\n".join(_function(number, case, mode) for number, case in enumerate(cases))


def _function(number: int, case: Case, mode: str) -> str:
    types = _TYPES[mode == MODES[2]]
    lines = [f"__device__ void case_{number}(const unsigned long long* in, unsigned long long* out, char* memory) {{"]
    outputs, arguments, index = letters(case.outputs), [], 0
    for place, letter in enumerate(outputs):
        start = f"from_word<{types[letter[-1]]}>(in[{index}])" if letter[0] == "+" else "0"
        index += letter[0] == "+"
        lines.append(f"  {types[letter[-1]]} o{place} = {start};")
    for place, letter in enumerate(letters(case.inputs)):
        kind = "r" if letter == "z" else letter
        if letter != "p":
            lines.append(f"  {types[kind]} i{place} = from_word<{types[kind]}>(in[{index}]);")
        argument = "memory" if letter == "p" else f"i{place}"
        arguments.append(argument if mode == MODES[0] else f"once({argument})")
        index += 1
    if mode == MODES[2]:
        names = [f"O{place}" for place in range(len(outputs))] + [f"I{place}" for place in range(len(arguments))]
        body = _statement(case, names[: len(outputs)], names[len(outputs) :])
        macro = f"#define STATEMENT_{number}({', '.join(names)}) \\\n  {body}\n"
        values = [f"o{place}" for place in range(len(outputs))] + arguments
        lines = [macro + lines[0], *lines[1:], f"  STATEMENT_{number}({', '.join(values)});"]
    else:
        lines.append(f"  {_statement(case, [f'o{place}' for place in range(len(outputs))], arguments)};")
    lines += [f"  out[{place}] = word(o{place});" for place in range(len(outputs))]
    return "\n".join([*lines, f"  counted({0 if mode == MODES[0] else len(arguments)});", "}"])


def _statement(case: Case, outputs: list[str], inputs: list[str]) -> str:
    text = case.text.replace("\n", "\\n").replace("\t", "\\t")
    clobbers = f' : "{case.clobbers}"' if case.clobbers else ""
    written = ", ".join(
        f'"{letter if letter[0] == "+" else "=" + letter}"({name})'
        for letter, name in zip(letters(case.outputs), outputs, strict=True)
    )
    constraints = {"p": "l", "z": "r"}
    read = ", ".join(
        f'"{constraints.get(letter, letter)}"({name})'
        for letter, name in zip(letters(case.inputs), inputs, strict=True)
    )
    return f'asm volatile("{text}" : {written} : {read}{clobbers})'


_KERNELS = r"""
#include <cstring>
template <class T> __device__ T from_word(unsigned long long w) { T v; memcpy(&v, &w, sizeof v); return v; }
template <class T> __device__ unsigned long long word(T v) {
  unsigned long long w = 0;
  memcpy(&w, &v, sizeof v);
  return w;
}
#define counted(calls)
"""


def assembled_source(cases: list[Case]) -> str:
    """The statements as they are, as kernels for NVIDIA's compiler."""
    return _KERNELS + source_of(cases, MODES[0]).replace("__device__ void", 'extern "C" __global__ void')


_MAIN = r"""
#define __device__ static
static int calls;
template <class T> static T once(T value) { ++calls; return value; }
static void counted(int wanted) {
  if (calls != wanted) { fprintf(stderr, "operands evaluated %d times, not %d\\n", calls, wanted); exit(3); }
  calls = 0;
}
template <class T> static T from_word(unsigned long long w) { T v; memcpy(&v, &w, sizeof v); return v; }
@CODE@
typedef void (*Function)(const unsigned long long*, unsigned long long*, char*);
static const struct { Function run; int inputs, outputs, memory, warp; } cases[] = { @TABLE@ };
int main() {
  alignas(64) static char memory[32];
  unsigned int which, rows;
  while (fread(&which, 4, 1, stdin) == 1 && fread(&rows, 4, 1, stdin) == 1) {
    auto& c = cases[which];
    int width = c.inputs + (c.memory ? 4 : 0);
    unsigned long long* in = (unsigned long long*)calloc(rows * width + 1, 8);
    if (fread(in, 8, rows * width, stdin) != rows * width) return 1;
    for (unsigned int row = 0; row < rows; row += c.warp ? 32 : 1) {
      for (pass_now = 0; pass_now < (c.warp ? 2 : 1); ++pass_now)
        for (lane_now = 0; lane_now < (c.warp ? 32 : 1); ++lane_now) {
          threadIdx = {(unsigned)lane_now, 1, 2};
          blockDim = {32, 2, 3};
          unsigned long long out[8] = {};
          const unsigned long long* values = in + (row + lane_now) * width;
          if (c.memory) memcpy(memory, values + c.inputs, 32);
          events[0] = 0;
          c.run(values, out, memory);
          if (c.memory) memcpy(out + c.outputs, memory, 32);
          if (pass_now == (c.warp ? 1 : 0)) fwrite(out, 8, c.outputs + (c.memory ? 4 : 0), stdout);
        }
    }
    if (c.memory) fprintf(stderr, "%u %s\n", which, events);
    free(in);
  }
}
"""


def program_of(code: str, cases: list[Case]) -> str:
    """The C++ program that runs rewritten cases."""
    table = ", ".join(
        f"{{case_{number}, {len(letters(case.inputs)) + case.outputs.count('+')}, {len(letters(case.outputs))}, "
        f"{int(case.memory is not None)}, {int(case.warp is not None)}}}"
        for number, case in enumerate(cases)
    )
    return f'#include "{HERE / "emulation.h"}"\n' + _MAIN.replace("@CODE@", code).replace("@TABLE@", table)


def compile_program(text: str, folder: Path) -> Path:
    """The program, with every undefined behaviour a fatal error."""
    source, program = folder / "proof.cpp", folder / "proof"
    source.write_text(text)
    flags = ["-std=c++17", "-O1", "-w", "-ffp-contract=off", "-fno-strict-aliasing", "-fsanitize=undefined,float-cast-overflow",
             "-fno-sanitize-recover=all"]  # fmt: skip
    done = subprocess.run(["g++", *flags, str(source), "-o", str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return program


def run_program(
    program: Path, cases: list[Case], rows: list[list[list[int]]]
) -> tuple[list[list[list[int]]], dict[int, str]]:
    """The outputs of every case for its rows, and the fences that the last row met."""
    data = b"".join(
        struct.pack("<II", number, len(values)) + b"".join(struct.pack(f"<{len(row)}Q", *row) for row in values)
        for number, values in enumerate(rows)
    )
    done = subprocess.run([program], input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[:2000]
    words = iter(struct.unpack(f"<{len(done.stdout) // 8}Q", done.stdout))
    outputs = []
    for case, values in zip(cases, rows, strict=True):
        width = len(letters(case.outputs)) + (MEMORY_WORDS if case.memory is not None else 0)
        outputs.append([[next(words) for _ in range(width)] for _ in values])
    events = dict(line.partition(" ")[::2] for line in done.stderr.decode().splitlines())
    return outputs, {int(number): text.strip() for number, text in events.items()}


def agree(case: Case, row: list[int], wanted: list[int], found: list[int]) -> bool:
    """Whether outputs are the same bits; NaN is NaN, and approximate instructions have their error."""
    if case.close is not None:
        return case.close(row, found)
    kinds: list[str] = [letter[-1] for letter in letters(case.outputs)] + ["l"] * len(found)
    return all(_same(kind, a, b) for kind, a, b in zip(kinds, wanted, found, strict=False)) and len(wanted) == len(
        found
    )


def _same(letter: str, wanted: int, found: int) -> bool:
    of: Callable[[int], float] | None = {"f": model.f32, "d": model.f64}.get(letter)
    return wanted == found or (of is not None and math.isnan(of(wanted)) and math.isnan(of(found)))
