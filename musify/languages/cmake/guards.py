"""Targets that a project makes whether or not it has asked for CUDA: CMake passes over device sources then."""

from __future__ import annotations

from musify.languages.build.facts import cuda_words
from musify.languages.cmake.facts import FOUND
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.survey import content_of


def conditions(file: CMakeFile, index: int) -> list[bytes]:
    """The variables that must be true for a command that makes a target of device sources to need MUSA."""
    found = [FOUND[file.form]] if _may_lack(file, index) else []
    return [*found, b"MUSA_SOURCES"] if file.is_shared(index) else found


def _may_lack(file: CMakeFile, index: int) -> bool:
    """Whether a command may run where the project has not asked for CUDA."""
    if not _has_more(file, index):
        return False  # CMake would have nothing to make the target of
    if file.follows_any(index, file.asking) or any(_is_about_cuda(file, block) for block in file.blocks[index]):
        return False
    return file.run.is_optional(file.unit.surroundings.path)


def _has_more(file: CMakeFile, index: int) -> bool:
    """Whether a command makes a target of host sources beside device sources."""
    function = file.function(index)
    own = file.sources.resolved(content_of(file.data, file.commands[index].arguments[1:]))
    return own.host or (file.sources.is_mixed(function) if function else file.content(index).host)


def _is_about_cuda(file: CMakeFile, block: int) -> bool:
    """Whether a block is that of a condition which names CUDA, and does not deny it."""
    if file.names[block] not in (b"if", b"elseif") or b"NOT" in file.texts(block):
        return False
    return cuda_words().search(file.data, *file.commands[block].span) is not None
