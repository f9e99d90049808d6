"""What the CMake files of a run say of each other: which variables and functions carry device sources, and more."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

from musify.languages.build.facts import cuda_words
from musify.languages.cmake.reader import Argument, Command, read
from musify.languages.cmake.structure import DEFINITIONS, all_elements, enclosing, references, value, whole_reference

ARCHITECTURES = b"CMAKE_CUDA_ARCHITECTURES"
# Variables whose value is a list of flags for device code.
FLAG_VARIABLE = re.compile(rb"CMAKE_CUDA_FLAGS(?:_\w+)?|CUDA_NVCC_FLAGS(?:_\w+)?")
_NAMED_FLAGS = re.compile(rb"\w*(?:NVCC|CUDA)\w*FLAGS\w*", re.I)
_FOR_DEVICE = re.compile(rb"COMPILE_LANG(?:UAGE|_AND_ID):(?:\w+,)*(?:CUDA|\$\{\w*CUDA)")
# A copy of the modules with which CMake itself finds CUDA, and of what lies beside them.
_MODULE_OF_CMAKE = re.compile(r"(?:.*/)?(?:FindCUDA(?:Toolkit)?\.cmake|FindCUDA/[^/]+\.cmake)\Z")
_FIND_MODULE = re.compile(r"(?:.*/)?Find(\w+)\.cmake\Z")
# A compiler for device code where it is called.
COMPILER = re.compile(
    rb"(?:.*/)?nvcc|\$\{(?:CMAKE_CUDA_COMPILER|CUDA_NVCC_EXECUTABLE|CUDAToolkit_NVCC_EXECUTABLE|NVCC)\}"
)
_OF_CMAKE = re.compile(rb"CMAKE_|CUDA_NVCC_FLAGS|CUDA\w*_(?:DIRS?|LIBRARIES|LIBRARY|ROOT)\Z|PROJECT_")
# What can ask for a language.
ASKING = (b"project", b"enable_language")
_CONDITIONAL = frozenset({b"if", b"elseif", b"else"})
LINK_KEYWORDS = frozenset({b"PUBLIC", b"PRIVATE", b"INTERFACE"})
_DEVICE_SOURCE = re.compile(rb".*\.cu>*\Z", re.S)
_HOST_SOURCE = re.compile(rb".*\.(?:c|cc|cpp|cxx|c\+\+|C|m|mm|f|f90|F90)>*\Z", re.S)
_TARGETS = frozenset({b"add_executable", b"add_library", b"cuda_add_executable", b"cuda_add_library"})
_MAKING = re.compile(rb"(?i)\b(?:add_(?:executable|library)|target_sources)\s*\(")
# A pattern that collects sources of any kind.
_ANY_FILE = re.compile(rb"(?:\A|[/*])\*(?:\.\*|\.c\*)?\Z")
_LINE = re.compile(rb"[^;<>\s]+(?: +[^;<>\s]+)+")
_STANDARD = re.compile(rb"CUDA_STANDARD|cuda_std_\d+")


class Content(NamedTuple):
    """What a list of words holds: device sources, host sources, and variables that may hold either."""

    device: bool = False
    host: bool = False
    variables: frozenset[bytes] = frozenset()

    def with_(self, other: Content) -> Content:
        """Both together."""
        return Content(self.device or other.device, self.host or other.host, self.variables | other.variables)


class Call(NamedTuple):
    """A call of a function of the project, and the function that it stands in (empty: none)."""

    content: Content
    inside: bytes


@dataclass
class CMakeSurvey:
    """The facts of one file, or of several together.

    `variables`: what they are set to hold. `parameters`: for each function (lower case) the variables and prefixes of
    variables that hold what it is given. `keyword_links`, `plain_links`: targets whose libraries are linked with and
    without PUBLIC, PRIVATE or INTERFACE. `targets`: names that the project makes. `architectures`: variables that hold
    GPU architectures, `flags`: flags for device code. `standards`: languages whose standard is set (CXX, CUDA),
    `target` where targets have one for CUDA, `flags` where it stands among flags. `joined`: variables that hold
    several words as one. `compilers`: variables that hold the call of a compiler for device code. `packages`: what the
    project has a Find module for. `language_modules`: folders of files that teach CMake the language MUSA. `asks`:
    folders of files that ask for CUDA, and whether one does so outside conditions. `composed`: patterns of variables
    that are set under a name put together of others (`CUDA_${name}_LIBRARY`).
    """

    variables: dict[bytes, Content] = field(default_factory=dict)
    parameters: dict[bytes, frozenset[bytes]] = field(default_factory=dict)
    calls: dict[bytes, list[Call]] = field(default_factory=lambda: defaultdict(list))
    keyword_links: set[bytes] = field(default_factory=set)
    plain_links: set[bytes] = field(default_factory=set)
    targets: set[bytes] = field(default_factory=set)
    architectures: set[bytes] = field(default_factory=set)
    flags: set[bytes] = field(default_factory=set)
    standards: set[bytes] = field(default_factory=set)
    joined: set[bytes] = field(default_factory=set)
    compilers: set[bytes] = field(default_factory=set)
    packages: set[bytes] = field(default_factory=set)
    language_modules: set[str] = field(default_factory=set)
    asks: dict[str, bool] = field(default_factory=dict)
    composed: set[bytes] = field(default_factory=set)

    @cached_property
    def architecture_variables(self) -> frozenset[bytes]:
        """The variables that hold GPU architectures, also through others."""
        return _closed(self, self.architectures)

    @cached_property
    def architecture_holders(self) -> frozenset[bytes]:
        """Variables that hold what CMake's list of architectures holds, such as those of loops over it."""
        found = {ARCHITECTURES}
        fresh = {ARCHITECTURES}
        while fresh:
            fresh = {name for name, content in self.variables.items() if content.variables & fresh} - found
            found |= fresh
        return frozenset(found)

    @cached_property
    def flag_variables(self) -> frozenset[bytes]:
        """The project's variables that hold flags for device code, also through others."""
        named = {name for name in self.variables if _NAMED_FLAGS.fullmatch(name)}
        found = _closed(self, self.flags | self.compilers | named)
        return frozenset(name for name in found if not _OF_CMAKE.match(name))

    def is_concerned(self, data: bytes) -> bool:
        """Whether a file makes targets or gives them sources, which other files of the run may name."""
        return _MAKING.search(data) is not None

    def is_optional(self, path: str) -> bool:
        """Whether the project that a file belongs to can be built without CUDA, as far as can be seen."""
        folders = [str(folder) for folder in PurePosixPath(path).parents]
        asks = [self.asks[folder] for folder in folders if folder in self.asks] or list(self.asks.values())
        return bool(asks) and not any(asks)

    def add(self, other: CMakeSurvey) -> None:
        """Take in the facts of another file."""
        for folder, is_sure in other.asks.items():
            self.asks[folder] = self.asks.get(folder, False) or is_sure
        for name, content in other.variables.items():
            self.variables[name] = self.variables.get(name, Content()).with_(content)
        for name, parameters in other.parameters.items():
            self.parameters[name] = self.parameters.get(name, frozenset()) | parameters
        for name, calls in other.calls.items():
            self.calls[name] += calls
        for mine, theirs in (
            (self.keyword_links, other.keyword_links), (self.plain_links, other.plain_links),
            (self.targets, other.targets), (self.architectures, other.architectures), (self.standards, other.standards),
            (self.flags, other.flags), (self.joined, other.joined), (self.compilers, other.compilers),
            (self.packages, other.packages), (self.composed, other.composed),
        ):  # fmt: skip
            mine |= theirs
        self.language_modules |= other.language_modules


def content_of(data: bytes, arguments: Iterable[Argument]) -> Content:
    """What a list of arguments holds."""
    device = host = False
    variables = set()
    for text in all_elements(data, arguments):
        device = device or _DEVICE_SOURCE.match(text) is not None
        host = host or _HOST_SOURCE.match(text) is not None
        variables.add(whole_reference(text))
    return Content(device, host, frozenset(name for name in variables if name is not None))


def scoped(name: bytes, function: bytes) -> bytes:
    """A name of a target, told apart by the function around it where it is a variable."""
    return function + b":" + name if b"${" in name and function else name


def is_module_of_cmake(path: str) -> bool:
    """Whether a file is the project's copy of one of CMake's modules for CUDA."""
    return _MODULE_OF_CMAKE.match(path) is not None


def survey(path: str, data: bytes) -> CMakeSurvey:
    """The facts of one file. Never raises."""
    found = CMakeSurvey()
    if is_module_of_cmake(path):
        return found
    if path.rpartition("/")[2] == "CMakeDetermineMUSACompiler.cmake":
        found.language_modules.add(path.rpartition("/")[0])
    module = _FIND_MODULE.match(path)
    if module:
        found.packages.add(module.group(1).encode())
    commands = read(data).commands
    names = [data[command.name.start : command.name.end].lower() for command in commands]
    inside = b""
    for command, name, blocks in zip(commands, names, enclosing(names), strict=True):
        definitions = [block for block in blocks if names[block] in DEFINITIONS]
        inside = _first(data, commands[definitions[-1]]).lower() if definitions else b""
        if name in ASKING and b"CUDA" in [value(data, argument) for argument in command.arguments]:
            folder = str(PurePosixPath(path).parent)
            is_sure = not any(names[block] in _CONDITIONAL for block in blocks)
            found.asks[folder] = found.asks.get(folder, False) or is_sure
        _look(found, data, command, name, inside)
    return found


def _look(found: CMakeSurvey, data: bytes, command: Command, name: bytes, inside: bytes) -> None:
    arguments = command.arguments
    texts = [value(data, argument) for argument in arguments]
    found.standards |= {b"target" for text in texts if _STANDARD.fullmatch(text)}
    if any(FLAG_VARIABLE.fullmatch(text) for text in texts[:3]) and any(b"-std=" in text for text in texts):
        found.standards.add(b"flags")
    if not texts:
        return
    found.flags |= _flags(data, arguments, texts, name)
    found.joined |= _joined(name, texts)
    if name in _SETTING and _COMPOSED.fullmatch(texts[0]):
        found.composed.add(_REFERENCES.sub(rb"\\w+", texts[0]))
    if name in DEFINITIONS:
        found.parameters.setdefault(texts[0].lower(), frozenset())
        found.parameters[texts[0].lower()] |= frozenset(texts[1:])
    elif name == b"cmake_parse_arguments" and inside:
        prefix = texts[2] if texts[0] == b"PARSE_ARGV" and len(texts) > 2 else texts[0]
        found.parameters[inside] = found.parameters.get(inside, frozenset()) | {prefix + b"_"}
    elif name in _VARIABLES:
        _variable(found, data, texts, arguments, name)
    elif name in _TARGETS:
        found.targets.add(texts[0])
    elif name == b"target_link_libraries":
        links = found.keyword_links if LINK_KEYWORDS & set(texts[1:]) else found.plain_links
        links.add(scoped(texts[0], inside))
    elif name not in _BUILT_IN:
        found.calls[name].append(Call(content_of(data, arguments), inside))


def _flags(data: bytes, arguments: Sequence[Argument], texts: Sequence[bytes], name: bytes) -> set[bytes]:
    """Variables whose value a command uses as flags for device code."""
    chosen: list[Argument] = []
    if name in (b"set", b"list", b"string") and any(FLAG_VARIABLE.fullmatch(text) for text in texts[:3]):
        chosen = list(arguments)
    elif name.startswith(b"cuda_add_") and b"OPTIONS" in texts:
        chosen = list(arguments[texts.index(b"OPTIONS") :])
    elif name in _CALLING and any(COMPILER.fullmatch(text) for text in texts):
        chosen = list(arguments)
    else:
        chosen = [argument for argument, text in zip(arguments, texts, strict=True) if _FOR_DEVICE.search(text)]
    names = {data[item.name.start : item.name.end] for argument in chosen for item in references(data, argument)}
    return {item for item in names if not _OF_CMAKE.match(item)}


_SETTING = frozenset({b"set", b"find_library", b"find_path", b"find_file", b"find_program"})
_REFERENCES = re.compile(rb"\$\{\w+\}")
_COMPOSED = re.compile(rb"CUDA_(?:[A-Z]\w*(?:\$\{\w+\}\w*)+|\$\{\w+\}_\w+)")
_GENCODE = (b"-gencode", b"--generate-code")
_VARIABLES = frozenset({b"set", b"list", b"file", b"foreach", b"set_target_properties", b"set_property"})
_CALLING = frozenset({b"add_custom_command", b"add_custom_target", b"execute_process"})
_STANDARD_VARIABLES = {b"CMAKE_CXX_STANDARD": b"CXX", b"CMAKE_CUDA_STANDARD": b"CUDA"}
_BUILT_IN = frozenset(
    rb"""if elseif else endif while endwhile endforeach endfunction endmacro message include add_subdirectory
    find_package find_library find_path find_program find_file string math install include_directories option project
    enable_language target_include_directories target_compile_options target_compile_definitions add_definitions
    target_compile_features get_filename_component cmake_minimum_required unset add_test add_dependencies
    add_custom_command add_custom_target set_source_files_properties target_sources""".split()
)


def _joined(name: bytes, texts: Sequence[bytes]) -> set[bytes]:
    """The variable that gets the words of a list, or of a line, as one."""
    if name == b"set" and len(texts) > 1 and _LINE.fullmatch(texts[1]):
        return {texts[0]}
    if name == b"list" and texts[0] == b"JOIN":
        return set(texts[3:4])
    if name == b"string" and texts[0] == b"JOIN":
        return set(texts[2:3])
    return set(texts[3:4]) if name == b"string" and list(texts[:3]) == [b"REPLACE", b";", b" "] else set()


def _variable(
    found: CMakeSurvey, data: bytes, texts: Sequence[bytes], arguments: Sequence[Argument], name: bytes
) -> None:
    """What a command puts into a variable."""
    if name in (b"set_target_properties", b"set_property"):
        if b"CUDA_ARCHITECTURES" in texts:
            found.architectures |= content_of(data, arguments[texts.index(b"CUDA_ARCHITECTURES") :]).variables
        return
    position = 0
    if name in (b"list", b"file"):
        if texts[0] not in (b"APPEND", b"PREPEND", b"INSERT", b"GLOB", b"GLOB_RECURSE") or len(texts) < 2:
            return
        position = 1
    target = texts[position]
    content = content_of(data, arguments[position + 1 :])
    if name == b"file" and any(_ANY_FILE.search(text) for text in texts[2:]) and cuda_words().search(data):
        content = content.with_(Content(device=True, host=True))
    if name == b"foreach" and b"LISTS" in texts:
        content = Content(variables=frozenset(texts[texts.index(b"LISTS") + 1 :]))
    found.variables[target] = found.variables.get(target, Content()).with_(content)
    if any(text.startswith(_GENCODE) for text in texts[position + 1 :]):
        found.flags.add(target)
    if target == ARCHITECTURES:
        found.architectures |= content.variables
    elif name == b"set" and len(texts) > 1 and COMPILER.fullmatch(texts[1]):
        found.compilers.add(target)
    elif target in _STANDARD_VARIABLES:
        found.standards.add(_STANDARD_VARIABLES[target])


def _first(data: bytes, command: Command) -> bytes:
    return value(data, command.arguments[0]) if command.arguments else b""


def together(surveys: Iterable[CMakeSurvey]) -> CMakeSurvey:
    """The facts of all files of a run."""
    run = CMakeSurvey()
    for item in surveys:
        run.add(item)
    # Worked out once, before worker processes get it.
    _ = run.architecture_variables, run.architecture_holders, run.flag_variables
    return run


def _closed(run: CMakeSurvey, start: Iterable[bytes]) -> frozenset[bytes]:
    """Variables, and those that their values are made of."""
    found = set(start)
    fresh = set(found)
    while fresh:
        fresh = {name for item in fresh for name in run.variables.get(item, Content()).variables} - found
        found |= fresh
    return frozenset(found)
