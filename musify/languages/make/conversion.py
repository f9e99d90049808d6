"""Edits and findings of a makefile, statement by statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from musify.languages.build.architectures import architecture_edits
from musify.languages.build.commands import Commands
from musify.languages.build.edits import without_inner
from musify.languages.build.flags import FlagForm, FlagWord, flag_edits
from musify.languages.build.unit import BuildUnit
from musify.languages.build.variables import compiler_index, is_architecture_value, references_of, runs_nvcc
from musify.languages.make import texts
from musify.languages.make.names import Branch, statements_of, variables_of
from musify.languages.make.reader import Kind, Statement, read
from musify.languages.make.words import Call, calls_in, references_in, script_of
from musify.languages.shell.conversion import script_results
from musify.languages.shell.quoting import words_of
from musify.model import Applicability, Edit, Finding, Severity, Span

_EACH = b"$(addprefix {prefix},{variable})"
_PLAIN = FlagForm()
_UNWRAPPED = (b"-Xcompiler", b"--compiler-options", b"-Xcompiler=", b"--compiler-options=")
_TESTS = (b"findstring", b"filter", b"filter-out")
_TEXTS = (b"info", b"warning", b"error", b"wildcard")
_SUFFIX_RULE = re.compile(rb"(\.\w+)\.\w+")
_NVCC = re.compile(rb"(?<![\w./-])nvcc(?![\w./-])")
# What does not stand before a variable of architectures in a flag.
_NOT_IN_FLAGS = rb"(?<!sm_)(?<!compute_)(?<!lto_)(?<!arch=)(?<!code=)(?<!-arch )(?<!-code )"


class Conversion:
    """The conversion of one makefile."""

    def __init__(self, unit: BuildUnit) -> None:
        self._unit = unit
        self._data = unit.data
        self._branches = list(statements_of(unit.data, read(unit.data)))
        self._variables = variables_of(unit.data, self._branches, unit.surroundings.variables)
        self._several = len(unit.settings.target.architectures) > 1
        # The prerequisites of the rule that recipes stand under.
        self._inputs: tuple[bytes, ...] = ()
        # Where the values of loops over architectures come from.
        self._sources: dict[bytes, list[bytes]] = {}
        # Conditions under which a variable was already given the architectures of the target.
        self._written: dict[bytes, list[tuple[tuple[int, int], ...]]] = {}

    def results(self) -> Iterator[Edit | Finding]:
        """All edits and findings; an outer edit wins over one inside it."""
        found: list[Edit | Finding] = []
        for branch in self._branches:
            found += self._statement(branch, frozenset())
        found += texts.results(self._unit, self._branches, self._variables)
        yield from (self._weighed(item) for item in without_inner(found))

    def _statement(self, branch: Branch, loops: frozenset[bytes]) -> Iterator[Edit | Finding]:
        statement = branch.statement
        if statement.kind is Kind.RULE:
            self._inputs = _inputs_of(self._data, statement)
        if statement.kind is Kind.RECIPE or statement.operator == b"!=":
            yield from self._command(statement.body, loops)
        elif statement.kind is Kind.ASSIGNMENT:
            yield from self._assignment(branch, loops)
        elif statement.kind is Kind.CONDITION:
            yield from self._comparison(statement.body)
        if statement.kind is not Kind.DEFINE:
            device = statement.kind is Kind.ASSIGNMENT and self._holds_flags(statement.name)
            for call in calls_in(self._data, statement.body):
                yield from self._call(call, loops, device or self._runs_nvcc(statement))

    def _weighed(self, item: Edit | Finding) -> Edit | Finding:
        """A variable of architectures is only worth a note where this file converts all that it holds."""
        if not isinstance(item, Finding) or item.rule_id != "MUS524":
            return item
        names = set(references_of(self._data[slice(*item.span)]))
        settled = bool(names) and all(self._is_settled(name, frozenset()) for name in names)
        return item._replace(severity=Severity.NOTE) if settled else item

    def _is_settled(self, name: bytes, seen: frozenset[bytes]) -> bool:
        words = self._variables.values.get(name, [])
        if is_architecture_value(words, numbers=name in self._variables.numbers):
            return not (self._several and self._is_used_otherwise(name))
        sources = self._sources.get(name) or [inner for word in words for inner in references_in(word)]
        return name not in seen and bool(sources) and all(self._is_settled(item, seen | {name}) for item in sources)

    def _holds_flags(self, name: bytes) -> bool:
        return self._variables.is_flags(name) or name in self._variables.compilers

    def _runs_nvcc(self, statement: Statement) -> bool:
        if statement.kind is not Kind.RECIPE:
            return False
        words = words_of(self._data, statement.body)
        return any(runs_nvcc(word.text) or self._variables.is_compiler(word.text) for word in words)

    def _commands(self, span: Span, loops: frozenset[bytes]) -> Commands:
        return Commands(self._unit, self._variables, self._form(span, loops), self._inputs)

    def _form(self, span: Span, loops: frozenset[bytes]) -> FlagForm:
        """Whether a flag can be repeated for each word of a variable: not where a loop or a call gives one by one."""
        names = set(references_of(self._data[slice(*span)]))
        return _PLAIN if names & loops or b"$(1" in self._data[slice(*span)] else FlagForm(each_architecture=_EACH)

    def _command(self, span: Span, loops: frozenset[bytes]) -> Iterator[Edit | Finding]:
        yield from script_results(self._commands(span, loops), script_of(self._data, span))

    def _assignment(self, branch: Branch, loops: frozenset[bytes]) -> Iterator[Edit | Finding]:
        statement = branch.statement
        words = words_of(self._data, statement.body)
        commands = self._commands(statement.body, loops)
        index = compiler_index([word.text for word in words], self._variables)
        if index is not None and statement.name in self._variables.compilers:
            yield from commands.compilation(words[index:])
            return
        values = list(self._architectures(statement.name, words))
        yield from values
        if not values and not _is_prose(words):
            device = self._holds_flags(statement.name)
            found = flag_edits(self._unit, words, commands.form._replace(host=not device))
            yield from self._once(branch, words, list(found)) if device else found

    def _architectures(self, name: bytes, words: Sequence[FlagWord]) -> Iterator[Edit | Finding]:
        if name in self._variables.architectures or name in self._variables.numbers:
            several = not (self._several and self._is_used_otherwise(name))
            yield from architecture_edits(self._unit, self._variables, name, words, several=several)

    def _is_used_otherwise(self, name: bytes) -> bool:
        """Whether a variable of architectures also stands where a list would be wrong, as in a file's name."""
        pattern = re.compile(_NOT_IN_FLAGS + rb"\$[({]" + re.escape(name) + rb"[)}]")
        return any(
            pattern.search(self._data, *_outside_lists(branch.statement))
            for branch in self._branches
            if branch.statement.kind in (Kind.RECIPE, Kind.RULE, Kind.INCLUDE)
        )

    def _once(self, branch: Branch, words: Sequence[FlagWord], found: list[Edit | Finding]) -> Iterator[Edit | Finding]:
        """A variable that is added to gets the architectures of the target once."""
        name, path = branch.statement.name, branch.path
        written = self._written.setdefault(name, [])
        earlier = branch.statement.operator == b"+=" and any(path[: len(other)] == other for other in written)
        for item in found:
            sets = isinstance(item, Edit) and b"--offload-arch=mp_" in item.new_text and b"$" not in item.new_text
            if sets and earlier and isinstance(item, Edit):
                edits = [other for other in found if isinstance(other, Edit)]
                yield self._emptied(words, item, len(edits) == len(words))
            else:
                yield item
                if sets:
                    written.append(path)

    def _emptied(self, words: Sequence[FlagWord], edit: Edit, everything: bool) -> Edit:
        index = next(number for number, word in enumerate(words) if word.span.start == edit.span.start)
        start = words[index - 1].span.end if index else edit.span.start
        if not index and everything:
            start = len(self._data[:start].rstrip(b" \t"))
        return edit._replace(span=Span(start, edit.span.end), new_text=b"")

    def _comparison(self, condition: Span) -> Iterator[Edit | Finding]:
        """A variable that runs nvcc is compared with it, as in `ifeq ($(CC),nvcc)`."""
        if self._names_compiler(condition):
            for match in _NVCC.finditer(self._data, *condition):
                span = Span(*match.span())
                yield from self._tool(span)

    def _names_compiler(self, span: Span) -> bool:
        return any(name in self._variables.compilers for name in references_of(self._data[slice(*span)]))

    def _tool(self, span: Span) -> Iterator[Edit | Finding]:
        yield from Commands(self._unit, self._variables).tool(FlagWord(span, self._data[slice(*span)]))

    def _calls(self, span: Span, loops: frozenset[bytes], device: bool) -> Iterator[Edit | Finding]:
        for call in calls_in(self._data, span):
            yield from self._call(call, loops, device)

    def _call(self, call: Call, loops: frozenset[bytes], device: bool) -> Iterator[Edit | Finding]:
        if call.name in _TEXTS:
            return
        if call.name == b"shell":
            yield from self._command(Span(call.arguments[0].start, call.arguments[-1].end), loops)
        elif call.name == b"eval":
            for inner in read(self._data, *call.arguments[0]).statements:
                yield from self._statement(Branch(inner, ()), loops)
            return
        elif call.name == b"foreach" and len(call.arguments) > 2:
            name = self._data[slice(*call.arguments[0])].strip()
            yield from self._architectures(name, words_of(self._data, call.arguments[1]))
            self._sources[name] = list(references_of(self._data[slice(*call.arguments[1])]))
            loops |= {name}
        elif call.name in _TESTS and self._names_compiler(call.span):
            yield from (item for argument in call.arguments for item in self._comparison_words(argument))
        elif device and call.name == b"addprefix" and len(call.arguments) == 2:
            yield from self._prefixed(call)
        for number, argument in enumerate(call.arguments):
            if device and call.name in (b"if", b"or", b"and", b"foreach", b"call", b"strip", b"sort") and number != 0:
                yield from flag_edits(self._unit, words_of(self._data, argument), self._form(argument, loops))
            yield from self._calls(argument, loops, device)

    def _comparison_words(self, argument: Span) -> Iterator[Edit | Finding]:
        for word in words_of(self._data, argument):
            if word.text == b"nvcc":
                yield from self._tool(word.span)

    def _prefixed(self, call: Call) -> Iterator[Edit | Finding]:
        """`$(addprefix -Xcompiler ,$(CFLAGS))` is `$(CFLAGS)`."""
        prefix, rest = call.arguments
        text = self._data[slice(*prefix)].strip()
        if text in _UNWRAPPED:
            name = text.decode()
            yield Edit(Span(call.span.start, rest.start), b"", "build-flag", Applicability.SAFE, name, "", "code")
            yield Edit(Span(rest.end, call.span.end), b"", "build-flag", Applicability.SAFE, name, "", "code")


def _inputs_of(data: bytes, rule: Statement) -> tuple[bytes, ...]:
    """What `$^` stands for: the prerequisites, of a static pattern those behind its colon, of `.cu.o:` the suffix."""
    words = [word.text for word in words_of(data, rule.body)]
    colon = next((index for index, word in enumerate(words) if word.endswith(b":")), -1)
    words = words[colon + 1 :]
    if b"|" in words:
        words = words[: words.index(b"|")]
    suffixes = _SUFFIX_RULE.fullmatch(data, *rule.targets)
    return (suffixes.group(1),) if suffixes and not words else tuple(words)


def _outside_lists(statement: Statement) -> Span:
    return Span(statement.targets.start, statement.body.end) if statement.kind is Kind.RULE else statement.body


def _is_prose(words: Sequence[FlagWord]) -> bool:
    """Whether a value is a text for people rather than a list of flags or files."""
    return sum(word.text.isalpha() for word in words) > 1 and not words[0].text.startswith(b"-")
