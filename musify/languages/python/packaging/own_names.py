"""Variables of a file that are called like something of CUDA's: `CUDA = locate()`, `nvcc = find()`."""

from __future__ import annotations

from collections.abc import Iterator

from musify.languages.build.facts import cuda_words, words
from musify.languages.python.module import PythonModule
from musify.languages.python.nodes import name_of, span_of, text_of
from musify.model import Finding


def find_own_names(module: PythonModule) -> Iterator[Finding]:
    """A note for each use of a variable whose name is a CUDA word, and which the file binds itself."""
    for node in module.scopes.variables:
        name = text_of(node)
        if name not in words() and not cuda_words().fullmatch(name):
            continue
        bindings = module.scopes.lookup(node)
        if module.scopes.is_bound(node) or (bindings and not any(binding.target for binding in bindings)):
            yield Finding("MUS532", span_of(node), name_of(node))
