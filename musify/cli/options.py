"""Options that several commands share, and what they add up to."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from musify.languages.surroundings import Settings
from musify.model import ARCHITECTURES, DEFAULT_TARGET, SDK_VERSIONS, Target
from musify.project.config import find_config
from musify.rules.findings import LANGUAGES

Command = TypeVar("Command", bound=Callable[..., Any])

_SHARED = (
    click.option("--arch", multiple=True, type=click.Choice(ARCHITECTURES),
                 help="Target architecture; repeatable. Default: all."),
    click.option("--sdk", type=click.Choice(SDK_VERSIONS), default=DEFAULT_TARGET.sdk, show_default=True,
                 help="Target SDK version."),
    click.option("--rules", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
                 help="Rule file of your own; wins over ours."),
    click.option("--include", multiple=True, metavar="GLOB", help="Work only on files that match (as in .gitignore)."),
    click.option("--exclude", multiple=True, metavar="GLOB", help="Do not work on files that match."),
    click.option("--gitignore/--no-gitignore", default=True,
                 help="Pass over what .gitignore names.  [default: gitignore]"),
    click.option("--unattested", type=click.Choice(["rename", "keep"]), default="rename", show_default=True,
                 help="What to do with names whose counterpart nobody has been seen to write."),
    click.option("--keep-names", is_flag=True, help="Rename no file."),
    click.option("--comments", is_flag=True, help="Rename in comments too."),
    click.option("-j", "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1,
                 help="Processes.  [default: one a core]"),
    click.option("--report", multiple=True, metavar="FORMAT[:PATH]", help="Write a report (json, text); repeatable."),
    click.option("--select", multiple=True, metavar="ID", help="Report only these findings; MUS3 means all of MUS3xx."),
    click.option("--ignore", multiple=True, metavar="ID", help="Do not report these findings."),
    click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of messages."),
    click.option("-q", "--quiet", is_flag=True, help="No summary and no progress."),
)  # fmt: skip


def shared_options(command: Command) -> Command:
    """Add the options that convert and check share."""
    for option in reversed(_SHARED):
        command = option(command)
    return command


def without(*names: str) -> Callable[[click.Command], click.Command]:
    """Take shared options that mean nothing to a command from it."""

    def take(command: click.Command) -> click.Command:
        command.params = [parameter for parameter in command.params if parameter.name not in names]
        return command

    return take


def apply_config(context: click.Context, paths: Sequence[Path]) -> None:
    """Let the configuration file set what the command line left open. Raises MusifyError for a bad file."""
    settings = find_config(paths[0] if paths else Path())
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in settings and context.get_parameter_source(name) is click.core.ParameterSource.DEFAULT:
            context.params[name] = parameter.type_cast_value(context, settings[name])


def settings_of(options: dict[str, Any]) -> Settings:
    """What the options mean for the conversion itself."""
    target = Target(tuple(options["arch"]) or ARCHITECTURES, options["sdk"])
    annotate = options.get("annotate", False)
    return Settings(target, options["unattested"], options["comments"], annotate)
