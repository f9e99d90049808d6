# mypy: disable-error-code="misc"
# mypy cannot infer lambdas whose default argument holds the value of a loop; the table is made of them.
"""The statements that are proved: PTX text, constraints, and what the model says of them.

In `inputs` and `outputs` a letter is a constraint; `p` is a pointer to memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.ptx import model as m
from tests.ptx.model import Bits, f16, f32, f64, s, u

Memory = bytearray
Warp = Sequence[Bits]


@dataclass(frozen=True)
class Case:
    """One statement. Exactly one of the meanings is given.

    `close` compares two outputs of an approximate instruction with the function that it stands for.
    """

    text: str
    outputs: str
    inputs: str
    meaning: Callable[[Bits], list[int]] | None = None
    memory: Callable[[Bits, Memory], list[int]] | None = None
    warp: Callable[[Warp], list[list[int]]] | None = None
    close: Callable[[Bits, list[int]], bool] | None = None
    accepts: Callable[[Bits], bool] = lambda bits: True
    events: str = ""
    clobbers: str = ""

    @property
    def name(self) -> str:
        return self.text.replace("\n", " ")


CASES: list[Case] = []


def plain(
    opcode: str, outputs: str, inputs: str, meaning: Callable[[Bits], list[int]], operands: str = "", **more: Any
) -> None:
    operands = operands or ", ".join(f"%{i}" for i in range(len(outputs) + len(inputs)))
    CASES.append(Case(f"{opcode} {operands};", outputs, inputs, meaning=meaning, **more))


def whole(text: str, outputs: str, inputs: str, meaning: Callable[[Bits], list[int]]) -> None:
    CASES.append(Case(text, outputs, inputs, meaning=meaning))


LETTER = {16: "h", 32: "r", 64: "l"}


def size(kind: str) -> int:
    return int(kind[1:])


def read(kind: str, bits: int) -> int:
    return s(bits, size(kind)) if kind[0] == "s" else u(bits, size(kind))


# ---- integers

for kind in ("u16", "s16", "u32", "s32", "u64", "s64"):
    n, letter = size(kind), LETTER[size(kind)]
    plain(f"add.{kind}", letter, letter * 2, lambda v, n=n: [u(v[0] + v[1], n)])
    plain(f"sub.{kind}", letter, letter * 2, lambda v, n=n: [u(v[0] - v[1], n)])
    plain(f"mul.lo.{kind}", letter, letter * 2, lambda v, n=n: [u(v[0] * v[1], n)])
    plain(f"mad.lo.{kind}", letter, letter * 3, lambda v, n=n: [u(v[0] * v[1] + v[2], n)])
    plain(f"min.{kind}", letter, letter * 2, lambda v, k=kind, n=n: [u(min(read(k, v[0]), read(k, v[1])), n)])
    plain(f"max.{kind}", letter, letter * 2, lambda v, k=kind, n=n: [u(max(read(k, v[0]), read(k, v[1])), n)])
    plain(f"shr.{kind}", letter, letter + "r", lambda v, k=kind, n=n: [m.shr(v[0], v[1], n, signed=k[0] == "s")])
    plain(f"shr.{kind}", letter, letter, lambda v, k=kind, n=n: [m.shr(v[0], 5, n, signed=k[0] == "s")], "%0, %1, 5")
for kind in ("u16", "s16", "u32", "s32"):
    n, letter = size(kind), LETTER[size(kind)]
    double = LETTER[2 * n]
    plain(f"mul.wide.{kind}", double, letter * 2, lambda v, k=kind, n=n: [u(read(k, v[0]) * read(k, v[1]), 2 * n)])
    plain(f"mad.wide.{kind}", double, letter * 2 + double,
          lambda v, k=kind, n=n: [u(read(k, v[0]) * read(k, v[1]) + v[2], 2 * n)])  # fmt: skip
for kind in ("u32", "s32"):
    plain(f"mul.hi.{kind}", "r", "rr", lambda v, k=kind: [u(read(k, v[0]) * read(k, v[1]) >> 32)])
    plain(f"mad.hi.{kind}", "r", "rrr", lambda v, k=kind: [u((read(k, v[0]) * read(k, v[1]) >> 32) + v[2])])
plain("mul.hi.u64", "l", "ll", lambda v: [u(v[0] * v[1] >> 64, 64)])
plain("mul24.lo.u32", "r", "rr", lambda v: [u((v[0] & 0xFFFFFF) * (v[1] & 0xFFFFFF))])
plain("sad.u32", "r", "rrr", lambda v: [u(v[2] + abs(v[0] - v[1]))])
for kind in ("u32", "u64"):
    n, letter = size(kind), LETTER[size(kind)]
    plain(f"div.{kind}", letter, letter * 2, lambda v: [v[0] // v[1]], accepts=lambda v: v[1] != 0)
    plain(f"rem.{kind}", letter, letter * 2, lambda v: [v[0] % v[1]], accepts=lambda v: v[1] != 0)
for kind in ("s32", "s64"):
    n, letter = size(kind), LETTER[size(kind)]
    plain(f"neg.{kind}", letter, letter, lambda v, n=n: [u(-v[0], n)])
    plain(f"abs.{kind}", letter, letter, lambda v, n=n: [u(abs(s(v[0], n)), n)])

# ---- bits

for kind in ("b16", "b32", "b64"):
    n, letter = size(kind), LETTER[size(kind)]
    plain(f"and.{kind}", letter, letter * 2, lambda v: [v[0] & v[1]])
    plain(f"or.{kind}", letter, letter * 2, lambda v: [v[0] | v[1]])
    plain(f"xor.{kind}", letter, letter * 2, lambda v: [v[0] ^ v[1]])
    plain(f"not.{kind}", letter, letter, lambda v, n=n: [u(~v[0], n)])
    plain(f"shl.{kind}", letter, letter + "r", lambda v, n=n: [m.shl(v[0], v[1], n)])
    plain(f"shl.{kind}", letter, letter, lambda v, n=n: [m.shl(v[0], 7, n)], "%0, %1, 7")
    plain(f"shl.{kind}", letter, letter, lambda v, n=n: [m.shl(v[0], 40, n)], "%0, %1, 40")
    plain(f"shr.{kind}", letter, letter + "r", lambda v, n=n: [m.shr(v[0], v[1], n)])
    plain(f"mov.{kind}", letter, letter, lambda v: [v[0]])
for side, left in (("l", True), ("r", False)):
    plain(f"shf.{side}.wrap.b32", "r", "rrr", lambda v, w=left: [m.funnel(v[0], v[1], v[2] & 31, left=w)])
    plain(f"shf.{side}.clamp.b32", "r", "rrr", lambda v, w=left: [m.funnel(v[0], v[1], min(v[2], 32), left=w)])
plain("vshl.u32.u32.u32.clamp.add", "r", "rrr", lambda v: [u((v[0] << min(v[1], 32)) + v[2])])
plain("vshr.u32.u32.u32.clamp.add", "r", "rrr", lambda v: [u((v[0] >> min(v[1], 32)) + v[2])])
plain("vadd.u32.u32.u32.add", "r", "rrr", lambda v: [u(v[0] + v[1] + v[2])])
plain("vshl.u32.u32.u32.wrap.add", "r", "rrr", lambda v: [u((v[0] << (v[1] & 31)) + v[2])])
plain("vshr.u32.u32.u32.wrap.add", "r", "rrr", lambda v: [u((v[0] >> (v[1] & 31)) + v[2])])
plain("bfe.u32", "r", "rrr", lambda v: [m.bfe(v[0], v[1], v[2], 32, signed=False)])
plain("bfe.s32", "r", "rrr", lambda v: [m.bfe(v[0], v[1], v[2], 32, signed=True)])
plain("bfe.u64", "l", "lrr", lambda v: [m.bfe(v[0], v[1], v[2], 64, signed=False)])
for position, length in ((0, 1), (5, 9), (31, 31), (16, 16), (3, 0), (40, 3)):
    plain("bfe.u32", "r", "r", lambda v, p=position, n=length: [m.bfe(v[0], p, n, 32, signed=False)],
          f"%0, %1, {position}, {length}")  # fmt: skip
plain("bfi.b32", "r", "rrrr", lambda v: [m.bfi(v[0], v[1], v[2], v[3], 32)])
plain("bfi.b64", "l", "llrr", lambda v: [m.bfi(v[0], v[1], v[2], v[3], 64)])
for table in range(256):
    plain("lop3.b32", "r", "rrr", lambda v, t=table: [m.lop3(v[0], v[1], v[2], t)], f"%0, %1, %2, %3, {table:#x}")
for selector in (0x5410, 0x7632, 0x0123, 0x3210, 0x7654, 0x6420, 0x7531, 0x1054, 0x0000, 0x4321, 0x8123, 0xFA98):
    plain("prmt.b32", "r", "rr", lambda v, c=selector: [m.prmt(v[0], v[1], c)], f"%0, %1, %2, {selector:#x}")
plain("prmt.b32", "r", "rrr", lambda v: [m.prmt(v[0], v[1], v[2])])
plain("popc.b32", "r", "r", lambda v: [bin(v[0]).count("1")])
plain("popc.b64", "r", "l", lambda v: [bin(v[0]).count("1")])
plain("clz.b32", "r", "r", lambda v: [32 - v[0].bit_length()])
plain("clz.b64", "r", "l", lambda v: [64 - v[0].bit_length()])
plain("brev.b32", "r", "r", lambda v: [int(f"{v[0]:032b}"[::-1], 2)])
plain("brev.b64", "l", "l", lambda v: [int(f"{v[0]:064b}"[::-1], 2)])
plain("bfind.u32", "r", "r", lambda v: [m.bfind(v[0], signed=False)])
plain("bfind.s32", "r", "r", lambda v: [m.bfind(v[0], signed=True)])
plain("dp4a.s32.s32", "r", "rrr", lambda v: [m.dp4a(v[0], v[1], v[2], signed=True)])
plain("dp4a.u32.u32", "r", "rrr", lambda v: [m.dp4a(v[0], v[1], v[2], signed=False)])
plain("vabsdiff4.u32.u32.u32.add", "r", "rrr", lambda v: [m.absolute_differences(v[0], v[1], v[2])])

# ---- moves

plain("mov.u32", "r", "", lambda v: [0x1F], "%0, 31")
plain("mov.s32", "r", "", lambda v: [u(-7)], "%0, -7")
plain("mov.f32", "f", "", lambda v: [0x3F800000], "%0, 0f3F800000")
plain("mov.b32", "r", "", lambda v: [0x7F800000], "%0, 0f7F800000")
plain("mov.f32", "f", "f", lambda v: [v[0]])
plain("mov.f64", "d", "d", lambda v: [v[0]])
plain("mov.b32", "r", "f", lambda v: [v[0]])
plain("mov.b32", "f", "r", lambda v: [v[0]])
plain("mov.b64", "l", "d", lambda v: [v[0]])
plain("mov.b64", "d", "l", lambda v: [v[0]])
plain("mov.b64", "l", "rr", lambda v: [v[0] | v[1] << 32], "%0, {%1, %2}")
plain("mov.b64", "rr", "l", lambda v: [u(v[0]), v[0] >> 32], "{%0, %1}, %2")
plain("mov.b64", "rr", "d", lambda v: [u(v[0]), v[0] >> 32], "{%0, %1}, %2")
plain("mov.b32", "r", "hh", lambda v: [v[0] | v[1] << 16], "%0, {%1, %2}")
plain("mov.b32", "hh", "r", lambda v: [u(v[0], 16), v[0] >> 16], "{%0, %1}, %2")
plain("cvta.to.global.u64", "l", "l", lambda v: [v[0]])
plain("cvta.to.shared.u64", "l", "l", lambda v: [v[0] & 0xFFFFFF])
whole("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }", "r", "l", lambda v: [v[0] & 0xFFFFFF])

# ---- predicates

for kind in ("u16", "s16", "u32", "s32", "u64", "s64"):
    letter = LETTER[size(kind)]
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        whole(
            f"{{ .reg .pred p; setp.{name}.{kind} p, %1, %2; selp.{kind} %0, %1, %2, p; }}", letter, letter * 2,
            lambda v, k=kind, c=name: [v[0] if m.COMPARISONS[c](read(k, v[0]), read(k, v[1])) else v[1]],
        )  # fmt: skip
for name in ("lo", "ls", "hi", "hs"):
    whole(
        f"{{ .reg .pred %%p1; setp.{name}.u32 %%p1, %1, %2; selp.u32 %0, 1, 0, %%p1; }}", "r", "rr",
        lambda v, c=name: [int(m.COMPARISONS[c](v[0], v[1]))],
    )  # fmt: skip
for join, combine in (("and", lambda a, b: a and b), ("or", lambda a, b: a or b), ("xor", lambda a, b: a != b)):
    whole(
        f"{{ .reg .pred p, q; setp.ne.u32 q, %3, 0; setp.lt.{join}.s32 p, %1, %2, q; selp.b32 %0, 7, 9, p; }}", "r", "rrr",
        lambda v, c=combine: [7 if c(s(v[0]) < s(v[1]), v[2] != 0) else 9],
    )  # fmt: skip
    whole(
        f"{{ .reg .pred p<3>; setp.ne.u32 p0, %1, 0; setp.eq.u32 p1, %2, 31; {join}.pred p2, p0, p1; not.pred p2, p2;"
        " @p2 mov.u32 %0, 1; @!p2 mov.u32 %0, 2; }", "r", "rr",
        lambda v, c=combine: [2 if c(v[0] != 0, v[1] == 31) else 1],
    )  # fmt: skip
for kind, letter, of in (("f32", "f", f32), ("f64", "d", f64)):
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "neu", "ltu", "leu", "gtu", "geu"):
        whole(
            f"{{ .reg .pred p; setp.{name}.{kind} p, %1, %2; selp.u32 %0, 1, 0, p; }}", "r", letter * 2,
            lambda v, c=name, o=of: [int(m.compared(c, o(v[0]), o(v[1])))],
        )  # fmt: skip
whole("{ .reg .pred p; mov.pred p, 1; selp.f32 %0, %1, %2, p; }", "f", "ff", lambda v: [v[0]])

# ---- floating point

for kind, letter, of, to in (("f32", "f", f32, m.bits32), ("f64", "d", f64, m.bits64)):
    plain(f"add.{kind}", letter, letter * 2, lambda v, o=of, t=to: [t(o(v[0]) + o(v[1]))])
    plain(f"sub.{kind}", letter, letter * 2, lambda v, o=of, t=to: [t(o(v[0]) - o(v[1]))])
    plain(f"mul.{kind}", letter, letter * 2, lambda v, o=of, t=to: [t(o(v[0]) * o(v[1]))])
    plain(f"neg.{kind}", letter, letter, lambda v, o=of, t=to: [t(-o(v[0]))])
    plain(f"abs.{kind}", letter, letter, lambda v, o=of, t=to: [t(abs(o(v[0])))])
    for name, pick in (("min", m.smaller), ("max", m.larger)):
        # Which of two zeros is the smaller one is what the finding asks to check.
        plain(f"{name}.{kind}", letter, letter * 2, lambda v, o=of, t=to, p=pick: [t(p(o(v[0]), o(v[1])))],
              accepts=lambda v, o=of: not (o(v[0]) == 0 and o(v[1]) == 0))  # fmt: skip
plain("add.rn.f32", "f", "ff", lambda v: [m.bits32(f32(v[0]) + f32(v[1]))])
plain("sub.rn.f32", "f", "ff", lambda v: [m.bits32(f32(v[0]) - f32(v[1]))])
plain("mul.rn.f32", "f", "ff", lambda v: [m.bits32(f32(v[0]) * f32(v[1]))])
plain("fma.rn.f32", "f", "fff", lambda v: [m.fma32(v[0], v[1], v[2])])
plain("fma.rn.f64", "d", "ddd", lambda v: [m.fma64(v[0], v[1], v[2])])
plain("rcp.rn.f32", "f", "f", lambda v: [m.bits32(m.divided(1.0, f32(v[0])))])


def normal(value: float) -> bool:
    return value == 0 or not math.isfinite(value) or abs(value) >= 2.0**-126


def near(
    function: Callable[..., float], relative: float, absolute: float = 0.0, of: Callable[[int], float] = f32
) -> Callable[[Bits, list[int]], bool]:
    """Whether an output is the function's value within an error; results too small for a normal number are not asked."""

    def check(inputs: Bits, outputs: list[int]) -> bool:
        wanted, found = function(*(of(value) for value in inputs)), of(outputs[0])
        if math.isnan(wanted) or math.isinf(wanted) or abs(wanted) > 3.4e38:
            return (
                math.isnan(found)
                if math.isnan(wanted)
                else found == math.copysign(math.inf, wanted) or abs(found) > 3.3e38
            )
        smallest = 2.0**-126 if of is f32 else 2.0**-14
        return abs(found - wanted) <= max(relative * abs(wanted), absolute) or abs(wanted) < smallest

    return check


def guarded(function: Callable[[float], float]) -> Callable[[float], float]:
    def run(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return run


def root(x: float) -> float:
    return math.sqrt(x)


def inverse_root(x: float) -> float:
    return math.copysign(math.inf, x) if x == 0 else 1 / math.sqrt(x)


def logarithm(x: float) -> float:
    return -math.inf if x == 0 else math.log2(x)


def within_pi(accepts: Callable[[Bits], bool]) -> Callable[[Bits], bool]:
    """What `accepts` takes, as far as it lies between -pi and pi."""
    return lambda v: accepts(v) and abs(f32(v[0])) <= math.pi


ULP = 2.0**-23
for flush in ("", ".ftz"):
    ok = (lambda v: all(normal(f32(x)) for x in v)) if flush else (lambda v: True)
    plain(f"rcp.approx{flush}.f32", "f", "f", lambda v: [], accepts=ok, close=near(lambda x: m.divided(1.0, x), ULP))
    for how in ("approx", "full"):
        plain(f"div.{how}{flush}.f32", "f", "ff", lambda v: [], close=near(m.divided, 2 * ULP),
              accepts=lambda v, ok=ok: ok(v) and (f32(v[1]) == 0 or 2.0**-126 <= abs(f32(v[1])) <= 2.0**126))  # fmt: skip
    plain(f"sqrt.approx{flush}.f32", "f", "f", lambda v: [], accepts=ok, close=near(guarded(root), ULP))
    plain(f"rsqrt.approx{flush}.f32", "f", "f", lambda v: [], accepts=ok, close=near(guarded(inverse_root), 2.0**-22.9))
    plain(
        f"ex2.approx{flush}.f32", "f", "f", lambda v: [], accepts=ok, close=near(guarded(lambda x: 2.0**x), 2.0**-22.5)
    )
    plain(f"lg2.approx{flush}.f32", "f", "f", lambda v: [], accepts=ok,
          close=near(guarded(logarithm), 2.0**-22, 2.0**-22))  # fmt: skip
    for name, function in (("sin", math.sin), ("cos", math.cos)):
        plain(f"{name}.approx{flush}.f32", "f", "f", lambda v: [], accepts=within_pi(ok),
              close=near(function, 0, 2.0**-20.5))  # fmt: skip
plain("tanh.approx.f32", "f", "f", lambda v: [], close=near(guarded(math.tanh), 2.0**-11))
plain(
    "ex2.approx.f16",
    "h",
    "h",
    lambda v: [],
    close=near(guarded(lambda x: math.inf if x >= 16 else 2.0**x), 2.0**-9.9, of=f16),
)
plain("tanh.approx.f16", "h", "h", lambda v: [], close=near(guarded(math.tanh), 2.0**-10.987, of=f16))


def both_halves(check: Callable[[Bits, list[int]], bool]) -> Callable[[Bits, list[int]], bool]:
    return lambda v, o: all(check([v[0] >> i & 0xFFFF], [o[0] >> i & 0xFFFF]) for i in (0, 16))


plain("ex2.approx.f16x2", "r", "r", lambda v: [],
      close=both_halves(near(guarded(lambda x: math.inf if x >= 16 else 2.0**x), 2.0**-9.9, of=f16)))  # fmt: skip
plain("tanh.approx.f16x2", "r", "r", lambda v: [], close=both_halves(near(guarded(math.tanh), 2.0**-10.987, of=f16)))

# ---- conversion

for goal in ("u16", "s16", "u32", "s32", "u64", "s64"):
    for kind in ("u16", "s16", "u32", "s32", "u64", "s64"):
        plain(f"cvt.{goal}.{kind}", LETTER[size(goal)], LETTER[size(kind)],
              lambda v, t=goal, k=kind: [u(read(k, v[0]), size(t))])  # fmt: skip
plain("cvt.u32.u8", "r", "r", lambda v: [v[0] & 0xFF])
plain("cvt.s32.s8", "r", "r", lambda v: [u(s(v[0], 8))])
plain("cvt.s8.s32", "r", "r", lambda v: [u(s(v[0], 8))])
plain("cvt.u8.u32", "r", "r", lambda v: [v[0] & 0xFF])
for kind in ("u16", "s16", "u32", "s32", "u64", "s64"):
    plain(f"cvt.rn.f32.{kind}", "f", LETTER[size(kind)], lambda v, k=kind: [m.rounded32(Fraction(read(k, v[0])))])
    plain(f"cvt.rn.f64.{kind}", "d", LETTER[size(kind)], lambda v, k=kind: [m.bits64(float(read(k, v[0])))])
plain("cvt.f64.f32", "d", "f", lambda v: [m.bits64(f32(v[0]))])
plain("cvt.rn.f32.f64", "f", "d", lambda v: [m.bits32(f64(v[0]))])
plain("cvt.rni.s32.f32", "r", "f", lambda v: [m.to_integer(m.whole(f32(v[0]), round), 32, signed=True)])
plain("cvt.rzi.s32.f32", "r", "f", lambda v: [m.to_integer(f32(v[0]), 32, signed=True)])
plain("cvt.rzi.u32.f32", "r", "f", lambda v: [m.to_integer(f32(v[0]), 32, signed=False)])
plain("cvt.rmi.f32.f32", "f", "f", lambda v: [m.bits32(m.whole(f32(v[0]), math.floor))])
plain("cvt.rpi.f32.f32", "f", "f", lambda v: [m.bits32(m.whole(f32(v[0]), math.ceil))])
plain("cvt.rzi.f32.f32", "f", "f", lambda v: [m.bits32(m.whole(f32(v[0]), math.trunc))])
plain("cvt.f32.f16", "f", "h", lambda v: [m.bits32(f16(v[0]))])
plain("cvt.rn.f16.f32", "h", "f", lambda v: [m.half(v[0])])
plain("cvt.rn.f16x2.f32", "r", "ff", lambda v: [m.half(v[0]) << 16 | m.half(v[1])])
plain("cvt.f32.bf16", "f", "h", lambda v: [v[0] << 16])
plain("cvt.rn.bf16.f32", "h", "f", lambda v: [m.bf16(v[0])])
plain("cvt.rn.bf16x2.f32", "r", "ff", lambda v: [m.bf16(v[0]) << 16 | m.bf16(v[1])])

# ---- several instructions, operands read and written

whole("add.u32 %0, %0, %1;", "+r", "r", lambda v: [u(v[0] + v[1])])
whole("{ .reg .u32 t; mov.u32 t, %0; mov.u32 %0, %1; mov.u32 %1, t; }", "+r+r", "", lambda v: [v[1], v[0]])
whole("{\n\t.reg .u64 a, b; // two\n\tmul.wide.u32 a, %1, %2;\n\tadd.u64 b, a, %3;\n\tshr.u64 %0, b, 3;\n}", "l", "rrl",
      lambda v: [u(v[0] * v[1] + v[2], 64) >> 3])  # fmt: skip
whole("{ .reg .u32 t; { .reg .u32 t; add.u32 t, %1, 1; mov.u32 %0, t; } mov.u32 t, %0; add.u32 %0, t, 1; }", "r", "r",
      lambda v: [u(v[0] + 2)])  # fmt: skip
whole("{ .reg .pred p; setp.ne.s32 p, %1, 0; @p mov.u32 %0, %2; }", "+r", "rr", lambda v: [v[2] if v[1] else v[0]])

# ---- special registers and warps

LANE_MASKS: dict[str, Callable[[int], int]] = {
    "eq": lambda lane: 1 << lane,
    "lt": lambda lane: (1 << lane) - 1,
    "le": lambda lane: (2 << lane) - 1,
    "gt": lambda lane: u(-1 << (lane + 1)),
    "ge": lambda lane: u(-1 << lane),
}


def warp(text: str, outputs: str, inputs: str, meaning: Callable[[Warp], list[list[int]]]) -> None:
    CASES.append(Case(text, outputs, inputs, warp=meaning))


warp("mov.u32 %0, %%laneid;", "r", "", lambda rows: [[lane] for lane in range(32)])
for which, mask in LANE_MASKS.items():
    warp(f"mov.u32 %0, %lanemask_{which};", "r", "", lambda rows, k=mask: [[k(lane)] for lane in range(32)])
# The harness numbers threads x, y, z in blocks of 32 x 2 x 3; lane is x, and it runs y = 1, z = 2.
warp("mov.u32 %0, %warpid;", "r", "", lambda rows: [[2 * 2 + 1]] * 32)
warp("{ .reg .u32 t, n; mov.u32 t, %tid.x; mov.u32 n, %ntid.y; mad.lo.u32 %0, t, 1000, n; }", "r", "",
     lambda rows: [[lane * 1000 + 2] for lane in range(32)])  # fmt: skip


def shuffled(
    mode: str, c: int | None, b: int | None = None, *, predicate: bool = False
) -> Callable[[Warp], list[list[int]]]:
    def run(rows: Warp) -> list[list[int]]:
        result = []
        for lane, row in enumerate(rows):
            amount = row[1] if b is None else b
            control = c if c is not None else row[2]
            value, fits = m.shuffle(mode, [other[0] for other in rows], lane, amount, control)
            result.append([value, int(fits)] if predicate else [value])
        return result

    return run


for mode in ("up", "down", "bfly", "idx"):
    clamp = 0 if mode == "up" else 0x1F
    for width in (32, 16, 8, 4, 2, 1):
        control = (32 - width) << 8 | clamp
        for letter in "rf":
            warp(
                f"shfl.sync.{mode}.b32 %0, %1, %2, {control:#x}, 0xffffffff;",
                letter,
                letter + "r",
                shuffled(mode, control),
            )
    warp(f"shfl.sync.{mode}.b32 %0, %1, 3, {clamp}, -1;", "r", "r", shuffled(mode, clamp, 3))
    warp(f"shfl.sync.{mode}.b32 %0, %1, %2, %3, %4;", "r", "rrrr", shuffled(mode, None))
    warp(
        f"{{ .reg .pred p; shfl.sync.{mode}.b32 %0|p, %2, %3, %4, 0xffffffff; selp.u32 %1, 1, 0, p; }}", "rr", "rrr",
        shuffled(mode, None, predicate=True),
    )  # fmt: skip


def inclusive_step(rows: Warp) -> list[list[int]]:
    result = []
    for lane, row in enumerate(rows):
        value, fits = m.shuffle("up", [other[0] for other in rows], lane, row[1], 0)
        result.append([m.bits32(f32(value) + f32(row[0])) if fits else value])
    return result


warp("{ .reg .f32 r0; .reg .pred p; shfl.sync.up.b32 r0|p, %1, %2, %3, 0xffffffff; @p add.f32 r0, r0, %1; mov.f32 %0, r0; }",
     "f", "frz", inclusive_step)  # fmt: skip


def ballot(rows: Warp) -> int:
    return sum(1 << lane for lane, row in enumerate(rows) if row[0] & 1)


ODD = ".reg .pred p; .reg .u32 t; and.b32 t, %1, 1; setp.ne.u32 p, t, 0;"
warp(f"{{ {ODD} vote.sync.ballot.b32 %0, p, 0xffffffff; }}", "r", "r", lambda rows: [[ballot(rows)]] * 32)
warp(f"{{ {ODD} vote.ballot.b32 %0, !p; }}", "r", "r", lambda rows: [[u(~ballot(rows))]] * 32)
for name, test in (("all", lambda found: found == 0xFFFFFFFF), ("any", lambda found: found != 0)):
    warp(f"{{ .reg .pred q; {ODD} vote.sync.{name}.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q; }}", "r", "r",
         lambda rows, t=test: [[int(t(ballot(rows)))]] * 32)  # fmt: skip
warp("activemask.b32 %0;", "r", "", lambda rows: [[0xFFFFFFFF]] * 32)


def combined(kind: str, how: Callable[[int, int], int]) -> Callable[[Warp], list[list[int]]]:
    def run(rows: Warp) -> list[list[int]]:
        total = read(kind, rows[0][0])
        for row in rows[1:]:
            total = how(total, read(kind, row[0]))
        return [[u(total)]] * 32

    return run


for kind in ("u32", "s32"):
    warp(f"redux.sync.add.{kind} %0, %1, 0xffffffff;", "r", "r", combined(kind, lambda a, b: a + b))
    warp(f"redux.sync.min.{kind} %0, %1, 0xffffffff;", "r", "r", combined(kind, min))
    warp(f"redux.sync.max.{kind} %0, %1, 0xffffffff;", "r", "r", combined(kind, max))
warp("redux.sync.and.b32 %0, %1, 0xffffffff;", "r", "r", combined("u32", lambda a, b: a & b))
warp("redux.sync.or.b32 %0, %1, 0xffffffff;", "r", "r", combined("u32", lambda a, b: a | b))
warp("redux.sync.xor.b32 %0, %1, 0xffffffff;", "r", "r", combined("u32", lambda a, b: a ^ b))

# ---- memory

KINDS = {"b8": "r", "u8": "r", "s8": "r", "b16": "h", "u16": "h", "s16": "h", "b32": "r", "u32": "r", "s32": "r", "f32": "f",
         "b64": "l", "u64": "l", "s64": "l", "f64": "d"}  # fmt: skip
REGISTER = {"h": 16, "r": 32, "l": 64, "f": 32, "d": 64}


def taken(kind: str, memory: Memory, index: int, offset: int = 0) -> int:
    count = size(kind) // 8
    raw = int.from_bytes(memory[offset + index * count : offset + (index + 1) * count], "little")
    return u(s(raw, size(kind)) if kind[0] == "s" else raw, REGISTER[KINDS[kind]])


def loading(kind: str, count: int, offset: int = 0) -> Callable[[Bits, Memory], list[int]]:
    return lambda v, memory: [taken(kind, memory, i, offset) for i in range(count)]


def storing(kind: str, count: int, offset: int = 0) -> Callable[[Bits, Memory], list[int]]:
    def run(v: Bits, memory: Memory) -> list[int]:
        width = size(kind) // 8
        for i in range(count):
            start = offset + i * width
            memory[start : start + width] = u(v[1 + i], size(kind)).to_bytes(width, "little")
        return []

    return run


def on_memory(
    text: str,
    outputs: str,
    inputs: str,
    meaning: Callable[[Bits, Memory], list[int]],
    events: str = "",
    clobbers: str = "",
) -> None:
    CASES.append(Case(text, outputs, inputs, memory=meaning, events=events, clobbers=clobbers))


def loads(qualifiers: str, events: str, *, vectors: bool = True, clobbers: str = "") -> None:
    for kind, letter in KINDS.items():
        on_memory(f"ld{qualifiers}.{kind} %0, [%1];", letter, "p", loading(kind, 1), events, clobbers)
        on_memory(f"ld{qualifiers}.{kind} %0, [%1+8];", letter, "p", loading(kind, 1, 8), events, clobbers)
        if vectors:
            on_memory(
                f"ld{qualifiers}.v2.{kind} {{%0, %1}}, [%2];", letter * 2, "p", loading(kind, 2), events, clobbers
            )
        if vectors and size(kind) <= 32:
            on_memory(
                f"ld{qualifiers}.v4.{kind} {{%0, %1, %2, %3}}, [%4];",
                letter * 4,
                "p",
                loading(kind, 4),
                events,
                clobbers,
            )


def stores(qualifiers: str, events: str, *, clobbers: str = "") -> None:
    for kind, letter in KINDS.items():
        on_memory(f"st{qualifiers}.{kind} [%0], %1;", "", "p" + letter, storing(kind, 1), events, clobbers)
        on_memory(f"st{qualifiers}.{kind} [%0 + 8], %1;", "", "p" + letter, storing(kind, 1, 8), events, clobbers)
        on_memory(
            f"st{qualifiers}.v2.{kind} [%0], {{%1, %2}};", "", "p" + letter * 2, storing(kind, 2), events, clobbers
        )
        if size(kind) <= 32:
            on_memory(
                f"st{qualifiers}.v4.{kind} [%0], {{%1, %2, %3, %4}};",
                "",
                "p" + letter * 4,
                storing(kind, 4),
                events,
                clobbers,
            )


loads("", "")
loads(".global.nc", "")
loads(".cg.global", "")
loads(".global.nc.L1::no_allocate.L2::256B", "")
loads(".volatile.global", "")
loads(".volatile.global", "cta", clobbers="memory")
loads(".relaxed.gpu.global", "")
loads(".acquire.sys.global", "sys")
loads(".acquire.gpu", "gpu")
loads(".acquire.global.cta", "cta")
stores("", "")
stores(".global.cs", "", clobbers="memory")
stores(".global.wt", "")
stores(".volatile.global", "")
stores(".volatile", "cta", clobbers="memory")
stores(".release.sys.global", "sys")
stores(".release.cta", "cta")
stores(".release.global.gpu", "gpu")
on_memory("fence.acq_rel.sys;", "", "", lambda v, memory: [], "sys")
on_memory("fence.sc.gpu;", "", "", lambda v, memory: [], "gpu")
on_memory("membar.cta; membar.gl; membar.sys;", "", "", lambda v, memory: [], "cta gpu sys")


def changing(kind: str, how: Callable[[int, Bits], int]) -> Callable[[Bits, Memory], list[int]]:
    def run(v: Bits, memory: Memory) -> list[int]:
        width = size(kind) // 8
        old = int.from_bytes(memory[:width], "little")
        memory[:width] = u(how(old, v), size(kind)).to_bytes(width, "little")
        return [old]

    return run


def silent(meaning: Callable[[Bits, Memory], list[int]]) -> Callable[[Bits, Memory], list[int]]:
    return lambda v, memory: meaning(v, memory) and []


ATOMICS: list[tuple[str, str, Callable[[int, Bits], int]]] = [
    ("add", "u32", lambda old, v: old + v[1]),
    ("add", "s32", lambda old, v: old + v[1]),
    ("add", "u64", lambda old, v: old + v[1]),
    ("add", "f32", lambda old, v: m.bits32(f32(old) + f32(v[1]))),
    ("min", "u32", lambda old, v: min(old, v[1])),
    ("min", "s32", lambda old, v: min(s(old), s(v[1]))),
    ("max", "u32", lambda old, v: max(old, v[1])),
    ("max", "s32", lambda old, v: max(s(old), s(v[1]))),
    ("exch", "b32", lambda old, v: v[1]),
    ("and", "b32", lambda old, v: old & v[1]),
    ("or", "b32", lambda old, v: old | v[1]),
    ("xor", "b32", lambda old, v: old ^ v[1]),
]
for order, events in ((".global", ""), (".relaxed.gpu.global", ""), (".acquire.gpu.global", "gpu"), (".release.cta", "cta"),
                      (".acq_rel.gpu", "gpu gpu")):  # fmt: skip
    for operation, kind, change in ATOMICS:
        letter = KINDS[kind]
        on_memory(f"atom{order}.{operation}.{kind} %0, [%1], %2;", letter, "p" + letter, changing(kind, change), events)
        if "acq" not in order and operation != "exch":
            on_memory(
                f"red{order}.{operation}.{kind} [%0], %1;", "", "p" + letter, silent(changing(kind, change)), events
            )
    on_memory(f"atom{order}.cas.b32 %0, [%1], %2, %3;", "r", "prr",
              changing("b32", lambda old, v: v[2] if old == v[1] else old), events)  # fmt: skip
