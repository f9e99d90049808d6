"""Reading Python: tokens, strings, names, calls."""

from __future__ import annotations

from itertools import pairwise

import pytest

from musify.engine.document import convert_build
from musify.languages.build.unit import TokenKind
from musify.languages.python import read, tokens
from musify.languages.python.module import PythonModule
from musify.languages.python.references import Call
from musify.languages.registry import Language
from musify.languages.surroundings import BuildSurroundings, Settings
from musify.rules import book
from musify.source.document import Document


def kinds(source: str) -> list[tuple[str, str]]:
    data = source.encode()
    return [(token.kind.value, data[token.start : token.end].decode()) for token in tokens(data)]


def resolved(source: str, written: str) -> list[str]:
    """What the last use of `written` resolves to."""
    found = [item for item in read(source.encode()).references if item.written == written]
    return [meaning.dotted for meaning in found[-1].meanings]


def only_string(source: str) -> tuple[bytes, PythonModule]:
    module = read(source.encode())
    assert len(module.strings) == 1
    return module.strings[0].text, module


def call(source: str, name: str) -> Call:
    return next(item for item in read(source.encode()).calls if item.method_name == name)


def test_comments_strings_and_names() -> None:
    assert kinds('x = "a"  # cuda\n') == [("name", "x"), ("string", '"a"'), ("comment", "# cuda")]


def test_docstrings_are_comments() -> None:
    source = '"""Needs CUDA."""\ndef f():\n    "uses cuda" \'too\'\n    return "cuda"\n'
    assert kinds(source) == [
        ("comment", '"""Needs CUDA."""'),
        ("name", "f"),
        ("comment", "\"uses cuda\" 'too'"),
        ("string", '"cuda"'),
    ]


def test_a_string_behind_something_unreadable_is_no_docstring() -> None:
    assert kinds('<x>_source = """cuda"""\n')[-1] == ("string", '"""cuda"""')


def test_strings_with_expressions_come_in_parts() -> None:
    assert kinds("x = f\"cuda:{rank:>{width}} {d['cuda']}!\"") == [
        ("name", "x"),
        ("string", 'f"cuda:'),
        ("name", "rank"),
        ("name", "width"),
        ("string", " "),
        ("name", "d"),
        ("string", "'cuda'"),
        ("string", '!"'),
    ]


def test_tokens_do_not_overlap_in_broken_files() -> None:
    data = b"def f(:\n  x = 'cuda\n  print 'a', \"b\nclass (\n\xff = '\xe9 cuda'\n"
    found = tokens(data)
    assert found
    assert all(first.end <= second.start for first, second in pairwise(found))
    assert {token.kind for token in found} <= set(TokenKind)


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("'cuda'", b"cuda"),
        ('u"""cuda\n:0"""', b"cuda\n:0"),
        (r"r'\d+\.cu'", rb"\d+\.cu"),
        (r"'a\tb\\\x41\u00e9\101\q'", "a\tb\\A\u00e9A\\q".encode()),
        ("'one\\\ntwo'", b"onetwo"),
        ("('src/' \"*\" r'''.cu''')", b"src/*.cu"),
        ("f'{{{x}}}:{y!r}'", b"{{x}}:{y!r}"),
        ("b'\\n'", b"\n"),
        ("''", b""),
    ],
)
def test_text_of_strings(literal: str, text: bytes) -> None:
    assert only_string(f"x = {literal}\n")[0] == text


@pytest.mark.parametrize(
    ("literal", "part", "written"),
    [
        ("'cuda:0'", b"cuda", "cuda"),
        ("rb'''x/cuda'''", b"cuda", "cuda"),
        (r"'\tcuda'", b"cuda", "cuda"),
        (r"'\tcuda'", b"\tcuda", r"\tcuda"),
        (r"'cu\x64a'", b"cuda", r"cu\x64a"),
        ("'a' 'cuda'", b"cuda", "cuda"),
        ("'cuda' 'a'", b"cuda", "cuda"),
        ("f'{x}cuda'", b"cuda", "cuda"),
        ("f'cuda{x}'", b"cuda", "cuda"),
        ("f'{{cuda'", b"{cuda", "{{cuda"),
        ("'cu' 'da'", b"cuda", None),
        ("'-gencode=' \"arch\"", b"=a", None),
    ],
)
def test_places_of_text_in_strings(literal: str, part: bytes, written: str | None) -> None:
    text, module = only_string(f"x = {literal}\n")
    span = module.strings[0].locate(text.index(part), text.index(part) + len(part))
    assert (None if span is None else module.data[span.start : span.end].decode()) == written


def test_a_place_inside_an_escape_is_none() -> None:
    _, module = only_string(r"x = '\u00e9'")
    assert module.strings[0].locate(1, 2) is None
    assert module.strings[0].locate(0, 1) is None


def test_empty_places() -> None:
    _, module = only_string("x = ''")
    assert module.strings[0].locate(0, 0) == (5, 5)
    _, module = only_string("x = 'ab'")
    assert [module.strings[0].locate(at, at) for at in range(3)] == [(5, 5), (6, 6), (7, 7)]


def test_strings_inside_expressions_of_strings() -> None:
    module = read(b"""x = f"{d['cuda']}-{e:>{w}}" """)
    assert [literal.text for literal in module.strings] == [b"{d['cuda']}-{e:>{w}}", b"cuda"]
    assert [node.text for node in module.strings[0].interpolations] == [b"d['cuda']", b"e"]
    assert [module.strings[0].text[hole.start : hole.end] for hole in module.strings[0].holes] == [
        b"{d['cuda']}",
        b"{e:>{w}}",
    ]


@pytest.mark.parametrize(
    ("source", "written", "meanings"),
    [
        pytest.param("torch.cuda", "torch.cuda", [], id="no import"),
        pytest.param("import torch\ndef f(torch): torch.cuda", "torch.cuda", [], id="a parameter hides the import"),
        pytest.param("import torch\nclass A:\n  torch = 1\n  torch.x", "torch.x", [], id="a class variable hides it"),
        pytest.param("def f():\n  import torch\ntorch.cuda", "torch.cuda", [], id="imported in another scope"),
        pytest.param("import torch\n[torch.cuda for torch in y]", "torch.cuda", [], id="a loop variable hides it"),
        pytest.param("def f():\n  import m.x\n  return lambda m: m.x", "m.x", [], id="a lambda's parameter hides it"),
        pytest.param("import torch\ntorch.cuda", "torch.cuda", ["torch.cuda"], id="import"),
        pytest.param("import torch as t\nt.cuda.amp", "t.cuda.amp", ["torch.cuda.amp"], id="import as"),
        pytest.param("import torch.utils.x\ntorch.cuda", "torch.cuda", ["torch.cuda"], id="submodule"),
        pytest.param("import torch.cuda as c\nc.amp", "c.amp", ["torch.cuda.amp"], id="submodule as"),
        pytest.param("from torch import cuda\ncuda.amp", "cuda.amp", ["torch.cuda.amp"], id="from"),
        pytest.param("from torch import (cuda as c,)\nc", "c", ["torch.cuda"], id="from as"),
        pytest.param("from .a import b\nb.c", "b.c", [".a.b.c"], id="relative"),
        pytest.param("from . import b\nb", "b", [".b"], id="relative, the package"),
        pytest.param("from torch.x import *\ndef f(): A", "A", ["torch.x.A"], id="star"),
        pytest.param("import torch\nc = torch.cuda\nc.amp", "c.amp", ["torch.cuda.amp"], id="alias"),
        pytest.param("from m import A, B\ne = A if x else B\ne()", "e", ["m.A", "m.B"], id="either"),
        pytest.param("from m import A, B\ne = A\nif x: e = B\ne()", "e", ["m.A", "m.B"], id="assigned twice"),
        pytest.param("try: from m import A\nexcept: A = None\nA", "A", ["m.A"], id="fallback"),
        pytest.param("import m\nclass A:\n  m = 1\n  def f(self): m.x", "m.x", ["m.x"], id="class scopes do not nest"),
        pytest.param("def f():\n  global m\n  import m\nm.x", "m.x", ["m.x"], id="global"),
        pytest.param("import m\ndef f(a=m.x): pass", "m.x", ["m.x"], id="default values lie outside"),
        pytest.param("import m\n@m.x\ndef f(a: m.y) -> m.z: pass", "m.y", ["m.y"], id="annotations"),
        pytest.param("import m\n@m.x\ndef f(): pass", "m.x", ["m.x"], id="decorators"),
        pytest.param("import m\nm.x.y = 1", "m.x.y", ["m.x.y"], id="assigned to"),
        pytest.param("import m\nf'{m.x}'", "m.x", ["m.x"], id="in a string"),
        pytest.param("a = b\nb = a\na.x", "a.x", [], id="aliases of each other"),
    ],
)
def test_names_are_resolved(source: str, written: str, meanings: list[str]) -> None:
    assert resolved(source, written) == meanings


def test_certain_and_uncertain_names() -> None:
    module = read(b"import a\ntry: import b\nexcept: b = None\na.x\nb.x\n")
    found = {item.written: item.meanings[0].certain for item in module.references if item.meanings}
    assert found == {"a.x": True, "b.x": False}


@pytest.mark.parametrize(
    ("source", "index", "written"),
    [
        ("import torch\ntorch.cuda.amp", 1, b"cuda"),
        ("import torch\ntorch.cuda.amp", 0, b"torch"),
        ("import torch as t\nt.cuda.amp", 1, b"cuda"),
        ("import torch as t\nt.cuda.amp", 0, None),
        ("from torch import cuda\ncuda.amp", 1, b"cuda"),
        ("from torch import cuda\ncuda.amp", 0, None),
        ("from torch import cuda as c\nc.amp", 1, None),
        ("from torch import cuda as c\nc.amp", 2, b"amp"),
        ("import torch\ncuda = torch.cuda\ncuda.amp", 1, None),
        ("from .torch import cuda\ncuda.amp", 3, None),
    ],
)
def test_which_identifier_writes_a_component(source: str, index: int, written: bytes | None) -> None:
    reference = read(source.encode()).references[-1]
    node = reference.component(reference.meanings[0], index)
    assert (None if node is None else node.text) == written


def test_import_statements() -> None:
    module = read(
        b"from __future__ import division\nimport a.b as c, d.e\nfrom m import (x,  # why\n  y as z)\nfrom n import *"
    )
    assert [(item.module, item.star) for item in module.imports] == [
        ("__future__", False), ("", False), ("m", False), ("n", True),
    ]  # fmt: skip
    items = [item for statement in module.imports for item in statement.items]
    assert [(item.name, item.alias, item.bound.text, item.target) for item in items] == [
        ("division", "", b"division", "__future__.division"),
        ("a.b", "c", b"c", "a.b"),
        ("d.e", "", b"d", "d"),
        ("x", "", b"x", "m.x"),
        ("y", "z", b"z", "m.y"),
    ]


def test_arguments_of_calls() -> None:
    found = call("import m\nm.f(1, *rest, 2, key=3, **more)", "f")
    assert found.calls("m.f") and not found.calls("m.g")
    assert [(item.name, item.value.text) for item in found.arguments] == [
        ("", b"1"), ("*", b"rest"), ("", b"2"), ("key", b"3"), ("**", b"more"),
    ]  # fmt: skip
    assert (first := found.argument("a", 0)) is not None and first.value.text == b"1"
    assert (key := found.argument("key", 5)) is not None and key.value.text == b"3"
    assert found.argument("b", 2) is None, "what *rest takes is not known"


def test_methods_of_anything() -> None:
    found = call("net(x).to('cuda').cuda(0)", "cuda")
    assert found.reference is None
    assert found.method is not None and found.method.text == b"cuda"


def test_values_behind_names() -> None:
    source = b"a = ['x']\nb = a\nc = 1\nc += 1\nf(b, c, d)\n"
    module = read(source)
    values = [module.value(argument.value) for argument in module.calls[0].arguments]
    assert [value.text if value else None for value in values] == [b"['x']", b"c", b"d"]


def test_bindings_of_every_form() -> None:
    source = (
        b"a = b = 1\nc, (d, *e) = 2, (3, 4)\nf: int = 5\nfor g in x: pass\nwith y as (h, i): pass\n"
        b"try: pass\nexcept E as j: pass\nif (k := 1): pass\n[(l := m) for m in z]\ndef n(o, *p, q: int = 6, **r): pass\n"
        b"class s: pass\nt += 1\nlambda u=7, *v: u\nmatch w:\n    case aa: pass\n"
    )
    scopes = read(source).scopes
    assert sorted(scopes.module.bindings) == sorted("a b c d e f g h i j k l n s t aa".split())
    values = {name: bindings[0].value for name, bindings in scopes.module.bindings.items()}
    assert {name: value.text for name, value in values.items() if value is not None and name in "abcfkt"} == {
        "a": b"1", "b": b"1", "c": b"2", "f": b"5", "k": b"1", "t": b"1",
    }  # fmt: skip
    inner = scopes.at(source.index(b"pass\nclass"))
    assert sorted(inner.bindings) == ["o", "p", "q", "r"]


def test_uses_of_one_variable() -> None:
    source = b"flags = []\ndef f():\n    flags.append('x')\ndef g():\n    flags = 1\n    m.flags\nh(flags=flags)\n"
    scopes = read(source).scopes
    assert [node.start_point.row for node in scopes.uses(scopes.module, "flags")] == [0, 2, 6]


def test_variables_of_the_project_keep_their_names() -> None:
    source = b'CUDA_PATH = "x"\nnvcc = os.environ["CUDA_PATH"]\n'
    result = convert_build(Document(source), Language.PYTHON, book.load(), Settings(), BuildSurroundings())
    assert result.new_data == b'CUDA_PATH = "x"\nnvcc = os.environ["MUSA_PATH"]\n'
    assert [finding.name for finding in result.findings] == ["CUDA_PATH", "nvcc"]
