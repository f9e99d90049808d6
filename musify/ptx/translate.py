"""Instructions of PTX as C++ expressions and statements, by the rules.

The result still holds marks for the operands of the asm statement; `render` puts the expressions in their place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from musify.model import Target
from musify.ptx import makers
from musify.ptx.literals import literal
from musify.ptx.rules import PtxRules, Rewrite
from musify.ptx.text import (
    Address,
    Declaration,
    Instruction,
    Literal,
    Negated,
    Operand,
    Pair,
    Parameter,
    Register,
    Vector,
    number,
)
from musify.ptx.types import IMMEDIATE, KINDS, Mismatch, Value, converted, signed, unsigned, wide

_PLACE = re.compile(r"\{(\w+)(?::(\w+))?\}")
_VECTORS = {"unsigned char": "uchar", "signed char": "char", "unsigned short": "ushort", "unsigned int": "uint",
            "unsigned long long": "ulonglong", "long long": "longlong"}  # fmt: skip


class Unknown(Exception):
    """An instruction for which no rule holds: its opcode and why, in English and Chinese."""

    def __init__(self, opcode: str, reason: str, reason_zh: str) -> None:
        super().__init__(reason)
        self.opcode = opcode
        self.reason = reason
        self.reason_zh = reason_zh


class _Unfit(Exception):
    """A rule does not fit this instruction; the next one may."""


@dataclass
class Step:
    """One instruction in C++: shared values, then assignments (destination, expression, PTX type) or statements."""

    guard: str = ""
    lets: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    results: list[tuple[Operand, str, str]] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    check: str = "plain"


class Translator:
    """Translates the instructions of one statement.

    `parameters`: what stands for %0, %1 ... with its PTX type (IMMEDIATE: a constant whose type is that of its use);
    `literals`: those that are plain numbers.
    """

    def __init__(
        self,
        rules: PtxRules,
        target: Target,
        parameters: Mapping[str, Value],
        literals: Mapping[str, str],
        registers: Mapping[str, Declaration],
        prefix: str,
        *,
        clobbers_memory: bool,
    ) -> None:
        self._rules = rules
        self._target = target
        self._parameters = parameters
        self._literals = literals
        self._registers = registers
        self._prefix = prefix
        self._clobbers_memory = clobbers_memory
        self.checks: list[str] = []

    def step(self, instruction: Instruction) -> Step:
        """One instruction. Raises Unknown where no rule fits."""
        forms = self._rules.forms(instruction.opcode, self._target)
        mismatch = ""
        for rule, captures in forms:
            try:
                made = _Form(self, rule, captures, instruction).step()
                self._note(made.check)
                return made
            except _Unfit:
                continue
            except Mismatch as problem:
                mismatch = str(problem)
        if mismatch:
            raise Unknown(instruction.opcode, mismatch, f"寄存器类型不符：{mismatch}")
        if forms:
            raise Unknown(instruction.opcode, "its operands have an unknown form", "其操作数形式未知")
        raise Unknown(instruction.opcode, "no equivalent in C++ is known", "没有已知的 C++ 等价写法")

    def _note(self, check: str) -> None:
        if check not in self.checks:
            self.checks.append(check)

    def resolved(self, operand: Operand) -> Operand:
        """An operand, or the literal that stands for it."""
        if isinstance(operand, Parameter) and operand.key in self._literals:
            return Literal(self._literals[operand.key])
        return operand

    def type_of(self, operand: Operand) -> str:
        """The PTX type of a register or parameter."""
        return self._value(operand).type

    def raw(self, operand: Operand) -> str:
        """A register or parameter as it is, without any cast."""
        return self._value(operand).text

    def local(self, name: str) -> str:
        """The name of a value that an instruction shares between its expressions."""
        return f"{self._prefix}in_{name}"

    def _value(self, operand: Operand) -> Value:
        if isinstance(operand, Parameter):
            found = self._parameters.get(operand.key)
            if found is not None:
                return found
        elif isinstance(operand, Register):
            declared = self._registers.get(operand.name)
            if declared is not None and declared.type in KINDS:
                return Value(self._prefix + identifier(declared.name), declared.type)
            special = self._rules.specials.get(operand.name.lstrip("%"))
            if special is not None and operand.name.startswith("%"):
                self._note(special.check)
                return Value(special.cpp, special.type)
            raise Unknown(operand.name, "no counterpart of this register is known", "没有已知的对应寄存器")
        raise Mismatch("an operand has an unknown form")

    def read(self, operand: Operand, wanted: str) -> str:
        """An operand as a C++ expression of PTX type `wanted`."""
        if isinstance(operand, Negated):
            return f"!{self.read(operand.register, 'pred')}"
        if isinstance(operand, Literal):
            return literal(operand.text, wanted)
        value = self._value(operand)
        if value.type == IMMEDIATE:
            return f"({KINDS[wanted].cpp}){value.text}"
        return converted(value, wanted)

    def bits(self, operand: Operand, wanted: str) -> str:
        """The same for operators that do not care for signs: an integer of the right size is taken as it is."""
        if isinstance(operand, Parameter):
            value = self._value(operand)
            if value.type == wanted and wanted in ("b16", "b32"):
                return value.text
        return self.read(operand, wanted)

    def address(self, operand: Operand) -> str:
        """What a memory operand points at, to be cast to a pointer."""
        if isinstance(operand, Address):
            if self.type_of(operand.base) not in ("b64", "u64", "s64"):
                raise Unknown("", "the address is no generic or global one", "该地址不是通用地址或全局地址")
            if operand.offset:
                sign = "+" if operand.offset > 0 else "-"
                return f"({self.read(operand.base, 'u64')} {sign} {abs(operand.offset)})"
            return self.raw(operand.base)
        return self.raw(operand)


def identifier(register: str) -> str:
    """A register's name as part of a C++ name."""
    return re.sub(r"\W", "_", register)


class _Form:
    """One rule at work on one instruction."""

    def __init__(
        self, translator: Translator, rule: Rewrite, captures: Mapping[str, str], instruction: Instruction
    ) -> None:
        self._translator = translator
        self._rule = rule
        self._captures = captures
        self._instruction = instruction
        self._bound: dict[str, Operand] = {}
        self._local_names = {name for name, _, _ in rule.lets}

    def step(self) -> Step:
        self._bind(self._rule.shape, self._instruction.operands)
        self._check_bounds()
        guard = self._instruction.guard
        step = Step(check=self._rule.check)
        if guard is not None:
            step.guard = self._translator.read(guard, "pred")
        step.lets = [self._let(name, kind, text) for name, kind, text in self._rule.lets]
        step.before = [self._text(text) for text in self._rule.before]
        for name, text in self._rule.results:
            step.results.append((self._bound[name], self._text(text), self._result_type(name)))
        step.statements = [self._text(text) for text in self._rule.statements]
        step.after = [self._text(text) for text in self._rule.after]
        if self._translator._clobbers_memory and self._rule.barrier:
            (step.before if self._rule.barrier == "before" else step.after).append("__threadfence_block()")
        return step

    def _bind(self, shape: tuple[Operand, ...], operands: tuple[Operand, ...]) -> None:
        if len(shape) != len(operands):
            raise _Unfit
        for wanted, operand in zip(shape, operands, strict=True):
            if isinstance(wanted, Register):
                if isinstance(operand, (Vector, Pair, Address)):
                    raise _Unfit
                self._bound[wanted.name] = self._translator.resolved(operand)
            elif type(wanted) is not type(self._translator.resolved(operand)):
                raise _Unfit
            elif isinstance(wanted, Vector) and isinstance(operand, Vector):
                self._bind(wanted.items, operand.items)
            elif isinstance(wanted, Pair) and isinstance(operand, Pair):
                self._bind((wanted.first, wanted.second), (operand.first, operand.second))
            elif isinstance(wanted, Address) and isinstance(wanted.base, Register):
                self._bound[wanted.base.name] = operand
            elif wanted != self._translator.resolved(operand):
                raise _Unfit

    def _check_bounds(self) -> None:
        for name, (low, high) in self._rule.where.items():
            value = self._constant(name)
            if value is None or not low <= value <= high:
                raise _Unfit

    def _constant(self, name: str) -> int | None:
        operand = self._bound.get(name)
        return number(operand.text) if isinstance(operand, Literal) and operand.text[0] != "-" else None

    def _type(self) -> str:
        return self._captures.get("T", "b32")

    def _result_type(self, name: str) -> str:
        wanted = self._rule.result_type
        if name == "p":
            return "pred"
        if wanted == "a":
            return self._operand_type("a")
        return {"T": self._type(), "W": wide(self._type()) if wanted == "W" else ""}.get(wanted, wanted)

    def _operand_type(self, name: str) -> str:
        operand = self._bound[name]
        return "b32" if isinstance(operand, Literal) else self._translator.type_of(operand)

    def _let(self, name: str, kind: str, text: str) -> str:
        base = KINDS[self._type()].cpp
        vector = _VECTORS.get(base, base)
        spelled = {"V2": f"{vector}2", "V4": f"{vector}4", "P": f"const volatile {base}*", "Q": f"volatile {base}*"}
        cpp = spelled.get(kind) or KINDS[kind].cpp
        qualified = f"{cpp} const" if cpp.endswith("*") else f"const {cpp}"
        return f"{qualified} {self._translator.local(name)} = {self._text(text)}"

    def _text(self, template: str) -> str:
        return _PLACE.sub(self._filled, template)

    def _filled(self, match: re.Match[str]) -> str:
        name, form = match.group(1), match.group(2)
        if form is None and name in self._local_names:
            return self._translator.local(name)
        if form in ("source", "inside"):
            mode = self._instruction.opcode.split(".")[2]
            return self._text(makers.source_lane(mode) if form == "source" else makers.inside_limit(mode))
        if form is None and name not in self._bound:
            return self._word(name)
        return self._operand(name, form or "T")

    def _word(self, name: str) -> str:
        base = KINDS[self._type()].cpp
        words = {
            "T": base,
            "U": KINDS[unsigned(self._type())].cpp,
            "S": KINDS[signed(self._type())].cpp,
            "V2": _VECTORS.get(base, base) + "2",
            "V4": _VECTORS.get(base, base) + "4",
        }
        if name == "W":
            return KINDS[wide(self._type())].cpp
        if name == "opcode":
            return self._rule.texts["opcode"][self._instruction.opcode.split(".")[0]]
        return self._rule.texts[name][self._captures[name]] if name in self._rule.texts else words[name]

    def _operand(self, name: str, form: str) -> str:
        operand = self._bound[name]
        translator = self._translator
        if form == "ptr":
            return translator.address(operand)
        if form == "any":
            return translator.read(operand, "b32") if isinstance(operand, Literal) else translator.raw(operand)
        if form == "bits":
            return translator.bits(operand, self._type())
        if form in ("lop3", "prmt", "mask", "width", "lane"):
            return self._made(name, form)
        kinds = {"T": self._type(), "A": self._captures.get("A", ""), "U": "", "S": ""}
        if form in ("U", "S"):
            kinds[form] = unsigned(self._type()) if form == "U" else signed(self._type())
        return translator.read(operand, kinds.get(form, form))

    def _made(self, name: str, form: str) -> str:
        value = self._constant(name)
        if form == "lane":
            if value is not None:
                return str(value & 31)
            return f"{self._translator.read(self._bound[name], 'u32')} & 31"
        if value is None:
            raise _Unfit
        if form == "mask":
            return f"{(1 << value) - 1:#x}u"
        if form == "width":
            width = makers.segment_width(value, up=self._instruction.opcode.split(".")[2] == "up")
            if width is None:
                raise _Unfit
            return str(width)
        if form == "prmt":
            return self._text(re.sub(r"\{(\w)\}", r"{\1:u32}", makers.selected_bytes(value)))
        if not 0 <= value <= 255:
            raise _Unfit
        return self._text(re.sub(r"\{(\w)\}", r"{\1:bits}", makers.boolean_expression(value)))
