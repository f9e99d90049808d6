"""Python: setup scripts and any other file with Python in it.

`read(data)` gives a PythonModule, which answers what rules ask:

    module = read(unit.data)
    for reference in module.references:          # every use of a name, aliases and imports resolved
        meaning = reference.meaning("torch.cuda")            # `t.cuda.amp` after `import torch as t`
        if meaning and (node := reference.component(meaning, 1)):
            ...                                  # the identifier that writes `cuda` here
    for call in module.calls:
        if call.calls("torch.device"):
            literal = module.string(argument.value) if (argument := call.argument("type", 0)) else None
            # literal.text is what it says; literal.locate(0, 4) where its first four bytes stand in the file
    module.imports                               # statements with their items and the nodes to edit
    module.scopes.lookup(identifier)             # all bindings of a name
    module.value(node)                           # the expression behind a name that is assigned once

As a language of build files the package is a Reader: `tokens` and `convert`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from musify.languages.python.module import PythonModule, read
from musify.languages.python.tokens import tokens_of
from musify.model import Edit, Finding, Span
from musify.source.edits import EditConflict, apply

if TYPE_CHECKING:
    from musify.languages.build.unit import BuildUnit, Token

__all__ = ["convert", "read", "tokens"]


def tokens(data: bytes) -> list[Token]:
    """Comments and docstrings, strings, names; keys that the project has named like environment variables are names.

    Comments of source that stands in strings are comments too.
    """
    from musify.languages.build.unit import TokenKind
    from musify.languages.python.embedded.literals import source_literals
    from musify.languages.python.embedded.sources import source_comments, with_comments
    from musify.languages.python.packaging.lookups import own_keys

    module = read(data)
    kinds = {piece.id: TokenKind.SOURCE for literal in source_literals(module) for piece in literal.pieces}
    kinds |= {piece.id: TokenKind.NAME for literal in own_keys(module) for piece in literal.pieces}
    found, comments = tokens_of(module.nodes, kinds), list(source_comments(module))
    return list(with_comments(found, comments) if comments else found)


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Edits and findings that need the grammar. Where the edits would leave no Python, only a finding says so."""
    from musify.languages.build.conversion import BuildConversion
    from musify.languages.python.embedded import convert_embedded
    from musify.languages.python.packaging import convert_packaging
    from musify.languages.python.pytorch import convert_pytorch

    module, result = read(unit.data), BuildConversion()
    result.take(convert_embedded(unit, module))
    result.take(convert_packaging(unit, module))
    result.take(convert_pytorch(unit, module, imported=_imports_musa(module, result.edits)))
    reason = _failure(unit.data, result.edits)
    if reason is not None:
        yield Finding("MUS902", Span(0, 0), unit.surroundings.path, {"reason": reason})
    yield from result.edits if reason is None else ()
    yield from result.findings


def _imports_musa(module: PythonModule, edits: list[Edit]) -> bool:
    """Whether edits import from torch_musa at the top of the file."""
    scopes = module.scopes
    return any(b"torch_musa" in edit.new_text and scopes.at(edit.span.start) is scopes.module for edit in edits)


def _failure(data: bytes, edits: list[Edit]) -> str | None:
    """Why the edits must not be made."""
    if not edits:
        return None
    try:
        after = apply(data, edits)
    except EditConflict as conflict:
        return str(conflict)
    broken = not read(data).root.has_error and read(after).root.has_error
    return "what the edits leave is not Python" if broken else None
