"""The command line. Commands parse options, call the package and print; a module is loaded when its command runs."""

from __future__ import annotations

import gc
import importlib
import os
import sys

import click

from musify import __version__
from musify.engine.processes import collect_seldom
from musify.model import ExitCode, MusifyError

_COMMANDS = {
    "convert": "Convert CUDA sources to MUSA.",
    "check": "Report what convert would change or could not, and change nothing.",
    "verify": "Prove a conversion: recorded edits, preprocessed tokens, compilers.",
    "assess": "Say how much CUDA there is, what goes by itself, and where to start.",
    "explain": "Explain a CUDA name or a finding id.",
    "triage": "Group the errors of a build log by cause, and say what to do.",
    "header": "Write a header that lets one source build for CUDA and MUSA.",
    "text": "Take musify-text's place: its options, on musify's engine.",
    "lsp": "Serve an editor: findings as you type, quick fixes, explanations.",
    "rules": "Compare the rules with the headers that are installed.",
}


class _Commands(click.Group):
    """Loads a command's module only when it is asked for, so that each starts quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"musify.cli.{cmd_name}")
        command = getattr(module, cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="musify")
def cli() -> None:
    """Migrate CUDA source to MUSA: change what is understood, report everything that is left."""


def _drop_stdout() -> None:
    """Let what is still buffered go nowhere, so that the interpreter does not fail on it at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Run the command line; every error a user can cause is one line on stderr and exit code 2."""
    collect_seldom()
    try:
        code = cli.main(standalone_mode=False)
        if sys.stdout is not None and not sys.stdout.closed:  # the language server closes it
            sys.stdout.flush()
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "musify"
        click.echo(f"musify: {error.format_message()} (see `{command} --help`)", err=True)
        code = ExitCode.ERROR
    except click.ClickException as error:
        click.echo(f"musify: {error.format_message()}", err=True)
        code = ExitCode.ERROR
    except click.Abort:
        click.echo("musify: interrupted", err=True)
        code = ExitCode.ERROR
    except MusifyError as error:
        click.echo(f"musify: {error}", err=True)
        code = ExitCode.ERROR
    except BrokenPipeError:
        # The reader of our output went away; there is nobody left to tell.
        _drop_stdout()
        code = ExitCode.ERROR
    except OSError as error:
        click.echo(f"musify: cannot write the output: {error.strerror or error}", err=True)
        _drop_stdout()
        code = ExitCode.ERROR
    except Exception as error:
        if os.environ.get("MUSIFY_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}"
        click.echo(f"musify: internal error, please report it ({what}); MUSIFY_DEBUG=1 shows where", err=True)
        code = ExitCode.ERROR
    # The interpreter would look for cycles among all that is left; the process is about to end.
    gc.freeze()
    sys.exit(int(code or 0))
