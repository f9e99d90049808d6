"""Rules and macros of CUDA's in Bazel files: each has a finding that says what to write instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from musify.languages.bazel.facts import known, repositories
from musify.languages.python.module import PythonModule
from musify.languages.python.references import Call
from musify.model import Finding, Span

# Calls that bring in a repository, and the arguments that name it; where they are left out, the first does.
_BRINGS = frozenset(
    "load bazel_dep http_archive git_repository use_repo use_extension single_version_override archive_override "
    "git_override local_path_override".split()
)
_NAMES = ("name", "module_name")


def find_calls(module: PythonModule) -> Iterator[Finding]:
    """Findings for calls of CUDA's rules, for what brings them in, and for questions whether CUDA is wanted."""
    names = loaded_names(module)
    for call in module.calls:
        name, node = call.method_name, call.method
        meant = names.get(name, name)
        if node is None or meant not in known():
            continue
        if meant not in _BRINGS:
            yield known()[meant].at(Span(node.start_byte, node.end_byte), name)
        elif brings_cuda(module, call):
            yield known()[meant].at(call.span, _repository(module, call))


def brings_cuda(module: PythonModule, call: Call) -> bool:
    """Whether a call brings in a repository of CUDA's, or what is defined in one."""
    return call.method_name in _BRINGS and _repository(module, call) in repositories()


def loaded_names(module: PythonModule) -> Mapping[str, str]:
    """What names of the file mean: CUDA's own name for one that is loaded from CUDA's rules, under any alias.

    Empty for macros of the project: the file defines them, or loads them from elsewhere.
    """
    meanings = {
        (name.text or b"").decode("utf-8", "replace"): ""
        for node in module.of_type("function_definition")
        if (name := node.child_by_field_name("name")) is not None
    }
    for call in module.calls:
        if call.method_name == "load":
            is_cuda = brings_cuda(module, call)
            for number, argument in enumerate(call.arguments[1:], 1):
                loaded = _text(module, call, number)
                meanings[argument.name or loaded] = loaded if is_cuda else ""
    return meanings


def _repository(module: PythonModule, call: Call) -> str:
    """The repository that a call names: `rules_cuda` for `@rules_cuda//cuda:defs.bzl`."""
    named = next((n for n, item in enumerate(call.arguments) if item.name in _NAMES), 0)
    return _text(module, call, named).lstrip("@").partition("//")[0]


def _text(module: PythonModule, call: Call, number: int) -> str:
    literal = module.string(call.arguments[number].value) if number < len(call.arguments) else None
    return literal.text.decode("utf-8", "replace") if literal else ""
