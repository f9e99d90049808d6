"""Dispatch keys in Python: those of torch.library, and no other strings."""

from __future__ import annotations

import pytest

from musify.engine.document import Conversion, convert_build
from musify.languages.registry import Language
from musify.languages.surroundings import BuildSurroundings, Settings
from musify.rules.book import RuleBook
from musify.source.document import Document

HEAD = "import torch\nimport torch_musa\nfrom torch.library import Library, impl\nlib = Library('ops', 'IMPL', 'CPU')\n"


def converted(rules: RuleBook, source: str) -> Conversion:
    document = Document.from_bytes((HEAD + source).encode())
    return convert_build(document, Language.PYTHON, rules, Settings(), BuildSurroundings("a.py"))


UNCHANGED = {
    "the name of an operator": "lib.impl('CUDA', f, 'CPU')\n",
    "a method of something else": "registry.impl('a', f, 'CUDA')\n",
    "a function of the project's": "from mine import impl as put\nput(lib, 'a', 'CUDA')\n",
    "text": "print('on CUDA', 'CUDA')\n",
    "a key for other devices": "Library('a', 'IMPL', 'CompositeExplicitAutograd')\n",
}  # fmt: skip


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(rules: RuleBook, source: str) -> None:
    assert converted(rules, source).new_data.decode() == HEAD + source


CHANGED = {
    "Library('ops', 'IMPL', 'CUDA')": "Library('ops', 'IMPL', 'PrivateUse1')",
    "torch.library.Library('ops', 'IMPL', dispatch_key='CUDA')":
        "torch.library.Library('ops', 'IMPL', dispatch_key='PrivateUse1')",
    "lib.impl('scan', f, 'CUDA')": "lib.impl('scan', f, 'PrivateUse1')",
    "lib.impl('scan', f, 'AutogradCUDA')": "lib.impl('scan', f, 'AutogradPrivateUse1')",
    "@impl(lib, 'scan', 'CUDA')\ndef f(x): pass": "@impl(lib, 'scan', 'PrivateUse1')\ndef f(x): pass",
    "torch.library.register_kernel('a::b', 'cuda', f)": "torch.library.register_kernel('a::b', 'musa', f)",
    "torch.library.impl('a::b', 'cuda')(f)": "torch.library.impl('a::b', 'musa')(f)",
    "k = torch._C.DispatchKey.CUDA": "k = torch._C.DispatchKey.PrivateUse1",
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), CHANGED.items())
def test_changed(rules: RuleBook, before: str, after: str) -> None:
    assert converted(rules, before + "\n").new_data.decode() == f"{HEAD}{after}\n"


def test_a_key_without_counterpart(rules: RuleBook) -> None:
    assert [item.rule_id for item in converted(rules, "lib.impl('a', f, 'SparseCUDA')\n").findings] == ["MUS601"]
