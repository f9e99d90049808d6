"""docs/pytorch.md: what PyTorch's C++ and Python become, the styles one can choose, and what torchada carries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from musify.rules.book import RuleBook
from musify.rules.shipped import shipped_tables
from musify.rules.styles import styles

_INTRO = """\
# PyTorch

Generated from rules/torch and rules/api/torch.toml by tools/make_docs.py.

An extension is ported to torch_musa, which registers with PyTorch as the device PrivateUse1 under the name "musa".
Setup scripts build with `torch_musa.utils.musa_extension`, C++ goes over to torch_musa's headers and namespaces, Python
to `torch.musa`; `import torch_musa` is added once, after the first `import torch`, where a file uses the device.

## C++

| PyTorch | becomes | evidence |
|---|---|---|
"""
_NAMES = """\

Names in `at::cuda`, `c10::cuda` and `torch::cuda` follow their namespace; those that nobody has been seen to use there
are marked `review` and reported (MUS102), and stay with `--unattested keep`. `x.type().is_cuda()` becomes
`x.is_privateuseone()` (what `type()` gives has no test for other devices), `x.cuda()` becomes `x.to(at::kPrivateUse1)`.
`at::CUDA(dtype)` becomes `at::device(at::kPrivateUse1).dtype(dtype)`. What is left of THC becomes what PyTorch itself
has in its place: `THCCeilDiv` is `at::ceil_div`, and its header is included (MUS616). All this holds in files that
mention PyTorch, or include a file of the project that includes it.

A `CUDA` that a macro of the project pastes to `at::kCUDA` is followed to where the macro is called. `REGISTER_DISPATCH`
in device code asks for nvcc and becomes PyTorch's `REGISTER_PRIVATEUSE1_DISPATCH` (MUS613). Messages of `TORCH_CHECK`
and descriptions of functions stay, with a note (MUS614). Dispatch over types that includes double is reported once
a file (MUS235), for torch_musa compiles kernels without it unless told otherwise.
"""
_PYTHON = """\

## Python

| PyTorch | becomes | evidence |
|---|---|---|
"""
_STRINGS = """\

`x.cuda()` and `x.is_cuda` become `x.musa()` and `x.is_musa`, where classes define them too. Names imported from
torch.cuda are written with `torch.musa` where they are used: torch.musa is an attribute of torch, and nothing can be
imported from it. In a file that does not mention PyTorch, of a project that uses it, tensors and devices are converted,
marked `review` and reported (MUS607).

A string is changed where something says that it is a device (`"cuda:0"`) or a backend (`"nccl"`):

- an argument that PyTorch's functions take as one; `.to("cuda")`; a keyword, parameter, option, field, key, attribute,
  variable or function of such a name (`device`, `map_location`, `dist_backend` ...), with types and choices beside it;
- a comparison with one: `x.device.type == "cuda"`, `dist.get_backend() == "nccl"`, `device.startswith("cuda:")`;
- a variable that is passed as one, a parameter that the same file calls so;
  `"cuda" if torch.cuda.is_available() else ...`;
- the name of what a test replaces, `patch("torch.cuda.stream")`, and of a tensor's type, `"torch.cuda.FloatTensor"`.

Likely ones are changed, marked `review` and reported (MUS605): a device with its index anywhere, one in a list of
devices, one beside a backend or a type of numbers, `x.type == "cuda"`, `check_device("cuda")`. All other strings stay,
each with a finding: text, paths, keys of dictionaries, names of the project's own (a `backend` that is also compared
with words which PyTorch does not know), and what other libraries call so (Ray, Lightning, XGBoost ...).

Names that stay, each with a finding (MUS602):

| PyTorch | why | instead |
|---|---|---|
"""
_UNPROVEN = """\

Carried over, marked `review` and reported (MUS606), for nothing says that torch_musa has them:

| PyTorch | why |
|---|---|
"""
_STYLES = """\

## Styles

Ports differ in some spellings. One is the default; `--torch-style NAME` (repeatable), or `torch-style = ["NAME"]` in
`musify.toml`, takes another.

| style | default | with it | evidence |
|---|---|---|---|
"""
_OTHER_STYLES = """\

Only what a source shows is a style. Of `AT_MUSA_CHECK` and `C10_MUSA_CHECK` none does: each follows its own CUDA macro,
is marked `review`, and a rule file of your own makes them one:

```toml
[rename]
AT_CUDA_CHECK = "C10_MUSA_CHECK"
```

`at::musa::is_musa(x)` in place of `x.is_privateuseone()` is no style either: nothing at hand shows what it takes.
"""
_TORCHADA = """\

## torchada

`--python-mode torchada` (or `python-mode = "torchada"`) is for projects that run their Python unchanged with torchada,
which patches PyTorch at run time. No Python file is changed then, setup scripts included; what torchada does not carry
is an error (MUS610), what no source tells of is a note (MUS611). Configurations and launch scripts keep their devices
and backends, notebooks all that they hold; C++ and other files are converted as ever: sources that a Python file
names are best left to torchada, which ports them when it builds (MUS612). How a program loads torchada is not known
here.

| what | under torchada | source |
|---|---|---|
"""


def torch_page(rules: RuleBook) -> str:
    """The whole page."""
    python = shipped_tables("torch")["python.toml"]
    parts = [_INTRO, *_headers(rules), _NAMES, _PYTHON, *_renamed(python), _STRINGS, *_staying(python)]
    parts += [_UNPROVEN, *_unproven(python), _STYLES]
    parts += [
        f"| `{style.name}` | {style.default} | {style.summary} | {style.evidence.value}: {_source(style.source)} |\n"
        for style in styles()
    ]
    return "".join([*parts, _OTHER_STYLES, _TORCHADA, *_torchada(shipped_tables("torch")["torchada.toml"])])


def _headers(rules: RuleBook) -> Iterator[str]:
    for path in sorted(rules.all_headers()):
        rule = rules.header(path)
        if rule is not None and rule.library.id == "torch":
            yield f"| `{path.decode()}` | `{rule.target.decode()}` | {rule.evidence.value} |\n"


def _renamed(tables: Mapping[str, Any]) -> Iterator[str]:
    for table in tables["module"]:
        yield f"| `{table['cuda']}` | `{table['musa']}` | {table['evidence']} |\n"
    for table in tables["import"]:
        yield f"| `{table['cuda']}`, in an import | `{table['musa']}` | {table['evidence']} |\n"


def _staying(tables: Mapping[str, Any]) -> Iterator[str]:
    for table in tables["without"]:
        yield f"| {_listed(table['names'])} | {table['why']} | {table['instead']} |\n"


def _unproven(tables: Mapping[str, Any]) -> Iterator[str]:
    for table in tables["unproven"]:
        yield f"| {_listed(table['names'])} | {table['why']} |\n"


def _listed(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split())


def _torchada(tables: Mapping[str, Any]) -> Iterator[str]:
    for kind, said in (("carries", "runs unchanged"), ("breaks", ""), ("idle", "")):
        for table in tables[kind]:
            yield f"| {_listed(table['names'])} | {said or table['why']} | {_source(table['source'])} |\n"
    comparison = tables["comparison"]
    yield f'| `device.type == "cuda"` | {comparison["why"]} | {_source(comparison["source"])} |\n'
    yield f"| `nvcc` among extra_compile_args, sources in `.cu` | seen to | {_source(tables['edits']['source'])} |\n"
    yield "| anything else of CUDA's | not known | - |\n"


def _source(text: str) -> str:
    """Sources without the sections of the notes that the rules were written from."""
    return re.sub(r"FACTS [\d., ]+(?:: |\Z)", "", text) or "the notes on torchada that the rules were written from"
