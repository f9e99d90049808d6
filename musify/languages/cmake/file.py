"""One CMake file on its way through the rules: its commands, the blocks around them, and what the run says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from musify.languages.build.leftovers import cuda_words_in
from musify.languages.build.unit import BuildUnit
from musify.languages.cmake import facts
from musify.languages.cmake.changes import Changes
from musify.languages.cmake.reader import Command, read
from musify.languages.cmake.sources import Sources
from musify.languages.cmake.structure import DEFINITIONS, enclosing, value
from musify.languages.cmake.survey import ARCHITECTURES, ASKING, CMakeSurvey, Content, content_of, survey
from musify.model import Evidence, Finding, Severity, Span

_ADDING = frozenset({b"add_executable", b"add_library"})
# Libraries of these kinds are compiled elsewhere, or not at all.
_NOT_COMPILED = frozenset({b"IMPORTED", b"ALIAS", b"INTERFACE"})


class CMakeFile:
    """A file, its commands by number, and the changes to it.

    `options`: by the number of a command that makes a target, flags for the device sources of that target.
    """

    def __init__(self, unit: BuildUnit) -> None:
        self.unit = unit
        self.data = unit.data
        self.form = unit.settings.cmake
        reading = read(unit.data)
        self.commands = reading.commands
        self.comments = reading.comments
        self.broken = reading.broken
        self.names = [self.data[command.name.start : command.name.end].lower() for command in self.commands]
        self.blocks = enclosing(self.names)
        self.changes = Changes(self.data, self.commands)
        self.options: dict[int, list[bytes]] = defaultdict(list)

    @cached_property
    def own(self) -> CMakeSurvey:
        """The facts of this file."""
        return survey(self.unit.surroundings.path, self.data)

    @cached_property
    def run(self) -> CMakeSurvey:
        """The facts of all CMake files of the run, of this one alone where nothing else is known."""
        return self.unit.surroundings.cmake or self.own

    @cached_property
    def sources(self) -> Sources:
        """Which words stand for device sources."""
        return Sources(self.own, self.run)

    def numbered(self, *names: bytes) -> Iterator[tuple[int, Command]]:
        """The commands of these names (lower case), with their numbers."""
        return ((index, self.commands[index]) for index, name in enumerate(self.names) if name in names)

    def texts(self, index: int) -> list[bytes]:
        """The arguments of a command, without quotes."""
        return [value(self.data, argument) for argument in self.commands[index].arguments]

    def function(self, index: int) -> bytes:
        """The function or macro around a command, in lower case; empty where there is none."""
        around = [block for block in self.blocks[index] if self.names[block] in DEFINITIONS]
        texts = self.texts(around[-1]) if around else []
        return texts[0].lower() if texts else b""

    def content(self, index: int, first: int = 1) -> Content:
        """What the arguments of a command, from the one at `first` on, hold in the end."""
        given = content_of(self.data, self.commands[index].arguments[first:])
        return self.sources.resolved(given, self.function(index))

    @cached_property
    def asking(self) -> list[int]:
        """The commands that ask for the language CUDA."""
        return [index for index, _ in self.numbered(*ASKING) if b"CUDA" in self.texts(index)]

    def is_within(self, outer: int, inner: int) -> bool:
        """Whether whoever runs the command `inner` has passed the block that `outer` stands in."""
        around = self.blocks[outer]
        return self.blocks[inner][: len(around)] == around

    def follows_any(self, index: int, earlier: Iterable[int]) -> bool:
        """Whether one of these commands has run whenever the command `index` runs."""
        return any(item <= index and self.is_within(item, index) for item in earlier)

    @cached_property
    def device_targets(self) -> dict[bytes, list[int]]:
        """Targets with device sources that the file makes, by the text of their name: the numbers of the commands."""
        found: dict[bytes, list[int]] = defaultdict(list)
        for index, _ in self.numbered(*_ADDING, b"cuda_add_executable", b"cuda_add_library"):
            if self._compiles_device_code(index):
                found[self.texts(index)[0]].append(index)
        return found

    @cached_property
    def host_targets(self) -> frozenset[bytes]:
        """Targets that the file makes of host sources alone, as far as can be seen."""
        made = {self.texts(index)[0] for index, command in self.numbered(*_ADDING) if command.arguments}
        shared = {self.texts(index)[0] for index, _ in self.numbered(*_ADDING) if self.function(index)}
        return frozenset(made - shared - set(self.device_targets))

    @cached_property
    def runtime_links(self) -> frozenset[bytes]:
        """Targets that the file links with the runtime by its name."""
        return frozenset(
            texts[0]
            for texts in map(self.texts, (index for index, _ in self.numbered(b"target_link_libraries")))
            if {b"CUDA::cudart", b"CUDA::cudart_static", b"MUSA::musart", b"MUSA::musart_static"} & set(texts[1:])
        )

    def _compiles_device_code(self, index: int) -> bool:
        texts = self.texts(index)
        if len(texts) < 2 or _NOT_COMPILED & set(texts):
            return False
        if self.names[index] not in _ADDING:
            return True
        marked = any(text in self.device_marked for text in texts[1:])
        return (marked or self.content(index).device) and not self.is_done(index)

    def is_done(self, index: int) -> bool:
        """Whether an earlier run has seen to the device sources of a command."""
        texts = self.texts(index)
        if not self._seen_to.isdisjoint(texts[1:]):
            return True
        return any(self.texts(number)[: len(texts)] == texts for number in self._by_name[b"musa_" + self.names[index]])

    @cached_property
    def _seen_to(self) -> frozenset[bytes]:
        """What the commands hold by which an earlier run names device sources."""
        found: set[bytes] = set()
        for texts in map(self.texts, range(len(self.commands))):
            if texts[:1] == [b"MUSA_SOURCES"] or any(b"MUSA_COMPILE_OPTIONS" in text for text in texts):
                found.update(texts)
        return frozenset(found)

    @cached_property
    def _by_name(self) -> Mapping[bytes, Sequence[int]]:
        found: dict[bytes, list[int]] = defaultdict(list)
        for number, name in enumerate(self.names):
            found[name].append(number)
        return found

    def is_shared(self, index: int) -> bool:
        """Whether a command makes targets in a function that is called with device sources only now and then."""
        function = self.function(index)
        device, calls = self.sources.callers(function) if function else (0, 0)
        own = content_of(self.data, self.commands[index].arguments[1:])
        return device < calls and not self.sources.resolved(own).device

    @cached_property
    def device_marked(self) -> frozenset[bytes]:
        """Sources whose LANGUAGE the file sets to CUDA."""
        found: set[bytes] = set()
        for index, _ in self.numbered(b"set_source_files_properties", b"set_property"):
            texts = self.texts(index)
            if b"LANGUAGE" in texts[:-1] and texts[texts.index(b"LANGUAGE") + 1] == b"CUDA":
                start = 1 if self.names[index] == b"set_property" else 0
                found.update(text for text in texts[start : texts.index(b"LANGUAGE")])
        return frozenset(found - {b"PROPERTIES", b"PROPERTY", b"APPEND", b"DIRECTORY", b"TARGET_DIRECTORY"})

    @cached_property
    def has_own_standards(self) -> bool:
        """Whether this is a project of its own whose targets have a standard, in a run where others set one for all."""
        asks = any(b"CUDA" in self.texts(index) for index, _ in self.numbered(b"project"))
        own = self.own.standards
        return asks and b"target" in own and b"CUDA" not in own and b"CUDA" in self.run.standards

    @property
    def architectures(self) -> list[bytes]:
        """The architectures of the target."""
        return [name.encode() for name in self.unit.settings.target.architectures]

    def holds_architectures(self, variable: bytes) -> bool:
        """Whether a variable holds what CMake's list of architectures holds; where the file sets it, as it does."""
        holders = self.run.architecture_holders
        own = self.own.variables.get(variable)
        return variable in holders if own is None else variable == ARCHITECTURES or bool(own.variables & holders)

    def report_left(self, within: Span, text: bytes) -> None:
        """A note for each word of CUDA's in a stretch of the file that is still in the text put in its place."""
        left = {text[span.start : span.end] for span in cuda_words_in(text, Span(0, len(text)))}
        for span in cuda_words_in(self.data, within):
            if self.data[span.start : span.end] in left:
                name = self.data[span.start : span.end].decode("utf-8", "replace")
                self.changes.findings.append(Finding("MUS504", span, name, severity=Severity.NOTE))

    def is_renamed(self, name: facts.CMakeName) -> bool:
        """Whether a name has a counterpart that the user wants."""
        return bool(name.musa) and (name.evidence is not Evidence.NONE or self.unit.settings.unattested != "keep")

    def rename(self, span: Span, name: facts.CMakeName) -> bool:
        """Put MUSA's name in the place of CUDA's, and say so where it is inferred; False where it stays."""
        if not self.is_renamed(name):
            return False
        inferred = name.evidence is Evidence.NONE
        evidence = "" if name.own else name.evidence.value
        self.changes.replace(span, name.musa, name=name.cuda.decode(), evidence=evidence, review=inferred)
        if inferred:
            # CMake stops at a command that it does not know; an empty variable may not even matter.
            severity = Severity.WARNING if name.is_command else None
            arguments = {"target": name.musa.decode()}
            self.changes.findings.append(Finding("MUS513", span, name.cuda.decode(), arguments, severity))
        return True
