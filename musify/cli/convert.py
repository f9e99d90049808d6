"""`musify convert`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from musify.cli import running
from musify.cli.options import apply_config, reverse_option, rules_of, semantics_of, settings_of, shared_options
from musify.engine.document import convert_source
from musify.engine.results import FileResult, RunResult, record_conversion
from musify.engine.semantic import settle
from musify.languages.recognition import language_of
from musify.languages.registry import Language
from musify.languages.surroundings import Surroundings
from musify.model import ExitCode, MusifyError, Severity
from musify.project.output import Destination, DryRun, Folder, InPlace, prepare_folder
from musify.project.survey import survey_source
from musify.report.content import one_line
from musify.source.document import Document, NotText


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Write a complete tree to DIR.")
@click.option("-i", "--in-place", is_flag=True, help="Change the files themselves.")
@click.option("--force", is_flag=True, help="Let -o use a folder that is not empty.")
@click.option("--annotate", is_flag=True, help="Put findings into the source, as comments above their lines.")
@click.option("--stdin-name", default="stdin.cu", show_default=True, metavar="NAME", help="Name of what `-` reads.")
@click.option("--fail-on", type=click.Choice([item.value for item in Severity]), help="Exit 1 at such a finding.")
@reverse_option
@shared_options
@click.pass_context
def convert(context: click.Context, /, **_: Any) -> ExitCode:
    """Convert CUDA sources to MUSA.

    PATH is a file, a folder, or `-` for stdin to stdout. Without -o or -i nothing is written: the changes are
    printed as one unified diff.
    """
    paths = [Path(path) for path in context.params["paths"]]
    apply_config(context, [path for path in paths if str(path) != "-"])
    options = context.params
    if options["output"] is not None and options["in_place"]:
        raise click.UsageError("-o and -i exclude each other")
    if Path("-") in paths:
        return _convert_stdin(paths, options)
    return _convert_paths(paths, options)


def _convert_paths(paths: list[Path], options: dict[str, Any]) -> ExitCode:
    output: Path | None = options["output"]
    files = running.select_files(paths, options, [output] if output else [])
    layout = running.make_layout(files, paths, options)
    dry = output is None and not options["in_place"]
    destination: Destination = DryRun()
    plan = running.make_plan(files, layout, destination, options, diff=dry)
    if output is not None:
        prepare_folder(output, layout.new_paths.values(), force=options["force"])
        plan.destination = Folder(output)
    elif options["in_place"]:
        plan.destination = InPlace()
    result = running.run(plan, options)
    printed = running.write_reports(result, plan, options)
    if dry and not printed:
        for file in result.files:
            sys.stdout.buffer.write(file.diff)
        sys.stdout.buffer.flush()
    running.print_outcome(result, options, findings=not printed)
    return running.exit_code(result, options["fail_on"])


def _convert_stdin(paths: list[Path], options: dict[str, Any]) -> ExitCode:
    if len(paths) > 1 or options["output"] is not None or options["in_place"]:
        raise click.UsageError("`-` stands alone and goes to stdout: no other PATH, -o or -i")
    name = options["stdin_name"]
    if language_of(name, reverse=options["reverse"]) is not Language.CUDA:
        raise MusifyError(f"--stdin-name {name}: not a name of C, C++ or CUDA source")
    if sys.stdin is None or sys.stdout is None:
        raise MusifyError("`-` needs an open stdin and stdout")
    raw = sys.stdin.buffer.read()
    try:
        document = Document.from_bytes(raw)
    except NotText as error:
        raise MusifyError(f"stdin: {error}") from error
    rules = rules_of(options)
    surroundings = Surroundings(name, namespaces=survey_source(name, document.data, rules).namespaces)
    semantics = semantics_of(options, rules)
    answers = semantics.answers(Path(name), document.data, None) if semantics is not None else None
    conversion = convert_source(document, rules, settings_of(options), surroundings, answers)
    conversion.findings[:0] = settle(answers, name)
    sys.stdout.buffer.write(document.encode(conversion.new_data) if conversion.edits else raw)
    result = FileResult(name, name, Language.CUDA.value)
    record_conversion(result, conversion, options["lang"], details=False)
    run = RunResult([result])
    run.drop_declared()
    if not options["quiet"]:
        for finding in result.active_findings():
            click.echo(one_line(result, finding), err=True)
    return running.exit_code(run, options["fail_on"])
