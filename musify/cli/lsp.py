"""`musify lsp`."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from musify.cli.options import rules_of, settings_of, shared_options, without
from musify.cli.running import check_ids, selection_of
from musify.model import ExitCode, MusifyError
from musify.project.config import find_config

if TYPE_CHECKING:
    from musify.lsp.project import Choices

# What a run of its own needs, and an editor has in another form.
_OTHERWISE = ("root", "keep_names", "semantic", "compile_commands", "cuda_include", "jobs", "report", "quiet")


@without(*_OTHERWISE)
@click.command()
@click.option("--stdio", is_flag=True, help="Speak over stdin and stdout, which is what happens without it too.")
@click.option("--hints/--no-hints", default=True, help="Mark what would change, besides findings.  [default: hints]")
@shared_options
@click.pass_context
def lsp(context: click.Context, /, **_: Any) -> ExitCode:
    """Serve an editor: findings as you type, quick fixes, explanations (needs the extra `lsp`).

    Settings come from the command line, then from musify.toml or pyproject.toml of the folder that is open.
    """
    try:
        from musify.lsp.server import make_server
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        raise MusifyError("musify lsp needs pygls: pip install 'cuda-musify[lsp]'") from error
    given = {
        name: value
        for name, value in context.params.items()
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    server = make_server(partial(_choices, context.params, given), hints=context.params["hints"])
    # It waits for its input in a thread that no KeyboardInterrupt reaches; it writes no file, so it may just end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    server.start_io()
    return ExitCode.DONE


def _choices(defaults: dict[str, Any], given: dict[str, Any], folder: Path) -> Choices:
    """What holds for a project: the command line first, then its configuration. Raises MusifyError."""
    from musify.lsp.project import Choices

    options = {**defaults, **find_config(folder), **given, "quiet": False, "annotate": False}
    check_ids(options)
    return Choices(
        rules_of(options), settings_of(options), selection_of(options), options["lang"],
        tuple(options["select"]), tuple(options["ignore"]),
        tuple(Path(path) for path in options["rules"]),
    )  # fmt: skip
