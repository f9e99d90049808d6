"""Measures the HTML report of a tree in a real Chromium: its size, and how long it takes until it can be used.

`python benchmarks/html_report.py TREE...`: runs `musify check TREE... --report html:...` and opens the page `--runs`
times, each in a new tab of a headless browser. Times are of the page's own clock, from the start of the navigation.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

# How long one command may take the browser.
_SECONDS = 120
_NAMES = ("chromium", "chromium-browser", "google-chrome")
# After the load event and two frames what a person sees is drawn. `filter`: the longest that typing into it takes.
_MEASURE = """
(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  await frame();
  const usable = performance.now();
  const timed = (work) => {
    const start = performance.now();
    work();
    document.body.offsetHeight;  // lays the page out
    return performance.now() - start;
  };
  const query = document.getElementById("query");
  const type = (text) => { query.value = text; query.dispatchEvent(new Event("input", { bubbles: true })); };
  const filter = Math.max(...["a", "kernel", "MUS", ""].map((text) => timed(() => type(text))));
  let paint;
  while (!(paint = performance.getEntriesByName("first-contentful-paint")[0])) await frame();
  return { load: performance.getEntriesByType("navigation")[0].loadEventEnd, paint: paint.startTime, usable, filter };
})()
"""


class Browser:
    """A headless Chromium, spoken to in its debugging protocol over two pipes."""

    def __init__(self, process: subprocess.Popen[bytes], write: int, read: int) -> None:
        self._process = process
        self._write = write
        self._read = read
        self._numbers = itertools.count(1)
        self._rest = b""

    def call(self, method: str, session: str = "", **parameters: object) -> dict[str, Any]:
        """Send one command and wait for its answer."""
        number = next(self._numbers)
        message: dict[str, object] = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answer = self._wait(lambda item: item.get("id") == number)
        if "error" in answer:
            raise click.ClickException(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def event(self, method: str) -> None:
        """Wait for an event."""
        self._wait(lambda item: item.get("method") == method)

    def _wait(self, fits: Any) -> dict[str, Any]:
        for message in self._messages():
            if fits(message):
                return message
        raise click.ClickException("the browser ended early")

    def _messages(self) -> Iterator[dict[str, Any]]:
        while True:
            head, mark, rest = self._rest.partition(b"\0")
            if mark:
                self._rest = rest
                yield json.loads(head)
                continue
            more = os.read(self._read, 1 << 16)
            if not more:
                return
            self._rest += more


@contextmanager
def browser() -> Iterator[Browser]:
    """A running browser. Raises ClickException where none is installed."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        raise click.ClickException("no Chromium: install one (apt-get install chromium)")
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        # The browser reads the pipe at descriptor 3 and writes to that at 4.
        command = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
        process = subprocess.Popen(
            ["bash", "-c", command, program, *options, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            yield Browser(process, ours_out, ours_in)
        finally:
            process.terminate()
            process.wait(_SECONDS)


def measure(running: Browser, address: str) -> Mapping[str, float]:
    """Open a page in a tab of its own; times in milliseconds."""
    target = running.call("Target.createTarget", url="about:blank")["targetId"]
    session = running.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    running.call("Page.enable", session)
    running.call("Page.navigate", session, url=address)
    running.event("Page.loadEventFired")
    found = running.call("Runtime.evaluate", session, expression=_MEASURE, awaitPromise=True, returnByValue=True)
    running.call("Target.closeTarget", targetId=target)
    values: Mapping[str, float] = found["result"]["value"]
    return values


def make_report(trees: tuple[Path, ...], page: Path) -> None:
    """Write the report of the trees."""
    command = [sys.executable, "-m", "musify", "check", *map(str, trees), "-q", "--exit-zero"]
    done = subprocess.run([*command, "--report", f"html:{page}"], stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise click.ClickException("musify failed")


@click.command()
@click.argument("trees", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--runs", default=5, show_default=True, help="How often the page is opened.")
def main(trees: tuple[Path, ...], runs: int) -> None:
    """Print size and times of the report of TREES."""
    with tempfile.TemporaryDirectory() as folder, browser() as running:
        page = Path(folder) / "report.html"
        make_report(trees, page)
        content = json.loads(page.read_text("utf-8").split('id="data">', 1)[1].split("</script>", 1)[0])
        largest = max(content["files"], key=lambda file: len(file["diff"]))
        address = page.resolve().as_uri()
        found = [measure(running, address) for _ in range(runs)]
        opened = [measure(running, f"{address}#file={quote(largest['path'])}") for _ in range(runs)]
        click.echo(f"{content['summary']['files']} files, {page.stat().st_size / 1e6:.1f} MB")
    click.echo(f"{runs} runs, median (slowest):")
    for key, title in (("paint", "first paint"), ("load", "load event"), ("usable", "usable"), ("filter", "filtering")):
        _print(title, [item[key] for item in found])
    _print(f"usable, with a diff of {len(largest['diff']) / 1e3:.0f} KB open", [item["usable"] for item in opened])


def _print(title: str, values: list[float]) -> None:
    click.echo(f"  {title}: {statistics.median(values):.0f} ms ({max(values):.0f} ms)")


if __name__ == "__main__":
    main()
