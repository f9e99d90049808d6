"""Stand-ins for PyTorch, torch_musa and setuptools, which write down what a setup script hands to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.commands import write

STAND_INS = {
    "recorded.py": "import json, os\nCALLS = []\ndef record(kind, args, kwargs):\n"
    "    CALLS.append([kind, json.loads(json.dumps([args, kwargs], default=str))])\n"
    "    return CALLS[-1]\n",
    "torch/__init__.py": "from torch import version\n__version__ = '2.5.0'\n"
    "class cuda:\n    is_available = staticmethod(lambda: False)\n",
    "torch/version.py": "hip = cuda = None\n",
    "torch/utils/__init__.py": "",
    "torch/utils/cpp_extension.py": "CppExtension = ROCM_HOME = HIP_HOME = None\ndef include_paths(): return ['inc']\n",
    "torch_musa/__init__.py": "import torch\ntorch.musa = torch.cuda\n",
    "torch_musa/utils/__init__.py": "",
    "torch_musa/utils/musa_extension.py": "import os\nfrom recorded import record\nMUSA_HOME = os.environ['MUSA_HOME']\n"
    "def MUSAExtension(*a, **k): return record('MUSAExtension', a, k)\n"
    "def load(*a, **k): return record('load', a, k)\ndef load_inline(*a, **k): return record('load_inline', a, k)\n"
    "class BuildExtension:\n    with_options = classmethod(lambda cls, **k: cls)\n",
    "setuptools/__init__.py": "from recorded import record\ndef setup(*a, **k): record('setup', a, k)\n"
    "def Extension(*a, **k): return record('Extension', a, k)\ndef find_packages(**k): return []\n",
    "setuptools/command/__init__.py": "",
    "setuptools/command/build_ext.py": "class build_ext: pass\n",
    "numpy.py": "def get_include(): return 'numpy'\n",
    "packaging/__init__.py": "",
    "packaging/version.py": "class Version(tuple):\n    def __new__(cls, text):\n"
    "        return tuple.__new__(cls, (int(part) for part in text.split('.')))\nparse = Version\n",
    "musa/bin/mcc": "#!/bin/sh\necho 'mcc version 5.2.0 (a stand-in)'\n",
    "run.py": "import json, runpy, sys\nrunpy.run_path(sys.argv[1], run_name='__main__')\n"
    "import recorded\nprint(json.dumps(recorded.CALLS))\n",
}  # fmt: skip


def run_script(folder: Path, stand_ins: Path, script: str = "setup.py", **environment: str) -> dict[str, Any]:
    """What a script in `folder` hands to the stand-ins, by the function: the last call of each counts."""
    write(stand_ins, STAND_INS)
    (stand_ins / "musa" / "bin" / "mcc").chmod(0o755)
    around = {**os.environ, "PYTHONPATH": str(stand_ins), "MUSA_HOME": str(stand_ins / "musa"), **environment}
    command = [sys.executable, str(stand_ins / "run.py"), script]
    ran = subprocess.run(command, cwd=folder, env=around, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return {kind: {"args": args, **kwargs} for kind, (args, kwargs) in json.loads(ran.stdout.splitlines()[-1])}
