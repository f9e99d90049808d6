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

from musify.languages.python.module import read
from musify.languages.python.tokens import tokens_of

if TYPE_CHECKING:
    from musify.languages.build.unit import BuildUnit, Token
    from musify.model import Edit, Finding

__all__ = ["convert", "read", "tokens"]


def tokens(data: bytes) -> list[Token]:
    """Comments and docstrings, strings, names."""
    return list(tokens_of(read(data).nodes))


def convert(unit: BuildUnit) -> Iterator[Edit | Finding]:
    """Edits and findings that need the grammar."""
    from musify.languages.python.pytorch import convert_pytorch

    return convert_pytorch(unit, read(unit.data))
