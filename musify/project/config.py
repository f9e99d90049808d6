"""Configuration: `musify.toml`, or `[tool.musify]` of pyproject.toml, from the first PATH upward."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from musify.model import MusifyError
from musify.rules.loader import read_toml

# Keys as they are written, the option they stand for, and their type.
_KEYS: dict[str, tuple[str, type[Any]]] = {
    "arch": ("arch", list),
    "sdk": ("sdk", str),
    "rules": ("rules", list),
    "include": ("include", list),
    "exclude": ("exclude", list),
    "gitignore": ("gitignore", bool),
    "unattested": ("unattested", str),
    "cmake": ("cmake", str),
    "torch-style": ("torch_style", list),
    "python-mode": ("python_mode", str),
    "keep-names": ("keep_names", bool),
    "comments": ("comments", bool),
    "semantic": ("semantic", bool),
    "compile-commands": ("compile_commands", str),
    "cuda-include": ("cuda_include", list),
    "jobs": ("jobs", int),
    "lang": ("lang", str),
    "select": ("select", list),
    "ignore": ("ignore", list),
    "baseline": ("baseline", str),
    "fail-on": ("fail_on", str),
}

_KINDS: dict[type[Any], str] = {
    list: "a list of strings",
    str: "a string in quotes",
    bool: "true or false",
    int: "a number",
}

_OWN = "musify.toml"


def find_config(start: Path) -> dict[str, Any]:
    """The settings that hold for `start`, by option name; empty where no file sets any.

    Paths of files and folders are made relative to the configuration's folder. Raises MusifyError for a bad file.
    """
    path = config_file(start)
    if path is None:
        return {}
    table = read_toml(path)
    if path.name != _OWN:
        shared = table.get("tool")
        table = shared.get("musify", {}) if isinstance(shared, dict) else {}
    if not isinstance(table, dict):
        raise MusifyError(f"{path}: [tool.musify] must be a table of settings")
    return _checked(path, table)


def config_file(start: Path) -> Path | None:
    """The file whose settings hold for `start`: the nearest one, in its folder or above."""
    folder = Path(os.path.realpath(start))  # which, unlike resolve(), takes a link that leads to itself
    if not folder.is_dir():
        folder = folder.parent
    for candidate in (folder, *folder.parents):
        own = candidate / _OWN
        if own.is_file():
            return own
        shared = candidate / "pyproject.toml"
        if shared.is_file() and "[tool.musify" in shared.read_text(encoding="utf-8", errors="replace"):
            return shared
    return None


def _checked(path: Path, table: dict[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for key, value in table.items():
        spelled = key.replace("_", "-")  # keep_names is keep-names
        if spelled not in _KEYS:
            known = ", ".join(sorted(_KEYS))
            raise MusifyError(f"{path}:{_line(path, key)}: unknown setting {key!r}; known are {known}")
        name, kind = _KEYS[spelled]
        if kind is list and isinstance(value, str):
            value = [value]
        well_formed = isinstance(value, kind) and (kind is not list or all(isinstance(item, str) for item in value))
        if not well_formed:
            raise MusifyError(f"{path}:{_line(path, key)}: {key} must be {_KINDS[kind]}")
        if name in ("rules", "cuda_include"):
            value = [str(path.parent / str(item)) for item in list(value)]
        elif name in ("baseline", "compile_commands"):
            value = str(path.parent / str(value))
        options[name] = value
    return options


def _line(path: Path, key: str) -> int:
    text = path.read_text(encoding="utf-8", errors="replace")
    match = re.search(rf"^[ \t]*\"?{re.escape(key)}\"?[ \t]*=", text, re.M)
    return text.count("\n", 0, match.start()) + 1 if match else 1
