"""Proof of the compatibility header: a source with it is, preprocessed, what `musify convert` makes of the source.

    python tools/one_source.py TREE [--jobs N]

Converts TREE, writes the header and forwarding headers for it, and preprocesses every .cu, .cpp and .c both ways with
g++, toolkit headers being empty. A source that differs needs a finding of `musify header` in one of the files that it
reads (MUS7xx), or differs in string literals alone: text that is only shown. Exits 1 where one differs without either.
Sources that use names without counterpart, which the header makes an error, and those that g++ can preprocess neither
way (missing headers) are counted apart.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from musify.rules import book

_SUFFIXES = (".cu", ".cpp", ".cc", ".cxx", ".c")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_LINE = re.compile(r'^# \d+ "([^"<]+)"', re.M)
_ALIAS = re.compile(r"((?:namespace (\w+) \{ )?namespace (\w+) \{\} namespace (\w+) = \w+;(?: \})?)")
_HEADER = "cuda_to_musa.h"


def musify(*arguments: object) -> None:
    """Run a command of musify. Exits where it fails."""
    command = [sys.executable, "-m", "musify", *(str(argument) for argument in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")


def empty_headers(folder: Path) -> None:
    """The toolkit headers that converted sources include, without content."""
    rules = book.load()
    found = [rules.header(path) for path in rules.all_headers()]
    for name in {name for rule in found if rule is not None for name in (rule.target.decode(), rule.name.decode())}:
        if not any(rule is not None and rule.name.decode() == name != rule.target.decode() for rule in found):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()


def preprocess(root: Path, path: str, *arguments: str) -> tuple[str, set[str]] | str:
    """What g++ makes of a source, and the files it read; what it says where it fails."""
    folder = os.path.dirname(path) or "."
    folders = [f"-I{name}" for name in (folder, f"{folder}/include", f"{folder}/src", ".", "include", "Common")]
    command = ["g++", "-E", "-x", "c++", "-w", "-DUSE_MUSA", *arguments, *folders, path]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    if done.returncode:
        return done.stderr.decode("utf-8", "replace")
    text = done.stdout.decode("utf-8", "replace")
    files = {os.path.normpath(name) for name in _LINE.findall(text) if not os.path.isabs(name)}
    return " ".join(line for line in text.split("\n") if not line.startswith("#")), files


def compare(tree: Path, work: Path, path: str) -> tuple[str, set[str]]:
    """How a source with the header stands to the converted one, in a word, and the files that it reads."""
    held = preprocess(tree, path, f"-I{work}/forwarding", f"-I{work}/empty", "-include", f"{work}/{_HEADER}")
    converted = preprocess(work / "converted", path, f"-I{work}/empty")
    if isinstance(held, str) and "has no counterpart on MUSA" in held:
        return "no counterpart", set()
    if isinstance(held, str) or isinstance(converted, str):
        return ("not read" if isinstance(held, str) and isinstance(converted, str) else "differs"), set()
    first, second = _without_aliases(held[0]), converted[0]
    first, second = "".join(first.split()), "".join(second.split())
    if first == second:
        return "same", held[1]
    if _STRING.sub('""', first) == _STRING.sub('""', second):
        return "text", held[1]
    return "differs", held[1]


def _without_aliases(text: str) -> str:
    """The text with namespaces called as MUSA calls them, and without the aliases that the header makes."""
    for whole, outer, new, old in _ALIAS.findall(text):
        text = text.replace(whole, " ")
        head = f"{outer}::" if outer else ""
        text = re.sub(rf"(?<![\w:]){head}{old}\b(?=\s*(?:::|;))", head + new, text)
    return text


def sources(tree: Path) -> Iterator[str]:
    """Relative paths of what is compiled."""
    for path in sorted(tree.rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file():
            yield str(path.relative_to(tree))


@click.command()
@click.argument("tree", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True)
def main(tree: Path, jobs: int) -> None:
    """Compare every source of TREE."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        empty_headers(work / "empty")
        musify("convert", tree, "-o", work / "converted", "--keep-names", "-q")
        musify("header", tree, "-o", work / _HEADER, "--forwarding", work / "forwarding", "-q",
               "--report", f"json:{work}/report.json")  # fmt: skip
        report = json.loads((work / "report.json").read_text(encoding="utf-8"))
        told = {os.path.relpath(file["path"], tree) for file in report["files"] if file["findings"]}
        counts: Counter[str] = Counter()
        with ThreadPoolExecutor(jobs) as pool:
            paths = list(sources(tree))
            for path, (outcome, files) in zip(
                paths, pool.map(lambda path: compare(tree, work, path), paths), strict=True
            ):
                if outcome == "differs" and ({path} | files) & told:
                    outcome = "differs, as a finding says"
                counts[outcome] += 1
                if outcome == "differs":
                    click.echo(f"{path}: differs, and no finding says why")
    for outcome, count in sorted(counts.items()):
        click.echo(f"{outcome}: {count}")
    sys.exit(1 if counts["differs"] else 0)


if __name__ == "__main__":
    main()
