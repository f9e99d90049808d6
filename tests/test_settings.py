"""Configurations and options: devices and backends by their keys, variables, and that no other byte changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from musify.engine.document import Conversion, convert_build
from musify.languages.recognition import language_of
from musify.languages.surroundings import BuildSurroundings, Settings
from musify.rules.book import RuleBook
from musify.source.document import Document
from musify.source.json import JsonError, read_json
from tests.commands import contents, musify, write


def converted(rules: RuleBook, path: str, text: str | bytes, settings: Settings | None = None) -> Conversion:
    data = text if isinstance(text, bytes) else text.encode()
    language = language_of(path)
    assert language is not None
    return convert_build(Document(data), language, rules, settings or Settings(), BuildSurroundings(path))


UNCHANGED = {
    "a name": ("a.yaml", "name: cuda\nproject: nccl\n"),
    "a word in a text": ("a.yaml", "description: runs on cuda and nccl only\n"),
    "a device in a text": ("a.json", '{"device_note": "cuda", "text": "device: cuda"}\n'),
    "a longer word": ("a.yaml", "device: cuda_x\nbackend: nccl-like\n"),
    "another backend": ("a.yaml", "backend: cuda\nattn_backend: flash\n"),
    "a device of another kind": ("a.json", '{"device": "gpu", "accelerator": "gpu"}\n'),
    "a path": ("a.yaml", "device: /dev/cuda\n"),
    "a key": ("a.json", '{"cuda": 1, "nccl": {"device": 0}}\n'),
    "a comment": ("a.yaml", "# device: cuda\n"),
    "a comment in JSON": ("a.json", '{ // "device": "cuda"\n"x": 1 }\n'),
    "a backend with a closed list": ("a.json", '{"comm_backend_name": "nccl"}\n'),
    "Lightning's accelerator": ("a.yaml", "trainer:\n  accelerator: cuda\n"),
    "a container's runtime": ("a.yaml", "services:\n  a:\n    runtime: nvidia\n"),
    "an argument of another option": ("a.sh", "python a.py --name cuda --tag nccl cuda\n"),
    "a card that is handed over": ("a.sh", "docker run --device /dev/nvidia0 x\n"),
    "a record": ("a.json", '{"mean": 1, "device": "cuda:0", "hardware": "NVIDIA H100"}\n'),
    "a table of records": ("a.json", '{"x": [' + ", ".join(['{"device": "cuda"}'] * 40) + "]}"),
    "an escape": ("a.json", '{"device": "\\u0063uda"}\n'),
    "a variable without counterpart": ("a.sh", "export CUDA_DEVICE_ORDER=PCI_BUS_ID TORCH_NCCL_BLOCKING_WAIT=1\n"),
}  # fmt: skip


@pytest.mark.parametrize(("path", "text"), UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(rules: RuleBook, path: str, text: str) -> None:
    conversion = converted(rules, path, text)
    assert conversion.new_data.decode() == text
    assert not [item for item in conversion.findings if item.rule_id in ("MUS560", "MUS902")]


TOO_DEEP = {
    "mappings": ("a.yaml", "".join(f"{'  ' * depth}a:\n" for depth in range(400)) + f"{'  ' * 400}device: cuda\n"),
    "lists of lists": ("a.yaml", f"{'- ' * 400}cuda\n"),
    "lists below their keys": (
        "a.yaml",
        "".join(f"{'  ' * depth}- a:\n" for depth in range(300)) + "  " * 300 + "- cuda",
    ),
    "lists in one line": ("a.yaml", f"device: {'[' * 20000}cuda{']' * 20000}\n"),
    "a notebook": ("a.ipynb", f'{{"nbformat": 4, "cells": {"[" * 50000}"torch.cuda"{"]" * 50000}}}'),
}


@pytest.mark.parametrize(("path", "text"), TOO_DEEP.values(), ids=TOO_DEEP.keys())
def test_what_is_nested_too_deeply_has_a_finding(rules: RuleBook, path: str, text: str) -> None:
    conversion = converted(rules, path, text)
    assert conversion.new_data.decode() == text
    assert [item.rule_id for item in conversion.findings] == ["MUS901"]


def test_deep_nesting_that_can_be_read(rules: RuleBook) -> None:
    text = "".join(f"{'  ' * depth}- a:\n" for depth in range(50)) + f"{'  ' * 51}device: cuda\n"
    assert converted(rules, "a.yaml", text).new_data.decode() == text.replace("cuda", "musa")


CHANGED = {
    "YAML": ("a.yaml", "device: cuda\n", "device: musa\n"),
    "quotes": ("a.yml", "device: 'cuda:0' # cuda\n", "device: 'musa:0' # cuda\n"),
    "deeper": ("a.yaml", "model:\n  eval_device: \"cuda\"\n  n: 1\n", "model:\n  eval_device: \"musa\"\n  n: 1\n"),
    "a list": ("a.yaml", "devices:\n  - cuda:0\n  - cpu\n", "devices:\n  - musa:0\n  - cpu\n"),
    "a list in one line": ("a.yaml", "devices: [cuda:0, cuda:1]\n", "devices: [musa:0, musa:1]\n"),
    "several devices": ("a.yaml", "device: cuda:0,1\n", "device: musa:0,1\n"),
    "a backend": ("a.yaml", "dist:\n  backend: nccl\n", "dist:\n  backend: mccl\n"),
    "pairs": ("a.yaml", 'backend: "cpu:gloo,cuda:nccl"\n', 'backend: "cpu:gloo,musa:mccl"\n'),
    "arguments": ("a.yaml", "args:\n  - --device\n  - cuda\n  - --backend=nccl\n", "args:\n  - --device\n  - musa\n  - --backend=mccl\n"),
    "JSON": ("a.json", '{"device": "cuda", "x": [1, 2],\n\t"dist_backend":"nccl"}', '{"device": "musa", "x": [1, 2],\n\t"dist_backend":"mccl"}'),
    "a map of devices": ("a.json", '{"device_map": {"": "cuda:0"}}', '{"device_map": {"": "musa:0"}}'),
    "arguments in JSON": ("a.json", '{"args": ["--device", "cuda", "--dist-backend", "nccl"]}', '{"args": ["--device", "musa", "--dist-backend", "mccl"]}'),
    "JSON with comments": ("a.json", '{\n  // cuda\n  "device": "cuda", /* nccl */\n}\n', '{\n  // cuda\n  "device": "musa", /* nccl */\n}\n'),
    "CRLF and a mark": ("a.json", '\ufeff{\r\n "é\\u00e9": "\\u00e9",\r\n "device": "cuda"}', '\ufeff{\r\n "é\\u00e9": "\\u00e9",\r\n "device": "musa"}'),
    "TOML": ("a.toml", '[train]\ndevice = "cuda"\n', '[train]\ndevice = "musa"\n'),
    "INI": ("a.ini", "[train]\ndevice = cuda\nname = cuda\n", "[train]\ndevice = musa\nname = cuda\n"),
    "an option": ("a.sh", "python a.py --device cuda:1 --x\n", "python a.py --device musa:1 --x\n"),
    "an option with its value": ("a.sh", 'torchrun a.py --dist-backend="nccl"\n', 'torchrun a.py --dist-backend="mccl"\n'),
    "Hydra": ("a.sh", "python a.py trainer.device=cuda +model.device='cuda:0' x=cuda\n", "python a.py trainer.device=musa +model.device='musa:0' x=cuda\n"),
    "a variable": ("a.sh", "DEVICE=cuda\nARGS=\"--device cuda --n 1\"\n", "DEVICE=musa\nARGS=\"--device musa --n 1\"\n"),
    "a script in YAML": ("a.yaml", "command: python a.py --device cuda\n", "command: python a.py --device musa\n"),
    "variables": ("a.sh", "export NCCL_DEBUG=INFO CUDA_VISIBLE_DEVICES=0\n", "export MCCL_DEBUG=INFO MUSA_VISIBLE_DEVICES=0\n"),
    "variables of an environment": (".env", "NCCL_IB_GID_INDEX=3\nCUDA_LAUNCH_BLOCKING=1\n", "MCCL_IB_GID_INDEX=3\nMUSA_LAUNCH_BLOCKING=1\n"),
    "variables of Kubernetes": ("a.yaml", "env:\n- name: NCCL_DEBUG\n  value: INFO\n", "env:\n- name: MCCL_DEBUG\n  value: INFO\n"),
    "variables in JSON": ("a.json", '{"env": {"CUDA_VISIBLE_DEVICES": "0,1", "NCCL_DEBUG": "WARN"}}', '{"env": {"MUSA_VISIBLE_DEVICES": "0,1", "MCCL_DEBUG": "WARN"}}'),
    "variables in Python": ("a.py", "import os\nos.environ['NCCL_DEBUG'] = '1'\n", "import os\nos.environ['MCCL_DEBUG'] = '1'\n"),
}  # fmt: skip


@pytest.mark.parametrize(("path", "text", "expected"), CHANGED.values(), ids=CHANGED.keys())
def test_changed(rules: RuleBook, path: str, text: str, expected: str) -> None:
    assert converted(rules, path, text).new_data.decode() == expected
    assert not converted(rules, path, expected).edits


def ids(conversion: Conversion) -> list[tuple[int, str]]:
    return [(conversion.document.position(item.span.start).line, item.rule_id) for item in conversion.findings]


REPORTED = {
    "a value that is changed": ("a.yaml", "device: cuda\n", [(1, "MUS560")]),
    "a value that stays": ("a.json", '{"comm_backend_name": "nccl"}', [(1, "MUS561")]),
    "a key": ("a.yaml", "x: 1\ncuda_aware: true\n", [(2, "MUS562")]),
    "a word that nothing explains": ("a.yaml", "x: cuda\n", [(1, "MUS504")]),
    "text": ("a.json", '{"help": "this runs on cuda only"}', [(1, "MUS546")]),
    "a variable by convention": ("a.sh", "export NCCL_SOCKET_IFNAME=eth0\n", [(1, "MUS564")]),
    "a variable without counterpart": ("a.sh", "export CUDA_DEVICE_ORDER=PCI_BUS_ID\n", [(1, "MUS503")]),
    "no JSON": ("a.json", '{"device": "cuda"', [(1, "MUS504"), (1, "MUS563")]),
    "a record": ("a.json", '{"device": "cuda", "card": "NVIDIA H100"}', [(1, "MUS565"), (1, "MUS565")]),
    "a template": ("a.json", '{"a": {{ b }}, "device": "cuda"}', [(1, "MUS504"), (1, "MUS563")]),
}  # fmt: skip


@pytest.mark.parametrize(("path", "text", "expected"), REPORTED.values(), ids=REPORTED.keys())
def test_reported(rules: RuleBook, path: str, text: str, expected: list[tuple[int, str]]) -> None:
    assert sorted(ids(converted(rules, path, text))) == expected


def test_unattested_variables_can_stay(rules: RuleBook) -> None:
    conversion = converted(rules, "a.sh", "export NCCL_SOCKET_IFNAME=eth0\n", Settings(unattested="keep"))
    assert not conversion.edits and ids(conversion) == [(1, "MUS564")]


def test_large_json_is_data(tmp_path: Path) -> None:
    large = '{"device": "cuda", "x": "' + "a" * 1_000_000 + '"}'
    write(tmp_path / "in", {"large.json": large, "small.json": '{"device": "cuda"}'})
    assert musify("convert", tmp_path / "in", "-q", "-o", tmp_path / "out").code == 0
    after = contents(tmp_path / "out")
    assert after["large.json"].decode() == large and after["small.json"] == b'{"device": "musa"}'


NO_JSON = {
    "a bracket too few": ('{"a": [1, 2}', 11),
    "a bracket too many": ("{}}", 2),
    "a value too many": ("1 2", 2),
    "no key": ("{1: 2}", 1),
    "a comma for a value": ('{"a":, 1}', 5),
    "an open string": ('{"a', 1),
    "an open bracket": ('  {"a": 1', 2),
}


@pytest.mark.parametrize(("text", "offset"), NO_JSON.values(), ids=NO_JSON.keys())
def test_no_json(text: str, offset: int) -> None:
    with pytest.raises(JsonError) as error:
        read_json(text.encode())
    assert error.value.offset == offset


def test_strings_of_json() -> None:
    data = '{"a": "x\\u00e9\\ud83d\\ude00\\n\\"é", "b": [true, -1.5e3, null]}'.encode()
    file = read_json(data)
    value = file.member(file.root, b"a")
    assert value is not None
    text = file.string(value)
    assert text.text.decode() == 'xé\U0001f600\n"é'
    place = text.locate(1, 3)
    assert place is not None and data[slice(*place)] == b"\\u00e9"
    assert text.locate(2, 3) is None
    listed = file.member(file.root, b"b")
    assert listed is not None and [file.text(item) for item in listed.items] == [b"true", b"-1.5e3", b"null"]
