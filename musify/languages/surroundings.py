"""What a file needs to know of the run around it. Made by `project`, read by the languages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from musify.model import DEFAULT_TARGET, Target

if TYPE_CHECKING:
    from musify.languages.build.variables import Variables
    from musify.languages.cmake.survey import CMakeSurvey


class OwnName(NamedTuple):
    """A listed CUDA name that the project declares itself, outside functions.

    `path` are the namespaces and classes around it, empty for file scope. `conditional`: only some
    configurations see the declaration. `kind`: function, type, macro, variable, enumerator, namespace ...
    """

    name: bytes
    path: tuple[bytes, ...]
    kind: str
    conditional: bool


class PastePart(NamedTuple):
    """One operand of `##`: its text, and which parameter of the macro it is (-1: it is literal text)."""

    text: bytes
    parameter: int


class PastingMacro(NamedTuple):
    """A macro that pastes tokens: how many parameters it takes, and the chains it pastes."""

    parameters: tuple[bytes, ...]
    chains: tuple[tuple[PastePart, ...], ...]


class IncludeTarget(NamedTuple):
    """A file of the run that an #include names: its path now, and the one it gets."""

    path: str
    new_path: str


# What PyTorch in Python is ported to, the default first.
PYTHON_MODES = ("torch_musa", "torchada")


@dataclass(frozen=True)
class Settings:
    """What the user asked for.

    `unattested`: "rename" or "keep". `comments`: rename in comments too. `annotate`: put findings into the source.
    `cmake`: how CMake is to compile device code: "findmusa", "cxx" or "language". `reverse`: from MUSA to CUDA, with
    rules that are turned round. `names_only`: the names of the rules and nothing else, no checks and no build rules.
    `python_mode`: what PyTorch in Python is ported to, one of PYTHON_MODES.
    """

    target: Target = DEFAULT_TARGET
    unattested: str = "rename"
    comments: bool = False
    annotate: bool = False
    cmake: str = "findmusa"
    reverse: bool = False
    names_only: bool = False
    python_mode: str = PYTHON_MODES[0]


@dataclass(frozen=True)
class BuildSurroundings:
    """What a build file needs to know of the run: its own path, and the renamed sources by base name.

    `keeps_names`: no source is renamed. `variables`: what the variables of files hold that this one includes or that
    include it. `cmake`: what the CMake
    files of the run say of each other; None where none of them mentions CUDA. `uses_torch`: some Python file of the run
    imports PyTorch.
    """

    path: str = ""
    renamed: Mapping[bytes, Sequence[IncludeTarget]] = field(default_factory=dict)
    variables: Variables | None = None
    cmake: CMakeSurvey | None = None
    keeps_names: bool = False
    uses_torch: bool = False


@dataclass(frozen=True)
class Surroundings:
    """What the other files of the run say that bears on one file.

    `own` and `macros`: listed names and pasting macros that files declare which this one includes. `namespaces`:
    namespaces of CUDA's libraries that the project opens itself. `includes`: for each path written in an #include
    of this file that leads to a file of the run, that file. `constants` gives what names stand for that included
    files define; called only where a check needs one. `libraries`: ids of libraries whose headers this
    file includes, or a file that it includes.
    """

    path: str = ""
    own: frozenset[OwnName] = frozenset()
    macros: Mapping[bytes, PastingMacro] = field(default_factory=dict)
    namespaces: frozenset[bytes] = frozenset()
    includes: Mapping[bytes, IncludeTarget] = field(default_factory=dict)
    constants: Callable[[], Mapping[bytes, bytes]] = dict
    libraries: frozenset[str] = frozenset()
