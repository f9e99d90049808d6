"""One command of a build: the program, its flags, the libraries that it links; the same in every language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from musify.languages.build.additions import Additions
from musify.languages.build.containers import device_findings, image_results, is_installer, package_findings
from musify.languages.build.facts import named
from musify.languages.build.flags import COMMAND_LINE, FlagForm, FlagWord, flag_edits
from musify.languages.build.unit import BuildUnit
from musify.languages.build.variables import Variables, compiler_index, program_index
from musify.model import Applicability, Edit, Finding, Span

BUILD_TOOL = "build-tool"
# Programs that look for another.
_LOOKUPS = frozenset(b"which type hash whence where whereis".split())
_HOST = re.compile(
    rb"(?:.*[/-])?(?:g\+\+|gcc|cc|c\+\+|clang|clang\+\+|icp?c|icp?x|mpicc|mpicxx|mpic\+\+|mpiCC|ld|gfortran|nvc|nvc\+\+)"
    rb"(?:-?[\d.]+)?"
)
_TOOL = re.compile(rb"(?:.*(?:[/=]|:-))?([\w-]+?)(?:\.exe)?\}?")
# What makes a Clang compile CUDA.
_CLANG_CUDA = re.compile(rb"--cuda-(?:gpu-arch|path)=.*|-xcuda|cuda")
# Programs that run containers.
_CONTAINERS = frozenset(b"docker podman nerdctl nvidia-docker singularity apptainer buildah".split())


@dataclass
class Commands:
    """How the commands of one file are converted: what its variables hold, and how its language writes flags.

    `inputs` are the files that the automatic variables of a rule (`$<`, `$^`) stand for.
    """

    unit: BuildUnit
    variables: Variables = field(default_factory=Variables)
    form: FlagForm = COMMAND_LINE
    inputs: Sequence[bytes] = ()

    def results(self, words: Sequence[FlagWord], form: FlagForm | None = None) -> Iterator[Edit | Finding]:
        """Edits and findings of one command, the program first."""
        texts = [word.text for word in words]
        compiler = compiler_index(texts, self.variables)
        if compiler is not None:
            yield from self.compilation(words[compiler:], form)
            added = Additions(self.unit, self.variables, self.inputs, form or self.form)
            yield from added.results(words[compiler + 1 :])
            return
        index = program_index(texts)
        if index is None:
            return
        program, rest = words[index], words[index + 1 :]
        if program.text in _LOOKUPS or (program.text == b"command" and rest and rest[0].text in (b"-v", b"-V")):
            for word in rest:
                yield from self.tool(word)
        elif is_installer(_base(program.text), rest) or any(word.text in (b"pip", b"pip3") for word in rest[:2]):
            yield from package_findings(self.unit, rest)
        elif _base(program.text) in _CONTAINERS:
            yield from device_findings(rest)
            for word in rest:
                yield from image_results(self.unit, word.span)
        elif _HOST.fullmatch(program.text) or program.text.startswith(b"$"):
            device = any(_CLANG_CUDA.fullmatch(text) for text in texts)
            yield from flag_edits(self.unit, words, (form or self.form)._replace(host=not device))
        else:
            yield from self.tool(program, bool(rest))

    def compilation(self, words: Sequence[FlagWord], form: FlagForm | None = None) -> Iterator[Edit | Finding]:
        """A compiler and its flags."""
        yield from self.tool(words[0])
        yield from flag_edits(self.unit, words, form or self.form)

    def tool(self, word: FlagWord, has_arguments: bool = False) -> Iterator[Edit | Finding]:
        """A program of CUDA's under MUSA's name; one that takes arguments of its own is reported."""
        match = _TOOL.fullmatch(word.text)
        known = named("tool").get(match.group(1)) if match else None
        if match is None or known is None or not known.musa:
            return
        at = self.unit.data.rfind(known.cuda, *word.span)
        if at < 0:
            return
        span = Span(at, at + len(known.cuda))
        compiler = known.cuda == b"nvcc"
        sure = Applicability.SAFE if compiler else Applicability.REVIEW
        yield Edit(span, known.musa, BUILD_TOOL, sure, known.cuda.decode(), "", known.evidence.value)
        if has_arguments and not compiler:
            yield Finding("MUS530", span, known.cuda.decode(), {"target": known.musa.decode()})


def _base(program: bytes) -> bytes:
    return program.rpartition(b"/")[2]
