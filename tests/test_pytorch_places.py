"""Where strings and names of PyTorch stand: what is a device there, what only may be one, what is the project's own."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from musify.engine.document import Conversion, convert_build
from musify.languages.registry import Language
from musify.languages.surroundings import BuildSurroundings, Settings
from musify.model import Applicability
from musify.rules.book import RuleBook
from musify.source.document import Document
from tests.commands import contents, musify, write

HEAD = "import torch\nimport torch_musa\n"


def converted(rules: RuleBook, source: str) -> Conversion:
    document = Document.from_bytes(source.encode())
    return convert_build(document, Language.PYTHON, rules, Settings(), BuildSurroundings("a.py"))


UNCHANGED = {
    "a backend of Ray's": "import ray.util.collective as c\ndef f(backend='nccl'): c.create(backend='nccl')\n",
    "a name of the project's beside others of its own":
        "def f(backend):\n    if backend == 'nccl': a()\n    elif backend == 'nvshmem': b()\n",
    "a backend among others that PyTorch does not have": "p.add_argument('--backend', choices=['nccl', 'nvshmem'])\n",
    "cases of a test of the project's own names":
        "@pytest.mark.parametrize('backend', ['nccl', pytest.param('nvshmem', marks=m)])\ndef test(backend): pass\n",
    "a type of the project's own names": "def f(backend: Literal['nccl', 'nixl'] = 'nccl'): pass\n",
    "a class that PyTorch makes for CUDA only": "def f(x: torch.cuda.LongTensor): return torch.cuda.FloatTensor([1])\n",
    "keys that are names": "memory = {'cuda': 0, 'cpu': 0}; print(memory['cuda'])\n",
    "an attribute of a module, by its name": "monkeypatch.setattr(torch.version, 'cuda', '12')\n",
    "a list with other words": "kinds = ('cpu', 'gpu', 'cuda')\n",
    "a label": "with timed('torch.cuda.synchronize'): pass\n",
    "a longer dotted name": "load('torch.cuda_tools.x')\n",
    "suffixes of the sources that a setup script builds":
        "from torch.utils.cpp_extension import load\nkinds = ['cpu', 'cuda'] if BOTH else ['cpu']\n",
    "a part of a path": "os.path.join(root, 'cuda', 'x')\n",
    "a function": "def cuda(x): return x\n",
    "a method of the project's": "class A:\n    def cuda_time(self): pass\n    def is_cuda(self): pass\n",
    "a test of one's own": "target = 'cuda'\nassert_torch_is_same(x, target, dev)\n",
    "a column of another name": "@pytest.mark.parametrize('name, device', [('cuda', 'x')])\ndef f(name, device): pass\n",
    "a part of a name": "device_str = 'device' if new else 'cuda'\n",
    "loops that lead to each other": "for a in b:\n    for b in a:\n        use(a == 'cuda')\n",
    "a choice that is no device": "label = 'cuda' if use_cuda else 'none'\n",
    "a device of another library":
        "import xgboost as xgb\nm = xgb.XGBClassifier(device='cuda')\nimport tvm\ndev = tvm.device('cuda')\n",
    "an option of another library": "fabric = Fabric(accelerator='cuda')\n",
    "text that is looked for in text": "bad = 'consider passing CUDA_LAUNCH_BLOCKING=1' in log or 'see CUDA_HOME ' in text\n",
}  # fmt: skip


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(rules: RuleBook, source: str) -> None:
    result = converted(rules, HEAD + source)
    assert result.new_data.decode() == HEAD + source
    assert result.findings


def test_what_a_tensor_is_asked_chooses_no_device(rules: RuleBook) -> None:
    result = converted(rules, HEAD + "kind = 'cuda' if x.is_cuda else 'cpu'\n")
    assert result.new_data.decode() == HEAD + "kind = 'cuda' if x.is_musa else 'cpu'\n"


def test_words_that_are_no_words_of_cuda(rules: RuleBook) -> None:
    result = converted(rules, HEAD + "class ConvMlp: pass\nconvmlp = ConvMlp(device='cuda')\nimport nvml\nuse(NVML)\n")
    assert [finding.name for finding in result.findings] == ["nvml", "NVML"]
    result = converted(
        rules, HEAD + "names = ['barracuda', 'Barracuda', 'thrusting', 'thrusters', 'thrust', 'MyCuda']\n"
    )
    assert [finding.name for finding in result.findings] == ["thrust", "MyCuda"]


CHANGED = {
    # what PyTorch's own functions take
    "torch.cuda.set_device(f'cuda:{rank}')": "torch.musa.set_device(f'musa:{rank}')",
    "x = x.cuda('cuda:0')": "x = x.musa('musa:0')",
    "d = torch.device(type='cuda', index=1)": "d = torch.device(type='musa', index=1)",
    "s = torch.load(p, 'cuda:0')": "s = torch.load(p, 'musa:0')",
    "s = torch.load(p, map_location={'cuda:0': 'cuda:1'})": "s = torch.load(p, map_location={'musa:0': 'musa:1'})",
    "m = from_pretrained(p, device_map={'': 'cuda:0'})": "m = from_pretrained(p, device_map={'': 'musa:0'})",
    "m = from_pretrained(p, device_map='cuda')": "m = from_pretrained(p, device_map='musa')",
    "m = torch.distributed.device_mesh.DeviceMesh.from_group(g, 'cuda')":
        "m = torch.distributed.device_mesh.DeviceMesh.from_group(g, 'musa')",
    "k = torch.get_device_module('cuda')": "k = torch.get_device_module('musa')",
    # formats
    "d = torch.device('cuda:{}'.format(i))": "d = torch.device('musa:{}'.format(i))",
    "d = torch.device('cuda:' + str(i))": "d = torch.device('musa:' + str(i))",
    "x.to(('cuda:%d') % i)": "x.to(('musa:%d') % i)",
    # comparisons
    "if torch.distributed.get_backend(g) == 'nccl': pass": "if torch.distributed.get_backend(g) == 'mccl': pass",
    "if device[:4] == 'cuda' or devices[0] == 'cuda': pass": "if device[:4] == 'musa' or devices[0] == 'musa': pass",
    "if device.split(':')[0] == 'cuda': pass": "if device.split(':')[0] == 'musa': pass",
    "if str(device).lower() == 'cuda': pass": "if str(device).lower() == 'musa': pass",
    "if kwargs.get('device') == 'cuda': pass": "if kwargs.get('device') == 'musa': pass",
    "if get_device() == 'cuda': pass": "if get_device() == 'musa': pass",
    "if device.startswith('cuda:'): pass": "if device.startswith('musa:'): pass",
    "self.assertEqual(x.device.type, 'cuda')": "self.assertEqual(x.device.type, 'musa')",
    "if x.type() in ['torch.cuda.HalfTensor']: pass": "if x.type() in ['torch.musa.HalfTensor']: pass",
    # defaults
    "d = getattr(args, 'device', 'cuda')": "d = getattr(args, 'device', 'musa')",
    "class A:\n    device: str = field(default='cuda')": "class A:\n    device: str = field(default='musa')",
    "class A:\n    device: str = Field('cuda', description='x')":
        "class A:\n    device: str = Field('musa', description='x')",
    "class A:\n    backend: Literal['nccl', 'gloo'] = 'nccl'":
        "class A:\n    backend: Literal['mccl', 'gloo'] = 'mccl'",
    "def f(device: Optional[Literal['cuda', 'cpu']] = None): pass":
        "def f(device: Optional[Literal['musa', 'cpu']] = None): pass",
    "devices = ['cpu'] + ['cuda'] if torch.cuda.is_available() else []":
        "devices = ['cpu'] + ['musa'] if torch.musa.is_available() else []",
    "@parameterize('device', ['cpu', 'cuda'])\ndef f(device): pass":
        "@parameterize('device', ['cpu', 'musa'])\ndef f(device): pass",
    "@pytest.mark.parametrize('device', [pytest.param('cuda', marks=m)])\ndef f(device): pass":
        "@pytest.mark.parametrize('device', [pytest.param('musa', marks=m)])\ndef f(device): pass",
    # the same file says what a parameter is
    "def f(a, device): pass\nf(1, 'cuda')": "def f(a, device): pass\nf(1, 'musa')",
    "class A:\n    def f(self, device): pass\nA().f('cuda')": "class A:\n    def f(self, device): pass\nA().f('musa')",
    "def supported_devices(self): return ['cuda', 'npu']": "def supported_devices(self): return ['musa', 'npu']",
    "BACKEND = {'cuda': 'nccl', 'cpu': 'gloo'}": "BACKEND = {'musa': 'mccl', 'cpu': 'gloo'}",
    "match device.type:\n    case 'cuda': pass": "match device.type:\n    case 'musa': pass",
    "setattr(mine, 'tools.utils.device_type', 'cuda')": "setattr(mine, 'tools.utils.device_type', 'musa')",
    "monkeypatch.setattr('tools.utils.device_type', 'cuda')": "monkeypatch.setattr('tools.utils.device_type', 'musa')",
    "patch('tools.utils.device_type', 'cuda')": "patch('tools.utils.device_type', 'musa')",
    "i = int(str(x.device).strip('cuda:'))": "i = int(str(x.device).strip('musa:'))",
    "devices.append('cuda')": "devices.append('musa')",
    "ok = any('cuda' in d for d in devices)": "ok = any('musa' in d for d in devices)",
    "@pytest.mark.parametrize('n, device', [(1, 'cuda')])\ndef f(n, device): pass":
        "@pytest.mark.parametrize('n, device', [(1, 'musa')])\ndef f(n, device): pass",
    # what a variable is passed to
    "d = 'cuda'\nx.to(d)": "d = 'musa'\nx.to(d)",
    "for d in ('cuda:0', 'cpu'): x.to(d)": "for d in ('musa:0', 'cpu'): x.to(d)",
    "def f(where='cuda'): return torch.zeros(1, device=where)": "def f(where='musa'): return torch.zeros(1, device=where)",
    # names
    "tree_map(torch.Tensor.cuda, x)": "tree_map(torch.Tensor.musa, x)",
    "helper.torch.cuda.synchronize()": "helper.torch.musa.synchronize()",
    "b = torch.distributed.Backend.NCCL": "b = torch.distributed.Backend.MCCL",
    "patch('torch.cuda.stream'); patch('mine.torch.cuda.device_count')":
        "patch('torch.musa.stream'); patch('mine.torch.musa.device_count')",
    "if getattr(x, 'is_cuda', False) or hasattr(torch, 'cuda'): pass":
        "if getattr(x, 'is_musa', False) or hasattr(torch, 'musa'): pass",
    "class B:\n    def cuda(self, device=None):\n        return super().cuda(device)":
        "class B:\n    def musa(self, device=None):\n        return super().musa(device)",
    "class B:\n    is_cuda = True\n    @property\n    def is_cuda(self): return self.x.is_cuda":
        "class B:\n    is_musa = True\n    @property\n    def is_musa(self): return self.x.is_musa",
    "model.cuda.assert_called_once()": "model.musa.assert_called_once()",
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), CHANGED.items(), ids=CHANGED.keys())
def test_changed(rules: RuleBook, before: str, after: str) -> None:
    conversion = converted(rules, f"{HEAD}{before}\n")
    result = conversion.new_data.decode()
    assert result == f"{HEAD}{after}\n"
    assert not conversion.findings and all(edit.applicability is Applicability.SAFE for edit in conversion.edits)
    compile(result, "a.py", "exec")


# What the form makes likely and nothing beside it says: changed, marked, and reported.
LIKELY = {
    "kinds = ('cuda', 'xpu', 'npu')": "kinds = ('musa', 'xpu', 'npu')",
    "D = ('cuda', 'GPU', 'nccl')": "D = ('musa', 'GPU', 'mccl')",
    "super().__init__(name='cuda', communication='nccl')": "super().__init__(name='musa', communication='mccl')",
    "assert kind(x) == 'cuda:nccl,cpu:gloo'": "assert kind(x) == 'musa:mccl,cpu:gloo'",
    "if source.type == 'cuda': pass": "if source.type == 'musa': pass",
    "check_device('cuda')": "check_device('musa')",
    "b = distributed_backend('cuda')": "b = distributed_backend('musa')",
    "pool.take((4,), torch.bfloat16, 'cuda', group)": "pool.take((4,), torch.bfloat16, 'musa', group)",
    "matches(x.device, 'cuda')": "matches(x.device, 'musa')",
    "f('cuda' if args.gpu else 'cpu')": "f('musa' if args.gpu else 'cpu')",
    "name = 'cuda:' + str(i)": "name = 'musa:' + str(i)",
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), LIKELY.items(), ids=LIKELY.keys())
def test_likely(rules: RuleBook, before: str, after: str) -> None:
    conversion = converted(rules, f"{HEAD}{before}\n")
    assert conversion.new_data.decode() == f"{HEAD}{after}\n"
    assert {edit.applicability for edit in conversion.edits} == {Applicability.REVIEW}
    assert {finding.rule_id for finding in conversion.findings} == {"MUS605"}


# In a file that uses another library with devices of its own, only what PyTorch's functions take is certain.
BESIDE_OTHERS = {
    "x = torch.zeros(1, device='cuda')": ("x = torch.zeros(1, device='musa')", Applicability.SAFE),
    "device = 'cuda'": ("device = 'musa'", Applicability.REVIEW),
    "assert str(t.device) == 'cuda:0'": ("assert str(t.device) == 'musa:0'", Applicability.REVIEW),
    "assert t.is_cuda": ("assert t.is_musa", Applicability.REVIEW),
}


@pytest.mark.parametrize(("before", "expected"), BESIDE_OTHERS.items(), ids=BESIDE_OTHERS.keys())
def test_beside_another_library(rules: RuleBook, before: str, expected: tuple[str, Applicability]) -> None:
    conversion = converted(rules, f"{HEAD}import tvm\n{before}\n")
    assert conversion.new_data.decode() == f"{HEAD}import tvm\n{expected[0]}\n"
    assert {edit.applicability for edit in conversion.edits} == {expected[1]}
    said = {finding.rule_id for finding in conversion.findings} - {"MUS620"}
    assert said == (set() if expected[1] is Applicability.SAFE else {"MUS605"})


def test_a_list_of_many_devices_is_read_once(rules: RuleBook) -> None:
    started = time.process_time()
    conversion = converted(rules, HEAD + "x = [" + "'cuda:0', " * 4000 + "]\n" + "f(" + "'cuda:0', " * 2000 + ")\n")
    assert len(conversion.edits) == 6000
    assert time.process_time() - started < 15  # a list that is read anew for each of its items takes minutes


UNPROVEN = {
    "torch.cuda._sleep(100)": "torch.musa._sleep(100)",
    "torch.cuda.memory._record_memory_history()": "torch.musa.memory._record_memory_history()",
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), UNPROVEN.items(), ids=UNPROVEN.keys())
def test_names_that_nothing_vouches_for(rules: RuleBook, before: str, after: str) -> None:
    conversion = converted(rules, f"{HEAD}{before}\n")
    assert conversion.new_data.decode() == f"{HEAD}{after}\n"
    assert {edit.applicability for edit in conversion.edits} == {Applicability.REVIEW}
    assert {finding.rule_id for finding in conversion.findings} == {"MUS606"}


LIKE_A_TENSOR = {
    "return model.cuda(), 1": "return model.musa(), 1",
    "if tensor.device.type == 'cuda': pass": "if tensor.device.type == 'musa': pass",
    "model.device = 'cuda'": "model.device = 'musa'",
}


@pytest.mark.parametrize(("before", "after"), LIKE_A_TENSOR.items(), ids=LIKE_A_TENSOR.keys())
def test_files_of_a_project_that_uses_pytorch(tmp_path: Path, before: str, after: str) -> None:
    """A file that does not mention PyTorch is converted where others of the project do, and that is said."""
    text = "from mine import run\ndef f(model, tensor):\n    {}\n"
    files = {"a.py": text.format(before), "b.py": "x = 1\n", "c.py": "import torch.nn as nn\n"}
    report = tmp_path / "r.json"
    musify("convert", write(tmp_path / "in", files), "-o", tmp_path / "out", "-q", "--report", f"json:{report}")
    assert contents(tmp_path / "out")["a.py"].decode() == text.format(after)
    result = next(file for file in json.loads(report.read_text())["files"] if file["path"].endswith("a.py"))
    assert [edit["applicability"] for edit in result["edits"]] == ["review"]
    assert [finding["id"] for finding in result["findings"]] == ["MUS607"]


OTHERS = {
    "a library of its own": "import xgboost\ndef f(model): return model.cuda()\n",
    "nothing that PyTorch has": "path = 'cuda'\nuse('cuda')\n",
}


@pytest.mark.parametrize("source", OTHERS.values(), ids=OTHERS.keys())
def test_files_of_such_a_project_that_stay(tmp_path: Path, source: str) -> None:
    tree = write(tmp_path / "in", {"a.py": source, "c.py": "import torch\n"})
    musify("convert", tree, "-o", tmp_path / "out", "-q")
    assert contents(tmp_path / "out")["a.py"].decode() == source
