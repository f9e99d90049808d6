"""Proof that nothing is left in silence: every renamable CUDA name still in converted code has a finding at its line.

    python tools/leftovers.py ORIGINAL CONVERTED REPORT.json [--names NAMES.tsv]

Reads the report that `musify convert ORIGINAL -o CONVERTED --report json:REPORT.json` wrote, lexes every converted
source anew with the full lexer (not the outline that the conversion used), and looks for identifiers that a rule
would rename. Members (`x.name`, `p->name`), names qualified by somebody else's namespace and names that the project
declares itself are no references to the API; they are counted apart. NAMES.tsv (columns cuda_name, musa_name, kind)
checks against another list than the rules. Exits 1 where a name has no finding.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from musify.languages.recognition import language_of
from musify.languages.registry import Language
from musify.rules import book
from musify.rules.model import Action
from musify.source.document import Document, NotText
from musify.source.lexer import Token, TokenKind, significant


def renamable_names(table: Path | None) -> set[bytes]:
    """The plain names that would be renamed, by the rules or by a table."""
    if table is not None:
        with table.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            return {
                row["cuda_name"].encode()
                for row in rows
                if row["musa_name"] not in ("", "(none)", row["cuda_name"])
                and row["kind"] != "header"
                and "::" not in row["cuda_name"]
            }
    rules = book.load()
    found = set()
    for name in rules.all_names():
        rule = rules.name(name)
        if rule is not None and rule.action is not Action.IDENTITY and b"::" not in name:
            found.add(name)
    return found


def line_map(old: Document, edits: list[dict[str, Any]]) -> list[int]:
    """For each line of the output (0-based) the line of the original (1-based): whole lines come and go."""
    removed = {
        line
        for edit in edits
        if edit["rule_id"] == "toolkit-header-merged" and edit["end_line"] > edit["line"]
        for line in range(edit["line"], edit["end_line"])
    }
    added = Counter(edit["line"] for edit in edits if edit["rule_id"] == "torch-header-added")
    kept = (number for number in range(1, old.line_count + 2) if number not in removed)
    return [number for line in kept for number in [line] * (added[line] + 1)]


def standing(document: Document, names: set[bytes]) -> list[tuple[Token, str]]:
    """Names of the list that stand in code, each with "reference" or why it is none."""
    data = document.data
    tokens = significant(data)
    found = []
    directive_end = -1
    for index, token in enumerate(tokens):
        text = data[token.start : token.end]
        if (
            token.kind is TokenKind.PUNCTUATION
            and text == b"#"
            and not data[_line_start(data, token.start) : token.start].strip()
        ):
            keyword = tokens[index + 1] if index + 1 < len(tokens) else token
            if data[keyword.start : keyword.end] in (b"error", b"warning", b"include"):
                directive_end = _line_end(data, token.start)
        if token.kind is not TokenKind.IDENTIFIER or text not in names or token.start < directive_end:
            continue
        before = data[tokens[index - 1].start : tokens[index - 1].end] if index else b""
        qualifier = tokens[index - 2] if index > 1 else None
        if before in (b".", b"->"):
            found.append((token, "member"))
        elif before == b"::" and qualifier is not None and qualifier.kind is TokenKind.IDENTIFIER:
            found.append((token, "qualified"))
        else:
            found.append((token, "reference"))
    return found


def _line_start(data: bytes, offset: int) -> int:
    return data.rfind(b"\n", 0, offset) + 1


def _line_end(data: bytes, offset: int) -> int:
    end = data.find(b"\n", offset)
    return len(data) if end < 0 else end


@click.command()
@click.argument("original", type=click.Path(path_type=Path, exists=True))
@click.argument("converted", type=click.Path(path_type=Path, exists=True))
@click.argument("report", type=click.Path(path_type=Path, exists=True))
@click.option("--names", type=click.Path(path_type=Path, exists=True), help="Another list of names, as TSV.")
@click.option("--show", default=40, help="How many unreported names to print.")
def main(original: Path, converted: Path, report: Path, names: Path | None, show: int) -> None:
    """Check one converted tree."""
    wanted = renamable_names(names)
    counts: Counter[str] = Counter()
    silent = []
    declared = {
        finding["name"]
        for file in json.loads(report.read_text(encoding="utf-8"))["files"]
        for finding in file["findings"]
        if finding["id"] == "MUS106"
    }
    for file in json.loads(report.read_text(encoding="utf-8"))["files"]:
        relative = Path(file["path"]).relative_to(original).as_posix()
        if language_of(relative) is not Language.CUDA:
            continue
        output = converted / Path(file["output_path"]).relative_to(original)
        try:
            old = Document.from_bytes((original / relative).read_bytes())
            new = Document.from_bytes(output.read_bytes())
        except NotText:
            continue
        lines = line_map(old, file["edits"])
        reported = {line for finding in file["findings"] for line in range(finding["line"], finding["end_line"] + 1)}
        for token, why in standing(new, wanted):
            line = lines[new.line_index(token.start)]
            name = new.data[token.start : token.end].decode()
            if line in reported:
                counts["reported"] += 1
            elif why != "reference":
                counts[why] += 1
            elif name in declared:
                counts["declared by the project"] += 1
            else:
                counts["silent"] += 1
                silent.append(f"{relative}:{line}: {name}")
    for text in silent[:show]:
        click.echo(text)
    click.echo(", ".join(f"{count} {why}" for why, count in sorted(counts.items())) or "nothing left")
    sys.exit(1 if silent else 0)


if __name__ == "__main__":
    main()
