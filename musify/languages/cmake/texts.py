"""Text for people in CMake files: messages, descriptions of options. It stays, and is not worth a warning."""

from __future__ import annotations

from collections.abc import Iterator

from musify.languages.build.leftovers import cuda_words_in
from musify.languages.cmake.file import CMakeFile
from musify.languages.cmake.reader import Argument, ArgumentKind


def convert(file: CMakeFile) -> None:
    """A note for each word of CUDA's in text for people."""
    known = {finding.span for finding in file.changes.findings}
    for index in range(len(file.commands)):
        for argument in _texts(file, index):
            for span in cuda_words_in(file.data, argument.inner):
                if file.changes.is_free(span) and span not in known:
                    file.changes.find("MUS518", span, file.data[span.start : span.end])


def _texts(file: CMakeFile, index: int) -> Iterator[Argument]:
    """The arguments of a command that only people read."""
    arguments = file.commands[index].arguments
    texts = file.texts(index)
    name = file.names[index]
    if name == b"message":
        yield from arguments
    elif name == b"option":
        yield from arguments[1:2]
    for keyword, distance in ((b"CACHE", 2), (b"COMMENT", 1), (b"DESCRIPTION", 1), (b"DOC", 1), (b"FAIL_MESSAGE", 1)):
        position = texts.index(keyword) + distance if keyword in texts else len(texts)
        if position < len(texts) and arguments[position].kind is not ArgumentKind.UNQUOTED:
            yield arguments[position]
