"""Options that several commands share, and what they add up to."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from musify.languages.surroundings import PYTHON_MODES, Settings
from musify.model import ARCHITECTURES, DEFAULT_TARGET, SDK_VERSIONS, MusifyError, Target
from musify.project.config import config_file, find_config
from musify.rules import book
from musify.rules.book import RuleBook
from musify.rules.findings import LANGUAGES

if TYPE_CHECKING:
    from musify.clang.run import SemanticRun

Command = TypeVar("Command", bound=Callable[..., Any])

_SHARED = (
    click.option("--arch", multiple=True, type=click.Choice(ARCHITECTURES),
                 help="Target architecture; repeatable. Default: all."),
    click.option("--sdk", type=click.Choice(SDK_VERSIONS), default=DEFAULT_TARGET.sdk, show_default=True,
                 help="Target SDK version."),
    click.option("--rules", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
                 help="Rule file of your own; wins over ours."),
    click.option("--root", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
                 help="The project that PATHs belong to: its other files are read, and not worked on."),
    click.option("--include", multiple=True, metavar="GLOB", help="Work only on files that match (as in .gitignore)."),
    click.option("--exclude", multiple=True, metavar="GLOB", help="Do not work on files that match."),
    click.option("--gitignore/--no-gitignore", default=True,
                 help="Pass over what .gitignore names.  [default: gitignore]"),
    click.option("--unattested", type=click.Choice(["rename", "keep"]), default="rename", show_default=True,
                 help="What to do with names whose counterpart nobody has been seen to write."),
    click.option("--cmake", type=click.Choice(["findmusa", "cxx", "language"]), default="findmusa", show_default=True,
                 help="How CMake compiles device code; docs/cmake.md."),
    click.option("--torch-style", multiple=True, metavar="NAME",
                 help="Another spelling in PyTorch's C++; repeatable; docs/pytorch.md."),
    click.option("--python-mode", type=click.Choice(PYTHON_MODES), default=PYTHON_MODES[0], show_default=True,
                 help="What PyTorch in Python is ported to; torchada: nothing is changed, only reported."),
    click.option("--keep-names", is_flag=True, help="Rename no file."),
    click.option("--comments", is_flag=True, help="Rename in comments too."),
    click.option("--semantic", is_flag=True,
                 help="Ask libclang about names and constants (needs the extra `semantic`)."),
    click.option("--compile-commands", type=click.Path(path_type=Path), metavar="FILE",
                 help="(with --semantic) How each source is compiled: compile_commands.json."),
    click.option("--cuda-include", multiple=True, type=click.Path(path_type=Path), metavar="DIR",
                 help="(with --semantic) Include folder of a CUDA toolkit; repeatable."),
    click.option("-j", "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1,
                 help="Processes.  [default: one a core]"),
    click.option("--report", multiple=True, metavar="FORMAT[:PATH]",
                 help="Write a report (csv, diff, github, json, ...); repeatable."),
    click.option("--select", multiple=True, metavar="ID", help="Report only these findings; MUS3 means all of MUS3xx."),
    click.option("--ignore", multiple=True, metavar="ID", help="Do not report these findings."),
    click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of messages."),
    click.option("-q", "--quiet", is_flag=True, help="No summary and no progress."),
)  # fmt: skip

_reverse = click.option("--reverse", is_flag=True, help="From MUSA to CUDA: the way back; docs/reverse.md.")
_SEMANTIC = ("compile_commands", "cuda_include")


def shared_options(command: Command) -> Command:
    """Add the options that convert and check share."""
    for option in reversed(_SHARED):
        command = option(command)
    return command


def reverse_option(command: Command) -> Command:
    """Add --reverse, for commands that can go the other way."""
    return _reverse(command)


def without(*names: str) -> Callable[[click.Command], click.Command]:
    """Take shared options that mean nothing to a command from it."""

    def take(command: click.Command) -> click.Command:
        command.params = [parameter for parameter in command.params if parameter.name not in names]
        return command

    return take


def apply_config(context: click.Context, paths: Sequence[Path]) -> None:
    """Let the configuration file set what the command line left open. Raises MusifyError for a bad file.

    UsageError for options of --semantic without it; a configuration may hold them for when it is asked for.
    """
    settings = find_config(paths[0] if paths else Path())
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in settings and context.get_parameter_source(name) is click.core.ParameterSource.DEFAULT:
            context.params[name] = _setting(context, parameter, settings[name], paths)
    if context.params.get("reverse") and context.params["semantic"]:
        raise click.UsageError("--semantic looks for CUDA's names: it does not go with --reverse")
    for name in _SEMANTIC:
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and not context.params["semantic"]:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --semantic")


def _setting(context: click.Context, parameter: click.Parameter, value: object, paths: Sequence[Path]) -> object:
    """The value of a setting as its option has it. Raises MusifyError, which names the configuration file."""
    try:
        return parameter.type_cast_value(context, value)
    except click.BadParameter as error:
        key = (parameter.name or "").replace("_", "-")
        raise MusifyError(f"{config_file(paths[0] if paths else Path())}: {key}: {error.message}") from error


def semantics_of(options: dict[str, Any], rules: RuleBook) -> SemanticRun | None:
    """What --semantic and its companions ask for; None without it. Raises MusifyError."""
    if not options["semantic"]:
        return None
    from musify.clang import run

    commands = options["compile_commands"]
    folders = [Path(folder) for folder in options["cuda_include"]]
    return run.prepare(Path(commands) if commands else None, folders, rules.all_headers())


def settings_of(options: dict[str, Any]) -> Settings:
    """What the options mean for the conversion itself."""
    target = Target(tuple(options["arch"]) or ARCHITECTURES, options["sdk"])
    annotate = options.get("annotate", False)
    return Settings(
        target, options["unattested"], options["comments"], annotate, options["cmake"],
        options.get("reverse", False), options.get("names_only", False), options.get("python_mode", PYTHON_MODES[0]),
    )  # fmt: skip


def rules_of(options: dict[str, Any]) -> RuleBook:
    """The rules that the options ask for; what is odd about the user's own is said on stderr. Raises MusifyError."""
    reverse, names_only = options.get("reverse", False), options.get("names_only", False)
    files, styles = [Path(path) for path in options["rules"]], options.get("torch_style", ())
    rules = book.load(files, styles, reverse=reverse, shipped=not names_only)
    for warning in () if options.get("quiet") else rules.warnings:
        click.echo(f"musify: {warning}", err=True)
    return rules
