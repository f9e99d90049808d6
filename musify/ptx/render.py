"""Puts the C++ of a statement together: one expression where that is all, a block otherwise."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from musify.model import Target
from musify.ptx.assembly import Assembly
from musify.ptx.operands import Operand, Refused, has_effects, primary
from musify.ptx.rules import PtxRules
from musify.ptx.text import Operand as PtxOperand
from musify.ptx.text import Parameter, Program, Register
from musify.ptx.translate import Step, Translator, Unknown, identifier
from musify.ptx.types import IMMEDIATE, KINDS, Mismatch, Value, bare, converted

_MARK = re.compile("\x02(\\d+)\x03")
_ENCLOSED = re.compile("(?<=[\\w>])\\(\x02(\\d+)\x03\\)|\x02(\\d+)\x03")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*\Z|\d\w*\Z")
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)(?:[uU]?[lL]{0,2}|[lL]{1,2}[uU])\Z")


class Rendered(NamedTuple):
    """The new text, and the texts of [check] that concern it."""

    text: str
    checks: list[str]


class _NotInline(Exception):
    """It takes a block."""


def render(
    program: Program, assembly: Assembly, operands: Sequence[Operand], rules: PtxRules, target: Target, prefix: str
) -> Rendered:
    """The C++ for a statement. Raises Refused."""
    if not program.instructions:
        raise Refused("it declares something and does nothing with it", "它只有声明，没有指令")
    if program.labels:
        raise Refused("it has labels", "其中含有标号")
    for declaration in program.registers:
        if declaration.type not in KINDS:
            raise Refused(
                f"registers of type .{declaration.type} are not known", f"不支持 .{declaration.type} 类型的寄存器"
            )
    try:
        try:
            return _Inline(program, assembly, operands, rules, target, prefix).render()
        except _NotInline:
            return _Block(program, assembly, operands, rules, target, prefix).render()
    except Unknown as problem:
        name = f"{problem.opcode}: " if problem.opcode else ""
        raise Refused(name + problem.reason, name + problem.reason_zh, problem.opcode) from problem
    except Mismatch as problem:
        raise Refused(str(problem), f"寄存器类型不符：{problem}") from problem


class _Base(ABC):
    def __init__(
        self,
        program: Program,
        assembly: Assembly,
        operands: Sequence[Operand],
        rules: PtxRules,
        target: Target,
        prefix: str,
    ) -> None:
        self.program = program
        self.assembly = assembly
        self.operands = operands
        self.prefix = prefix
        registers = {item.name: item for item in program.registers}
        memory = "memory" in assembly.clobbers
        self.translator = Translator(
            rules, target, self.parameters(), self.literals(), registers, prefix, clobbers_memory=memory
        )

    def parameters(self) -> dict[str, Value]:
        """What stands for %0, %1 ... and for %[name]."""
        values: dict[str, Value] = {}
        for index, operand in enumerate(self.operands):
            value = self.value(index, operand)
            values[str(index)] = value
            name = self.assembly.operands[index].name
            if name:
                values[name] = value
        return values

    def literals(self) -> dict[str, str]:
        """The inputs that are integer literals of C++, as those of PTX."""
        found = {}
        for index, operand in enumerate(self.operands):
            match = _INTEGER.match(operand.text)
            if match and not operand.written and operand.tied < 0 and operand.type not in ("f32", "f64"):
                found[str(index)] = match.group(1)
        return found

    @abstractmethod
    def value(self, index: int, operand: Operand) -> Value:
        """What stands for one operand."""

    def index_of(self, operand: PtxOperand) -> int | None:
        """Which operand of the statement a parameter of the text is."""
        if not isinstance(operand, Parameter):
            return None
        names = [item.name for item in self.assembly.operands]
        if operand.key in names:
            return names.index(operand.key)
        return int(operand.key) if operand.key.isdigit() and int(operand.key) < len(self.operands) else None


class _Inline(_Base):
    """One expression: the value is assigned to the only output, or a call or store without output."""

    def value(self, index: int, operand: Operand) -> Value:
        kind = operand.type
        exact = kind in ("f32", "f64") or (kind in KINDS and operand.cpp == KINDS[kind].cpp)
        return Value(f"\x02{index}\x03", kind, exact)

    def render(self) -> Rendered:
        if len(self.program.instructions) != 1 or any(operand.tied >= 0 for operand in self.operands):
            raise _NotInline
        step = self.translator.step(self.program.instructions[0])
        lines, goals = self._lines(step)
        if step.guard or len(goals) != len(self.assembly.outputs):
            raise _NotInline
        if len(lines) == 1:
            return Rendered(self._filled(lines, goals)[0], self.translator.checks)
        if any(_MARK.search(expression) for _, expression, _ in step.results[1:]) or self._busy:
            raise _NotInline
        text = " ".join(f"{line};" for line in self._filled(lines, goals))
        return Rendered(f"do {{ {text} }} while (0)", self.translator.checks)

    def _lines(self, step: Step) -> tuple[list[str], set[int]]:
        """All lines of a step, and which operands they write."""
        goals: set[int] = set()
        assignments = []
        for destination, expression, kind in step.results:
            goal = self.index_of(destination)
            if goal is None or not self.operands[goal].written or goal in goals:
                raise _NotInline
            goals.add(goal)
            output = self.operands[goal]
            assignments.append(f"{output.text} = {_assigned(bare(expression), kind, output)}")
        return [*step.lets, *step.before, *assignments, *step.statements, *step.after], goals

    @property
    def _busy(self) -> list[int]:
        return [index for index, operand in enumerate(self.operands) if has_effects(operand.text)]

    def _filled(self, lines: Sequence[str], goals: set[int]) -> list[str]:
        """Operands in place of their marks; only where each is evaluated once, and in no order that matters."""
        uses = [int(match.group(1)) for line in lines for match in _MARK.finditer(line)]
        busy = self._busy
        # What stands in a branch may not be evaluated at all.
        branches = any(sign in line for line in lines for sign in ("?", "&&", "||"))
        if branches and (busy or any(operand.once for operand in self.operands)):
            raise _NotInline
        for index, operand in enumerate(self.operands):
            if operand.once and uses.count(index) != (0 if index in goals else 1):
                raise _NotInline
        if len(busy) > 1 or any(uses.count(index) != (0 if index in goals else 1) for index in busy):
            raise _NotInline
        for index in set(uses):
            if uses.count(index) > 1 and not _NAME.match(self.operands[index].text):
                raise _NotInline

        def put(match: re.Match[str]) -> str:
            if match.group(1):
                return f"({self.operands[int(match.group(1))].text})"
            return primary(self.operands[int(match.group(2))].text)

        return [_ENCLOSED.sub(put, line) for line in lines]


class _Block(_Base):
    """`do { ... } while (0)`: operands are read into locals in their order, outputs are written at the end."""

    def value(self, index: int, operand: Operand) -> Value:
        if operand.type == IMMEDIATE:
            return Value(primary(operand.text), IMMEDIATE)
        number = operand.tied if operand.tied >= 0 else index
        return Value(f"{self.prefix}{number}", operand.type)

    def render(self) -> Rendered:
        steps = [self.translator.step(instruction) for instruction in self.program.instructions]
        lines = self._registers()
        body = [line for step in steps for line in self._step(step)]
        lines += self._operands(steps)
        lines += body
        for index, operand in enumerate(self.operands):
            if operand.written:
                local = f"{self.prefix}{index}"
                lines.append(f"{self._goal(index)} = {_cast_back(local, operand)};")
        return Rendered("do { " + " ".join([*self._references(), *lines]) + " } while (0)", self.translator.checks)

    def _references(self) -> list[str]:
        """Outputs that are read too, and do something when evaluated, are evaluated once."""
        return [
            f"auto& {self.prefix}to_{index} = {operand.text};"
            for index, operand in enumerate(self.operands)
            if self._is_bound(index)
        ]

    def _is_bound(self, index: int) -> bool:
        operand = self.operands[index]
        return self._keeps_old(index) and (operand.once or has_effects(operand.text))

    def _goal(self, index: int) -> str:
        return f"{self.prefix}to_{index}" if self._is_bound(index) else self.operands[index].text

    def _keeps_old(self, index: int) -> bool:
        """Whether an output starts with the value that its variable has."""
        if not self.operands[index].written or any(operand.tied == index for operand in self.operands):
            return False
        return self.operands[index].read or index in self._guarded

    @property
    def _guarded(self) -> set[int]:
        """Outputs that may stay unwritten, as a predicate guards the first instruction that writes them."""
        guarded: set[int] = set()
        written: set[int] = set()
        for instruction in self.program.instructions:
            for operand in instruction.operands:
                index = self.index_of(operand)
                if index is not None and self.operands[index].written and index not in written:
                    (guarded if instruction.guard is not None else written).add(index)
        return guarded

    def _registers(self) -> list[str]:
        return [f"{KINDS[item.type].cpp} {self.prefix}{identifier(item.name)};" for item in self.program.registers]

    def _operands(self, steps: Sequence[Step]) -> list[str]:
        lines = []
        for index, operand in enumerate(self.operands):
            if operand.type == IMMEDIATE or (operand.written and not self._is_initialised(index)):
                if operand.written:
                    lines.append(f"{KINDS[operand.type].cpp} {self.prefix}{index};")
                continue
            if operand.tied >= 0:
                continue
            source = next((item for item in self.operands if item.tied == index), None)
            value = _cast(self._goal(index), operand) if source is None else _cast(source.text, source)
            constant = "" if operand.written else "const "
            lines.append(f"{constant}{KINDS[operand.type].cpp} {self.prefix}{index} = {value};")
        return lines

    def _is_initialised(self, index: int) -> bool:
        return self._keeps_old(index) or any(operand.tied == index for operand in self.operands)

    def _step(self, step: Step) -> list[str]:
        lines = [f"{line};" for line in (*step.lets, *step.before)]
        for destination, expression, kind in step.results:
            lines.append(self._assignment(destination, expression, kind))
        lines += [f"{line};" for line in (*step.statements, *step.after)]
        if step.guard:
            return [f"if ({step.guard}) {{ {' '.join(lines)} }}" if len(lines) > 1 else f"if ({step.guard}) {lines[0]}"]
        return [f"{{ {' '.join(lines)} }}"] if step.lets else lines

    def _assignment(self, destination: PtxOperand, expression: str, kind: str) -> str:
        if isinstance(destination, Register) and destination.name == "_":
            return f"(void)({expression});"
        index = self.index_of(destination)
        if index is not None and not (self.operands[index].written):
            raise Refused("it writes to an input", "它写入了输入操作数")
        have = self.translator.type_of(destination)
        if KINDS[have].bits < KINDS[kind].bits:
            raise Mismatch(f"a .{kind} value is written to a .{have} register")
        return f"{self.translator.raw(destination)} = {_fitted(expression, kind, have)};"


def _fitted(expression: str, kind: str, have: str) -> str:
    """An expression of PTX type `kind` for a register of type `have`, which is as wide or wider."""
    same_family = (KINDS[kind].family == "f") == (KINDS[have].family == "f")
    if same_family and KINDS[kind].bits == KINDS[have].bits:
        return expression
    value = Value(f"({expression})", kind, False)
    if KINDS[kind].bits < KINDS[have].bits:
        loaded = re.match(rf"\*\((?:const )?(?:volatile )?{KINDS[kind].cpp}\*\)", expression)
        return expression if loaded else f"({KINDS[kind].cpp})({expression})"
    return converted(value, have)


def _assigned(expression: str, kind: str, output: Operand) -> str:
    if KINDS[output.type].bits < KINDS[kind].bits:
        raise Mismatch(f"a .{kind} value is written to a .{output.type} register")
    return _cast_back(_fitted(expression, kind, output.type), output)


def _cast(text: str, operand: Operand) -> str:
    cpp = KINDS[operand.type].cpp
    if operand.type in ("f32", "f64") or operand.cpp == cpp:
        return text
    return f"({cpp}){primary(text)}"


def _cast_back(text: str, operand: Operand) -> str:
    """A 64-bit value may go to a pointer, which C++ does not convert by itself."""
    if operand.type == "b64" and not operand.cpp:
        whole = text if re.fullmatch(r"\w+", text) else f"({text})"
        return f"(__typeof__({operand.text})){whole}"
    return text
