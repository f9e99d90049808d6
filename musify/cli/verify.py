"""`musify verify`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from musify.clang.database import Database
from musify.cli import running
from musify.cli.options import (
    apply_config,
    reverse_option,
    rules_of,
    semantics_of,
    settings_of,
    shared_options,
    without,
)
from musify.engine import tree
from musify.headers.shim import write_shim
from musify.model import ExitCode, MusifyError
from musify.project.files import SourceFile
from musify.project.output import DryRun
from musify.report import verification as report
from musify.rules.book import RuleBook
from musify.source.writing import write_atomically
from musify.verify import records
from musify.verify.compilers import Compiler, find_compiler, find_mcc
from musify.verify.flags import from_options
from musify.verify.model import Depth, Verification
from musify.verify.run import run
from musify.verify.workshop import Plan

# What `convert` and `check` share and this command has in another form, or not at all.
_OTHERWISE = (
    "report", "select", "ignore", "compile_commands", "cuda_include", "diff_base", "root", "exit_zero", "fail_on",
)  # fmt: skip
_PATH: Any = click.Path(path_type=Path)


@without(*_OTHERWISE)
@click.command()
@click.argument("original", required=False, type=_PATH, metavar="ORIGINAL")
@click.argument("converted", required=False, type=_PATH, metavar="CONVERTED")
@click.option("--depth", type=click.Choice([item.value for item in Depth]), default=Depth.TOKENS.value,
              show_default=True, help="How deep the proof goes; each holds those before it.")  # fmt: skip
@click.option("--report", "report_path", type=_PATH, metavar="FILE.json",
              help="JSON report of the conversion; without it ORIGINAL is converted again in memory.")  # fmt: skip
@click.option("--annotate", is_flag=True, help="The conversion was made with --annotate.")
@click.option("--json", "json_path", metavar="FILE", help="Write the result as JSON; `-` is stdout.")
@click.option("-v", "--verbose", is_flag=True, help="Print explained differences and skipped files too.")
@click.option("--write-shim", type=_PATH, metavar="DIR", help="Write the shim headers to DIR.")
@click.option("--force", is_flag=True, help="Let --write-shim write over files that musify did not make.")
@click.option("-p", "--compile-commands", "database", type=_PATH, metavar="FILE",
              help="compile_commands.json of ORIGINAL, or its folder.")  # fmt: skip
@click.option("-I", "include_folders", multiple=True, type=_PATH, metavar="DIR",
              help="Include folder; one inside ORIGINAL stands for that of CONVERTED too.")  # fmt: skip
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Macro to define.")
@click.option("--flag", "flags", multiple=True, metavar="FLAG", help="Further flag, as in --flag=-std=c++17.")
@click.option("--cuda-include", "cuda_folders", multiple=True, type=_PATH, metavar="DIR",
              help="Folder with CUDA's headers, besides the compiler's own.")  # fmt: skip
@click.option("--cuda-arch", default="80", show_default=True, metavar="NUMBER", help="Device code for sm_NUMBER.")
@click.option("--compiler", default="auto", show_default=True, metavar="NAME",
              help="nvcc, clang++, g++ (which compiles no device code), mcc, or a path.")  # fmt: skip
@click.option("--only", multiple=True, metavar="GLOB", help="Preprocess and compile only files that match.")
@click.option("--timeout", type=click.IntRange(min=1), default=600, show_default=True, metavar="SECONDS",
              help="Longest time of one compiler run.")  # fmt: skip
@reverse_option
@shared_options
@click.pass_context
def verify(context: click.Context, /, **_: Any) -> ExitCode:
    """Prove that CONVERTED is ORIGINAL but for what the conversion recorded.

    Both are files or whole trees. Exits 1 where something is not as it should be.
    """
    original, converted = context.params["original"], context.params["converted"]
    shim_folder = context.params["write_shim"]
    apply_config(context, [original] if original else [])
    options = context.params
    if options["reverse"] and (options["depth"] != Depth.TOKENS.value or shim_folder is not None):
        raise click.UsageError("--reverse is proved by what was recorded only: --depth tokens, and no --write-shim")
    rules = rules_of(options)
    if shim_folder is not None:
        count = write_shim(shim_folder, rules, force=options["force"])
        click.echo(f"{shim_folder}: {count} shim headers written", err=True)
        if original is None:
            return ExitCode.DONE
    if original is None or converted is None:
        raise click.UsageError("ORIGINAL and CONVERTED are needed")
    if not converted.exists():
        raise MusifyError(f"{converted}: no such file or folder")
    plan = _plan(original, converted, rules, options)
    with running.progress(options) as progress:
        result = run(plan, options["jobs"], progress)
    _show(result, options)
    for depth in result.unproved:
        click.echo(f"musify: {depth.value}: nothing was proved, every file was skipped (-v says why)", err=True)
    return ExitCode.FINDINGS if result.failed or result.unproved else ExitCode.DONE


def _plan(original: Path, converted: Path, rules: RuleBook, options: dict[str, Any]) -> Plan:
    files = running.select_files([original], options, [converted])
    plan = Plan(
        _records(original, converted, files, rules, options),
        _root(original), _root(converted), rules, Depth(options["depth"]),
        from_options(options["include_folders"], options["defines"], options["flags"]),
        language=options["lang"], seconds=options["timeout"], chosen=_chosen(files, options["only"]),
    )  # fmt: skip
    if options["database"] is not None:
        plan.database = Database(_database_file(options["database"]))
    if plan.depth is not Depth.TOKENS:
        plan.preprocessor = _preprocessor(options)
    if plan.depth is Depth.COMPILE:
        plan.compiler = _compiler(options)
    return plan


def _database_file(path: Path) -> Path:
    return path / "compile_commands.json" if path.is_dir() else path


def _records(
    original: Path, converted: Path, files: Sequence[SourceFile], rules: RuleBook, options: dict[str, Any]
) -> list[records.Record]:
    if original.is_dir() != converted.is_dir():
        raise MusifyError(f"{original}, {converted}: give two files, or two folders")
    if options["report_path"] is not None:
        return records.from_report(options["report_path"], files, converted)
    layout = running.make_layout(files, [original], options)
    asked = {**options, "compile_commands": options["database"], "cuda_include": options["cuda_folders"]}
    semantics = semantics_of(asked, rules)
    again = tree.Plan(files, layout, rules, settings_of(options), DryRun(), details=True, semantics=semantics)
    return records.made_again(again, converted, options["jobs"])


def _root(path: Path) -> Path:
    return path.absolute() if path.is_dir() else path.absolute().parent


def _chosen(files: Sequence[SourceFile], globs: Sequence[str]) -> frozenset[str] | None:
    if not globs:
        return None
    from pathspec import GitIgnoreSpec

    wanted = GitIgnoreSpec.from_lines(globs)
    found = frozenset(file.relative for file in files if wanted.match_file(file.relative))
    if not found:
        raise MusifyError(f"--only {' '.join(globs)}: no file of the original matches")
    return found


def _preprocessor(options: dict[str, Any]) -> Compiler:
    wanted = "auto" if options["compiler"] == "mcc" else options["compiler"]
    return find_compiler(wanted, options["cuda_folders"], options["cuda_arch"], compiles=False)


def _compiler(options: dict[str, Any]) -> Compiler:
    """mcc of a real SDK where there is one and no other compiler is asked for."""
    wanted = options["compiler"]
    real = find_mcc(settings_of(options).target.architectures) if wanted in ("auto", "mcc") else None
    if real is not None:
        return real
    if wanted == "mcc":
        raise MusifyError("mcc: found none; set MUSA_HOME to the folder of the MUSA SDK")
    return find_compiler(wanted, options["cuda_folders"], options["cuda_arch"], compiles=True)


def _show(result: Verification, options: dict[str, Any]) -> None:
    target = options["json_path"]
    if target == "-":
        click.echo(report.render_json(result), nl=False)
    else:
        if target is not None:
            write_atomically(Path(target), report.render_json(result).encode("utf-8", "replace"))
        for line in report.lines(result, everything=options["verbose"]):
            click.echo(line)
    if not options["quiet"]:
        from rich.console import Console

        report.print_table(result, Console(stderr=True, soft_wrap=not sys.stderr.isatty()), options["lang"])
