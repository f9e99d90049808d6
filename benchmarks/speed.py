"""How fast `musify convert` is as a whole command, and how much memory its largest process takes.

    python benchmarks/speed.py [TREE] [--runs 5] [--against 'COMMAND {tree}']

Without TREE a synthetic CUDA tree of at least --megabytes is made from fixtures/ in a temporary folder, every file
filled up with plain code to the size that sources usually have. Each way (dry run, -o, -i, one small file) is run
--runs times; the median is what to quote. With --against the other command runs in turn with the dry run, and the
ratio is taken pair by pair, so that it holds when the machine's speed drifts. Figures are printed, never asserted.
"""

from __future__ import annotations

import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
_SOURCES = {".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hxx", ".inl", ".inc", ".ipp", ".tcc"}
_SMALL_FILE_BYTES = 17_000
# Sources of public CUDA projects are about so long on average; the fixtures are a few lines of nothing but API.
_USUAL_BYTES = 8_000
_PLAIN_CODE = b"""
// A step of a stencil over one row, as it stands a hundred times in any project.
static float step_%05d(const float *in, float *out, int n, float w) {
    float sum = 0.0f;
    for (int i = 1; i + 1 < n; ++i) {
        out[i] = w * in[i] + (1.0f - w) * 0.5f * (in[i - 1] + in[i + 1]);  /* inner points only */
        sum += out[i] > 0.0f ? out[i] : -out[i];
    }
    return sum;
}
"""


def make_tree(root: Path, megabytes: float) -> Path:
    """Copies of the fixtures, over and over in folders of their own, until there are `megabytes` of source."""
    samples = [path for path in sorted(FIXTURES.rglob("*")) if path.is_file() and ".out." not in path.name]
    written = number = 0
    while written < megabytes * 1e6:
        for path in samples:
            goal = root / f"copy{number:05d}" / path.relative_to(FIXTURES)
            goal.parent.mkdir(parents=True, exist_ok=True)
            content = path.read_bytes()
            content += plain_code(_USUAL_BYTES - len(content)) if path.suffix in _SOURCES else b""
            goal.write_bytes(content)
            written += len(content) if path.suffix in _SOURCES else 0
        number += 1
    return root


def plain_code(size: int) -> bytes:
    """At least `size` bytes of C++ that no rule has anything to say of."""
    return b"".join(_PLAIN_CODE % number for number in range(max(0, size // len(_PLAIN_CODE) + 1)))


def source_bytes(tree: Path) -> int:
    """How many bytes of source lie in a tree."""
    return sum(path.stat().st_size for path in tree.rglob("*") if path.is_file() and path.suffix in _SOURCES)


def seconds(command: Sequence[str]) -> float:
    """The wall time of one run of a command, its output thrown away."""
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started


def report(title: str, times: Sequence[float], size: int) -> None:
    """Print median, fastest and slowest run, as time and as speed."""
    middle = statistics.median(times)
    speed = f", {size / 1e6 / middle:.1f} MB/s" if size else ""
    click.echo(f"{title}: {middle:.2f} s (from {min(times):.2f} to {max(times):.2f}){speed}")


def small_file(folder: Path) -> Path:
    """One source of about 17 KB."""
    text = b"".join(path.read_bytes() for path in sorted(FIXTURES.rglob("*.cu")) if b"\r" not in path.read_bytes())
    path = folder / "small.cu"
    path.write_bytes((text * (_SMALL_FILE_BYTES // len(text) + 1))[:_SMALL_FILE_BYTES])
    return path


@click.command()
@click.argument("tree", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--runs", default=5, show_default=True, help="Counted runs of each way.")
@click.option("--megabytes", default=20.0, show_default=True, help="Size of the tree that is made where none is given.")
@click.option("--against", metavar="COMMAND", help="Another command to compare with; {tree} stands for the tree.")
def main(tree: Path | None, runs: int, megabytes: float, against: str | None) -> None:
    """Measure the whole command."""
    musify = [sys.executable, "-m", "musify", "convert"]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        tree = tree or make_tree(scratch / "tree", megabytes)
        size = source_bytes(tree)
        click.echo(f"{size / 1e6:.1f} MB of source")
        dry = [*musify, str(tree), "-q"]
        seconds(dry)
        report("dry run", [seconds(dry) for _ in range(runs)], size)
        times = []
        for number in range(runs):
            output = scratch / f"out{number}"
            times.append(seconds([*musify, str(tree), "-q", "-o", str(output)]))
            shutil.rmtree(output, ignore_errors=True)
        report("into a folder", times, size)
        times = []
        for number in range(runs):
            copy = Path(shutil.copytree(tree, scratch / f"copy{number}", symlinks=True))
            times.append(seconds([*musify, str(copy), "-q", "-i"]))
            shutil.rmtree(copy)
        report("in place", times, size)
        one = [*musify, str(small_file(scratch)), "-q"]
        seconds(one)
        report("one file of 17 KB, start-up included", [seconds(one) for _ in range(runs)], 0)
        if against:
            other = shlex.split(against.replace("{tree}", str(tree)))
            ratios = [seconds(dry) / seconds(other) for _ in range(runs)]
            click.echo(f"time against `{against}`: {statistics.median(ratios):.2f} times, pair by pair")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    click.echo(f"largest process: {peak:.0f} MB")


if __name__ == "__main__":
    main()
