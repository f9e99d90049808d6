"""PyTorch in Python: names, imports, methods, device and backend strings."""

from __future__ import annotations

import pytest

from musify.engine.document import Conversion, convert_build
from musify.languages.registry import Language
from musify.languages.surroundings import BuildSurroundings, Settings
from musify.rules.book import RuleBook
from musify.source.document import Document

HEAD = "import torch\nimport torch_musa\n"


def converted(rules: RuleBook, source: str) -> Conversion:
    document = Document.from_bytes(source.encode())
    return convert_build(document, Language.PYTHON, rules, Settings(), BuildSurroundings("a.py"))


UNCHANGED = {
    "no PyTorch": "device = 'cuda'\nx.cuda()\n",
    "PyTorch in text only": "device = 'cuda'\nx.cuda()  # as torch does\n",
    "text": "print('on cuda'); raise ValueError('needs cuda, not cpu')\n",
    "a path": "open('/data/cuda/x'); path = 'cuda'\n",
    "a docstring": "def device():\n    'cuda'\n",
    "a longer word": "device = 'barracuda'; s = x.cudagraph(); device = 'cuda_x'\n",
    "a module of the project": "from mine import cuda\ncuda.is_available()\nimport flash_attn_2_cuda\n",
    "an attribute of the project's": "class A:\n    cuda = 1\nprint(A.cuda, cuda.x)\n",
    "a key of another sort": "config['cuda_path'] = 'cuda'; d = {'name': 'cuda'}\n",
    "a call with many arguments": "launcher.cuda(1, 2, 3, 4, 5)\n",
    "the version": "if torch.version.cuda: pass\n",
    "a backend of something else": "store = open_store('nccl')\n",
}  # fmt: skip


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(rules: RuleBook, source: str) -> None:
    text = source if "device = 'cuda'\nx" in source else HEAD + source
    assert converted(rules, text).new_data.decode() == text


CHANGED = {
    "torch.cuda.synchronize()": "torch.musa.synchronize()",
    "torch.cuda.CUDAGraph()": "torch.musa.MUSAGraph()",
    "s: torch.cuda.Stream = None": "s: torch.musa.Stream = None",
    "x = x.cuda()": "x = x.musa()",
    "m = Net().to(d).cuda(0, non_blocking=True)": "m = Net().to(d).musa(0, non_blocking=True)",
    "assert x.is_cuda": "assert x.is_musa",
    "x.to('cuda')": "x.to('musa')",
    "x.to(device=\"cuda:1\")": "x.to(device=\"musa:1\")",
    "d = torch.device('cuda', 0)": "d = torch.device('musa', 0)",
    "d = torch.device(f'cuda:{rank}')": "d = torch.device(f'musa:{rank}')",
    "d = torch.device('cuda:%d' % rank)": "d = torch.device('musa:%d' % rank)",
    "v = 'cuda' if torch.cuda.is_available() else 'cpu'": "v = 'musa' if torch.musa.is_available() else 'cpu'",
    "self.device = 'cuda'": "self.device = 'musa'",
    "if str(x.device) == 'cuda' or d.type != 'cuda': pass": "if str(x.device) == 'musa' or d.type != 'musa': pass",
    "if x.device.type in ('cuda', 'cpu'): pass": "if x.device.type in ('musa', 'cpu'): pass",
    "if device.startswith('cuda'): pass": "if device.startswith('musa'): pass",
    "def f(x, device='cuda'): pass": "def f(x, device='musa'): pass",
    "def f(device: str = 'cuda'): pass": "def f(device: str = 'musa'): pass",
    "p.add_argument('-d', '--device', default='cuda', choices=['cuda', 'cpu'])":
        "p.add_argument('-d', '--device', default='musa', choices=['musa', 'cpu'])",
    "config = {'device': 'cuda'}": "config = {'device': 'musa'}",
    "config['device'] = 'cuda'": "config['device'] = 'musa'",
    "d = args.device or 'cuda'; device = d or 'cuda'": "d = args.device or 'musa'; device = d or 'musa'",
    "d = config.get('device', 'cuda')": "d = config.get('device', 'musa')",
    "for device in ['cpu', 'cuda']: pass": "for device in ['cpu', 'musa']: pass",
    "t = torch.load(p, map_location='cuda:0')": "t = torch.load(p, map_location='musa:0')",
    "with torch.autocast('cuda'): pass": "with torch.autocast('musa'): pass",
    "s = torch.amp.GradScaler('cuda')": "s = torch.amp.GradScaler('musa')",
    "name = f'cuda:{rank}'": "name = f'musa:{rank}'",
    "torch.distributed.init_process_group('nccl')": "torch.distributed.init_process_group('mccl')",
    "torch.distributed.init_process_group(backend='cpu:gloo,cuda:nccl')":
        "torch.distributed.init_process_group(backend='cpu:gloo,musa:mccl')",
    "if args.dist_backend == 'nccl': pass": "if args.dist_backend == 'mccl': pass",
    "torch.backends.cudnn.allow_tf32 = True": "torch.backends.mudnn.allow_tf32 = True",
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), CHANGED.items(), ids=CHANGED.keys())
def test_changed(rules: RuleBook, before: str, after: str) -> None:
    result = converted(rules, f"{HEAD}{before}\n").new_data.decode()
    assert result == f"{HEAD}{after}\n"
    compile(result, "a.py", "exec")


IMPORTS = {
    "import torch as t\nt.cuda.empty_cache()\n": "import torch as t\nimport torch_musa  # noqa: F401\nt.musa.empty_cache()\n",
    "from torch import cuda, nn\ncuda.empty_cache()\n":
        "import torch_musa  # noqa: F401\nfrom torch import musa, nn\nmusa.empty_cache()\n",
    "from torch import cuda as c\nc.empty_cache()\n":
        "import torch_musa  # noqa: F401\nfrom torch import musa as c\nc.empty_cache()\n",
    "import torch\nimport torch.cuda as tc\ntc.empty_cache()\n":
        "import torch\nimport torch_musa  # noqa: F401\nfrom torch import musa as tc\ntc.empty_cache()\n",
    "import torch.cuda.amp as amp\namp.autocast()\n": "import torch_musa.core.amp as amp\namp.autocast()\n",
    "import torch\ndef f():\n    from torch.cuda.amp import autocast\n    torch.cuda.init(autocast)\n":
        "import torch\nimport torch_musa  # noqa: F401\ndef f():\n    from torch_musa.core.amp import autocast\n    torch.musa.init(autocast)\n",
    "import torch\nfrom torch.cuda import CUDAGraph, Stream as S\ns: S = S()\ng = CUDAGraph()\n":
        "import torch\nimport torch_musa  # noqa: F401\nfrom torch import musa\ns: musa.Stream = musa.Stream()\ng = musa.MUSAGraph()\n",
    "from torch.cuda.memory import memory_summary\nprint(f'{memory_summary()}')\n":
        "import torch_musa  # noqa: F401\nfrom torch import musa\nprint(f'{musa.memory.memory_summary()}')\n",
    "import torch\nimport torch.backends.cudnn as cudnn\ncudnn.allow_tf32 = True\n":
        "import torch\nimport torch_musa  # noqa: F401\nimport torch.backends.cudnn as cudnn\ntorch.backends.mudnn.allow_tf32 = True\n",
    "import torch\nold, cudnn = 1, torch.backends.cudnn.allow_tf32\nf(cudnn)\n":
        "import torch\nimport torch_musa  # noqa: F401\nold, cudnn = 1, torch.backends.mudnn.allow_tf32\nf(cudnn)\n",
    "from mine import *\nd = torch.device('cuda')\nx.to('cuda')\n": "from mine import *\nd = torch.device('musa')\nx.to('musa')\n",
    "from torch.cuda.amp import autocast\n": "from torch_musa.core.amp import autocast\n",
    "from torch.cuda import amp\namp.autocast()\n": "from torch_musa.core import amp\namp.autocast()\n",
    "import torch.cuda\ntorch.cuda.init()\n": "import torch\nimport torch_musa  # noqa: F401\ntorch.musa.init()\n",
    "def f():\n    import torch\n    torch.cuda.init()\n\ndef g():\n    import torch\n    return torch\n":
        "def f():\n    import torch\n    import torch_musa  # noqa: F401\n    torch.musa.init()\n\ndef g():\n    import torch\n    return torch\n",
    "if TYPE_CHECKING:\n    import torch\ndef f(x):\n    import torch\n    return torch.cuda.init(x)\n":
        "if TYPE_CHECKING:\n    import torch\ndef f(x):\n    import torch\n    import torch_musa  # noqa: F401\n    return torch.musa.init(x)\n",
    "import os\ndef f():\n    return os.environ['CUDA_HOME']\ndef g():\n    import torch\n":
        "import os\ndef f():\n    return os.environ['MUSA_HOME']\ndef g():\n    import torch\n",
    "try:\n    import torch  # here\nexcept ImportError:\n    pass\ntorch.cuda.init()\n":
        "try:\n    import torch  # here\n    import torch_musa  # noqa: F401\nexcept ImportError:\n    pass\ntorch.musa.init()\n",
    "import os; import torch; x = torch.cuda\n": "import os; import torch; import torch_musa; x = torch.musa\n",
    '"""Doc."""\r\nfrom __future__ import annotations\r\nimport torch\r\ntorch.cuda.init()\r\n':
        '"""Doc."""\r\nfrom __future__ import annotations\r\nimport torch\r\nimport torch_musa  # noqa: F401\r\ntorch.musa.init()\r\n',
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), IMPORTS.items())
def test_imports(rules: RuleBook, before: str, after: str) -> None:
    result = converted(rules, before).new_data.decode()
    assert result == after
    compile(result, "a.py", "exec")
    assert converted(rules, result).new_data.decode() == result


FINDINGS = {
    "print(torch.version.cuda)\n": ["MUS602"],
    "torch._C._cuda_clearCublasWorkspaces()\n": ["MUS602"],
    "torch.backends.cudnn.benchmark = True\n": ["MUS602"],
    "from torch.cuda import Stream\n": ["MUS604"],
    "from torch.cuda import Stream\nmusa = 1\nStream()\n": ["MUS604"],
    "from torch.cuda import Stream, nvtx\nStream(nvtx)\n": ["MUS604", "MUS602"],
    "try:\n    from torch.cuda import Stream\nexcept ImportError:\n    Stream = None\nuse(Stream)\n": ["MUS604"],
    "from torch.cuda import *\n": ["MUS604"],
    "from torch.backends import cudnn\ncudnn.benchmark = True\n": ["MUS504", "MUS602"],
    "import torch.cuda.nvtx as nvtx\n": ["MUS604"],
    "if torch.cuda.get_device_capability()[0] >= 8: pass\n": ["MUS603"],
    "where = f'cuda:{rank}'\n": ["MUS605"],
    "print('cuda')\n": ["MUS504"],
    "print(f'the most memory of CUDA: {torch.cuda.max_memory_allocated() / 2:.1f} of it')\n": ["MUS546"],
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), FINDINGS.items())
def test_findings(rules: RuleBook, source: str, expected: list[str]) -> None:
    assert [item.rule_id for item in converted(rules, HEAD + source).findings] == expected
