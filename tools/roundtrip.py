"""Round trip of a whole tree: convert it, and prove through the shim headers that a compiler sees the same as before.

    python tools/roundtrip.py TREE -I TREE/Common [--cuda-include DIR] [--sample 150] [--compile 60] [--seed 1]

Converts TREE into a temporary folder, preprocesses every source (or a random sample) of both trees and compares the
tokens, then compiles a random sample of those sources that a compiler takes by themselves. Files that the compiler does
not take before the conversion are left out of the count. Prints what failed, what recorded edits explain, and the
shares; exits 1 where a file failed. Further arguments after `--` go to `musify verify` as they are.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from musify.languages.registry import Language
from musify.project.files import Selection, find_files
from musify.verify.compilers import HEADER_SUFFIXES


def chosen_files(tree: Path, only: Sequence[str], sample: int, seed: int, *, units: bool) -> list[str]:
    """The sources to look at, relative to the tree; with `units` those alone that are compiled by themselves."""
    from pathspec import GitIgnoreSpec

    wanted = GitIgnoreSpec.from_lines(only or ["*"])
    found = [
        file.relative
        for file in find_files([tree], Selection())
        if file.language is Language.CUDA
        and not file.is_link
        and wanted.match_file(file.relative)
        and not (units and Path(file.relative).suffix.lower() in HEADER_SUFFIXES)
    ]
    return sorted(random.Random(seed).sample(found, sample)) if 0 < sample < len(found) else found


def musify(*arguments: object, codes: Sequence[int] = (0,)) -> None:
    """Run a command of this checkout; stop where it ends otherwise than with one of `codes`."""
    command = [sys.executable, "-m", "musify", *(str(argument) for argument in arguments)]
    done = subprocess.run(command, check=False)
    if done.returncode not in codes:
        sys.exit(done.returncode)


def verify(tree: Path, work: Path, depth: str, files: Sequence[str], further: Sequence[str]) -> dict[str, Any]:
    """What `musify verify` says of these files at a depth."""
    only = [part for file in files for part in ("--only", "/" + re.sub(r"([][*?!#\\ ])", r"\\\1", file))]
    result = work / f"{depth}.json"
    musify(
        "verify", tree, work / "converted", "--report", work / "report.json", "--depth", depth, "--json", result,
        "-v", "-q", *only, *further, codes=(0, 1),
    )  # fmt: skip
    content: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return content


def share(result: dict[str, Any], depth: str) -> str:
    """How many of the files that could be tried came out equal or explained, in words."""
    counts = result["summary"][depth]
    tried = counts["passed"] + counts["explained"] + counts["failed"]
    good = counts["passed"] + counts["explained"]
    percent = f" ({100 * good / tried:.1f} %)" if tried else ""
    return (
        f"{depth}: {good} of {tried}{percent}, {counts['explained']} of them explained by recorded edits; "
        f"{counts['skipped']} that the compiler does not take before the conversion"
    )


@click.command()
@click.argument("tree", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("-I", "include", multiple=True, type=click.Path(path_type=Path), help="Include folder of the tree.")
@click.option("--cuda-include", multiple=True, type=click.Path(path_type=Path), help="Folder with CUDA's headers.")
@click.option("--only", multiple=True, metavar="GLOB", help="Only files that match.")
@click.option("--sample", default=0, show_default="all", help="How many sources to preprocess.")
@click.option("--compile", "compiled", default=0, show_default=True, help="How many sources to compile.")
@click.option("--seed", default=1, show_default=True, help="Of both random choices.")
@click.argument("further", nargs=-1, type=click.UNPROCESSED)
def main(
    tree: Path, include: Sequence[Path], cuda_include: Sequence[Path], only: Sequence[str], sample: int,
    compiled: int, seed: int, further: Sequence[str],
) -> None:  # fmt: skip
    """Convert TREE and prove it."""
    options = [part for path in include for part in ("-I", str(path))]
    options += [part for path in cuda_include for part in ("--cuda-include", str(path))]
    options += further
    failed = False
    with tempfile.TemporaryDirectory(prefix="musify-roundtrip-") as folder:
        work = Path(folder)
        musify("convert", tree, "-o", work / "converted", "--report", f"json:{work / 'report.json'}", "-q")
        steps = [("preprocess", chosen_files(tree, only, sample, seed, units=False))]
        if compiled:
            steps.append(("compile", chosen_files(tree, only, compiled, seed, units=True)))
        summaries = []
        for depth, files in steps:
            result = verify(tree, work, depth, files, options)
            summaries.append(share(result, depth))
            failed = failed or bool(result["summary"][depth]["failed"]) or bool(result["summary"]["tokens"]["failed"])
    for line in summaries:
        click.echo(line)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
