"""Converts a tree to MUSA and back, and says how much comes back as it was, and what stands where it does not.

`python tools/there_and_back.py TREE`: exits 1 where something differs at a place that no finding of either way names.
Build files do not come back: one is accounted for as a whole by the finding that it still speaks of MUSA (MUS136).
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from musify.rules import book

SOURCE = "cuda"
ALIAS = "another spelling of the same name of CUDA's"
GONE = "a name that its library has no more"
# Lines between a difference and the finding that speaks of it: a removed line has none of its own.
_REACH = 1


@dataclass
class Outcome:
    """What came back: files by language, differing places by the findings that name them, and places without one."""

    files: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    identical: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    build: Counter[str] = field(default_factory=Counter)
    places: int = 0
    unnamed: list[str] = field(default_factory=list)


def there_and_back(tree: Path, folder: Path) -> Outcome:
    """Convert `tree` into `folder` and back, and compare."""
    there = _convert(tree, folder / "there")
    back = _convert(folder / "there", folder / "back", "--reverse")
    returned = {_relative(file["path"], folder / "there"): file for file in back["files"]}
    outcome = Outcome()
    for file in there["files"]:
        path = _relative(file["path"], tree)
        converted = returned[_relative(file["output_path"], tree)]
        if file["language"] is not None and (tree / path).is_file():  # a link may lead nowhere
            _compare(outcome, tree, folder / "back", path, file, converted)
    return outcome


def _convert(tree: Path, goal: Path, *options: str) -> dict[str, Any]:
    report = goal.with_suffix(".json")
    command = [sys.executable, "-m", "musify", "convert", tree, "-o", goal, "-q", "--report", f"json:{report}"]
    subprocess.run([str(part) for part in (*command, *options)], check=True)
    content: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return content


def _relative(shown: str, tree: Path) -> str:
    return Path(shown).relative_to(tree).as_posix()


def _compare(
    outcome: Outcome, tree: Path, back: Path, path: str, file: dict[str, Any], converted: dict[str, Any]
) -> None:
    language = str(file["language"])
    outcome.files[language] += 1
    outcome.changed[language] += bool(file["edits"]) or file["path"] != file["output_path"]
    before = (tree / path).read_bytes()
    after = (back / _relative(converted["output_path"], back.parent / "there")).read_bytes()
    if before == after and _relative(converted["output_path"], back.parent / "there") == path:
        outcome.identical[language] += 1
        return
    forward, backward = _lines(file), _lines(converted)
    if language != SOURCE:
        outcome.build["named" if any("MUS136" in ids for ids in backward.values()) else "silent"] += 1
        return
    lines = [text.split(b"\n") for text in (before, after)]
    for _, i1, i2, j1, j2 in _differences(*lines):
        outcome.places += 1
        found = _named(forward, i1, i2) | _named(backward, j1, j2) | _aliases(file, i1, i2)
        outcome.causes.update(found)
        if not found:
            outcome.unnamed.append(f"{path}:{i1 + 1}")


def _differences(before: list[bytes], after: list[bytes]) -> list[tuple[str, int, int, int, int]]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return [(tag, *rest) for tag, *rest in matcher.get_opcodes() if tag != "equal"]  # type: ignore[misc]


def _lines(file: dict[str, Any]) -> dict[int, set[str]]:
    """The ids of the findings of a file by line; one about the whole file stands under 0."""
    found: dict[int, set[str]] = {}
    for finding in file["findings"]:
        for line in range(finding["line"], finding["end_line"] + 1):
            found.setdefault(line, set()).add(finding["id"])
    return found


def _named(findings: dict[int, set[str]], first: int, end: int) -> set[str]:
    reach = range(first + 1 - _REACH, end + 1 + _REACH)
    return set().union(*(findings.get(line, set()) for line in reach))


def _aliases(file: dict[str, Any], first: int, end: int) -> set[str]:
    """What is no fault of the way back, and needs no finding: the name that comes back means the same.

    `nv_half` is `__half`, which CUDA has too and which stays; of names that their library has no more, the present one
    comes back.
    """
    rules = book.load()
    found = set()
    for edit in file["edits"]:
        name = edit["name"].encode()
        rule = rules.name(name) or rules.header(name)
        if rule is not None and first < edit["line"] <= end:
            if rules.name(rule.target) is not None:
                found.add(ALIAS)
            if name in rule.library.one_way:
                found.add(GONE)
    return found


@click.command()
@click.argument("tree", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(tree: Path) -> None:
    """Print what comes back of TREE."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = there_and_back(tree, Path(folder))
    for language, count in outcome.files.most_common():
        click.echo(
            f"{language}: {count} files, {outcome.changed[language]} changed on the way there, "
            f"{outcome.identical[language]} come back byte for byte"
        )
    if outcome.build:
        click.echo(f"build files that differ: {outcome.build['named']} with MUS136, {outcome.build['silent']} without")
    named = ", ".join(f"{identifier} {count}" for identifier, count in outcome.causes.most_common(12))
    click.echo(f"{outcome.places} places of sources differ; findings there: {named or 'none'}")
    for place in outcome.unnamed:
        click.echo(f"{place}: differs, and no finding says so")
    sys.exit(bool(outcome.unnamed or outcome.build["silent"]))


if __name__ == "__main__":
    main()
