"""docs/build-files.md: how build files are read, and what becomes of flags, libraries, variables, paths and tools."""

from __future__ import annotations

import re

from musify.languages.build.facts import words
from musify.languages.build.flag_table import FlagRule, all_rules
from musify.rules.book import RuleBook
from musify.rules.shipped import shipped_tables

_SYSTEMS = """\
# Build files

Generated from rules/build and rules/api by tools/make_docs.py.

A build file that does not mention CUDA is not looked at. In the others a word is changed only where the grammar says
what it does; layout, comments, quotes and variables stay, and every other CUDA word has a finding. Two things hold in
every language: architectures are a set (`-gencode` for 70 and 80 becomes the target's `--offload-arch`, once), and
variables of the project's own keep their names (MUS532), for people set them on the command line, in CI and in other
files. The environment's variables (`CUDA_HOME`) are renamed wherever they stand.

| files | read how | changed |
|---|---|---|
| CMake | a lossless reader of our own | [see there](cmake.md) |
| makefiles, and what they include | a reader of our own, line by line as make does; commands with tree-sitter-bash | \
compilers, flags in variables and commands, `-arch=$(ARCH)` and what `ARCH` holds, `$(foreach sm,$(SMS),...)`, \
comparisons with nvcc, rules and patterns for `.cu`, libraries, folders; variables are followed through `include` |
| shell scripts | tree-sitter-bash | commands, flags in variables and arrays, loops over architectures, \
`make ARCH=...`, tools, look-ups (`command -v nvcc`) |
| Dockerfiles | a reader of our own; `RUN` as the shell, lists in JSON | images, `ENV` and `ARG`, commands |
| YAML of GitHub, GitLab and other CI, compose, conda | tree-sitter-yaml; scripts as the shell unless another is named \
| commands, variables, images, a matrix of architectures |
| configurations in YAML, JSON, TOML and INI; options of commands | tree-sitter-yaml and -toml, a JSON reader that \
keeps places | `device: cuda`, `"backend": "nccl"`, `--device cuda`, `trainer.device=cuda:0`: values by their key, \
never by the word; variables of the environment |
| Jupyter notebooks | the JSON reader; Python of all code cells together, shell lines and written files in their \
language | what Python, the shell and CUDA sources get; every other byte stays |
| compile_commands.json | texts of the JSON; `command` as the shell | compilers, flags, files |
| Python, Bazel, Meson, xmake, others | [what to do by hand there](build-systems.md) | flags, files, paths, libraries |
"""
# Sources name sections of the notes that the rules were written from.
_FACTS = re.compile(r"FACTS [\d., ]+(?:: |\Z)")
_ACTIONS = {
    "architecture": "`--offload-arch=mp_XX` for each architecture of the target",
    "unwrap": "its value, word by word",
    "linker": "`-Wl,...`",
    "library": "`-l` with MUSA's name",
    "macro": "the same, with MUSA's name of the macro",
    "header": "the same, with MUSA's header",
    "same": "the same",
    "none": "stays, with an error",
    "drop": "dropped",
}


def build_files_page(rules: RuleBook) -> str:
    """The whole page."""
    parts = [_SYSTEMS, _flags(), _libraries(rules), _words(), _rest()]
    return "\n".join(parts)


def _flags() -> str:
    lines = ["## Flags\n", "What is on no list passes as it is: mcc is a Clang and takes a host compiler's flags.\n"]
    lines += ["| nvcc | mcc | why | evidence |", "|---|---|---|---|"]
    lines += (_flag(rule) for rule in all_rules())
    return "\n".join(lines) + "\n"


def _flag(rule: FlagRule) -> str:
    value = {"nothing": "", "value": " …", "joined": " …"}[rule.takes]
    if rule.pattern is not None and not set(rule.pattern.pattern) & set(b".*\\[("):
        value = f" {rule.pattern.pattern.decode()}".replace("|", "\\|")
    names = ", ".join(f"`{spelling.decode()}`" for spelling in rule.spellings)
    mark = " (reported)" if rule.review or (rule.action == "drop" and rule.severity is not None) else ""
    return f"| {names}{value} | {_target(rule)}{mark} | {_why(rule)} | {rule.evidence or '-'} |"


def _target(rule: FlagRule) -> str:
    since = f"from SDK {rule.since_sdk}: " if rule.since_sdk else ""
    if rule.values:
        texts = [
            f"{old.decode()}: {'`' + new.decode() + '`' if new else 'dropped'}" for old, new in rule.values.items()
        ]
        return "; ".join(texts)
    if rule.action != "rename":
        return since + _ACTIONS[rule.action]
    return since + f"`{rule.to.decode().replace('{}', '…')}`"


def _why(rule: FlagRule) -> str:
    return (rule.why or _FACTS.sub("", rule.source)).replace("|", "\\|")


def _libraries(rules: RuleBook) -> str:
    known = [f"`{old.decode()}` `{new.decode()}`" for old, (new, _) in sorted(rules.link_names.items()) if new]
    missing = [f"`{old.decode()}`" for old, (new, _) in sorted(rules.link_names.items()) if not new]
    runtime = shipped_tables("build")["flags.toml"]["linking"]
    texts = (
        "## Libraries\n",
        "`-lcublas`, `libcublas.so`, and the same with `_static`: " + ", ".join(known) + ".\n",
        "No library to link is known, so that these stay with an error: " + ", ".join(missing) + ".\n",
        f"nvcc links the runtime by itself; a link that does not name it gets `{runtime['runtime']}` (MUS531).\n",
    )
    return "\n".join(texts)


def _words() -> str:
    lines = ["## Variables, paths, tools\n", "| CUDA | MUSA | kind | evidence |", "|---|---|---|---|"]
    lines += (
        f"| `{word.cuda.decode()}` | {f'`{word.musa.decode()}`' if word.musa else 'none known'} | {word.kind} "
        f"| {word.evidence.value} |"
        for word in words().values()
        if word.kind in ("variable", "path", "tool")
    )
    return "\n".join(lines) + "\n"


def _rest() -> str:
    tables = shipped_tables("build")["containers.toml"]
    lines = ["## Images, packages, steps of CI\n"]
    for image in tables["image"]:
        names = ", ".join(f"`{name}`" for name in image["cuda"].split())
        tags = "; ".join(f"SDK {sdk}: `{image['musa']}:{tag}`" for sdk, tag in image.get("tags", {}).items())
        lines.append(f"* {names}: {tags or 'reported (MUS534)'}. Source: {image['source']}.")
    lines.append(f"* Packages and actions that bring CUDA are reported (MUS533): {tables['installers']['why']}.")
    lines.append(f"* `docker run --gpus` and its like are reported: {tables['devices']['why']}.")
    return "\n".join(lines) + "\n"
