"""What --semantic changes on a tree: every edit and finding that is there with it and not without, or the other way.

    python tools/semantic_difference.py TREE [OPTION...]

The options are passed on to `musify check`, to both runs save those that belong to --semantic. Run it on code that
you know, and read the places that it lists.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

_SEMANTIC = ("--compile-commands", "--cuda-include")
# File, what it is, line, column and name; and what is said of it.
Verdicts = dict[tuple[str, str, int, int, str], str]


def main(arguments: list[str]) -> None:
    """Run both and print what differs, then times, peak memory of a process, and questions."""
    plain, first = _run(_without_semantic(arguments))
    asked, second = _run([*arguments, "--semantic"])
    before, after = _verdicts(plain), _verdicts(asked)
    counts: Counter[str] = Counter()
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old is not None and new is not None:
            continue  # the same verdict, perhaps in other words
        path, kind, line, column, name = key
        what = "only without" if new is None else "only with"
        counts[f"{kind} {what}"] += 1
        print(f"{path}:{line}:{column}: {kind} {name} {what}: {old or new}")
    print(f"{len(before)} verdicts without, {len(after)} with; differing: {dict(counts) or 'none'}")
    questions = asked["summary"].get("semantic", {"asked": 0, "answered": 0})
    print(f"questions {questions['asked']}, answered {questions['answered']}")
    print(f"without: {first}; with: {second}")


def _run(arguments: list[str]) -> tuple[dict[str, Any], str]:
    """The JSON report of `musify check`, and what the run took."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "musify", "check", "-q", "--report", f"json:{report}", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if not report.exists():
            sys.exit(os.waitstatus_to_exitcode(status))
        content: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    seconds = usage.ru_utime + usage.ru_stime
    return content, f"{seconds:.1f} s of CPU time, {usage.ru_maxrss // 1024} MiB at most in a process"


def _without_semantic(arguments: list[str]) -> list[str]:
    items = iter(arguments)
    kept = []
    for item in items:
        if item in _SEMANTIC:
            next(items, None)
        elif not item.startswith(tuple(f"{option}=" for option in _SEMANTIC)):
            kept.append(item)
    return kept


def _verdicts(report: dict[str, Any]) -> Verdicts:
    found: Verdicts = {}
    for file in report["files"]:
        for item in file["edits"]:
            key = (file["path"], "edit", item["line"], item["column"], item["name"] or item["old_text"])
            found[key] = item["new_text"]
        for item in file["findings"]:
            found[file["path"], item["id"], item["line"], item["column"], item["name"]] = item["message"]
    return found


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
