"""The same work on many numbered items, in this process or spread over several."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeVar

# Below this many bytes a second process costs more than it saves.
_PARALLEL_BYTES = 400_000
# Batches get smaller towards the end, so that all workers end at about the same time. Progress is seen by the batch.
_FIRST_BATCHES = 12  # the whole work of one worker in batches as large as the first
_LAST_BATCHES = 64
_BATCHES_OF_THE_REST = 4
# Spans and tokens are many, small and free of cycles: collecting as often as usual costs a tenth of the time.
_COLLECT_AFTER = 200_000

Progress = Callable[[str, int, int], None]
Shared = TypeVar("Shared")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Work(Generic[Shared, Result]):
    """What is done with an item, given what all share and its number; and what stands for one whose process died.

    `isolated`: it may bring its process down, so it is never done in this one. Both functions
    cross to worker processes, so they are functions of a module, or partial ones.
    """

    title: str
    do: Callable[[Shared, int], Result]
    lost: Callable[[Shared, int], Result]
    isolated: bool = False


def spread(
    shared: Shared,
    work: Work[Shared, Result],
    numbers: Sequence[int],
    sizes: Sequence[int],
    jobs: int,
    progress: Progress | None = None,
) -> Iterator[tuple[int, Result]]:
    """Do `work` on the items with these numbers, as they get done. `sizes` holds the bytes of every item."""
    total = sum(sizes[number] for number in numbers)
    done = 0
    workers = min(jobs, len(numbers))
    if not numbers or (not work.isolated and (workers < 2 or total < _PARALLEL_BYTES)):
        batches: Iterator[list[tuple[int, Result]]] = ([(number, work.do(shared, number))] for number in numbers)
    else:
        batches = _in_processes(shared, work, _batches(numbers, sizes, workers), workers)
    for batch in batches:
        done += sum(sizes[number] for number, _ in batch)
        if progress is not None:
            progress(work.title, done, total)
        yield from batch


def _batches(numbers: Sequence[int], sizes: Sequence[int], workers: int) -> list[list[int]]:
    """Numbers in batches, the largest items and batches first."""
    whole = rest = sum(sizes[number] + 2000 for number in numbers)
    batches: list[list[int]] = []
    room = 0.0
    for number in sorted(numbers, key=lambda item: -sizes[item]):
        if not batches or room <= 0:
            batches.append([])
            room = min(rest / _BATCHES_OF_THE_REST, whole / _FIRST_BATCHES) / workers
            room = max(room, whole / _LAST_BATCHES / workers)
        batches[-1].append(number)
        room -= sizes[number] + 2000
        rest -= sizes[number] + 2000
    return batches


def _in_processes(
    shared: Shared, work: Work[Shared, Result], batches: list[list[int]], workers: int
) -> Iterator[list[tuple[int, Result]]]:
    """Run batches in worker processes. A batch whose process died is done again item by item."""
    # Loaded here, for a small run needs no processes and should not wait for this.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    with ProcessPoolExecutor(workers, context, _start_worker, (shared,)) as pool:
        futures = [pool.submit(_do_batch, work.do, batch) for batch in batches]
        broken: list[list[int]] = []
        for future, batch in zip(futures, batches, strict=True):
            try:
                yield future.result()
            except BrokenProcessPool:
                broken.append(batch)
    for number in chain.from_iterable(broken):
        with ProcessPoolExecutor(1, context, _start_worker, (shared,)) as pool:
            try:
                yield pool.submit(_do_batch, work.do, [number]).result()
            except BrokenProcessPool:
                yield [(number, work.lost(shared, number))]


def collect_seldom() -> None:
    """Let this process look for cycles of unused objects seldom, for as long as it lives."""
    gc.set_threshold(_COLLECT_AFTER)


# A worker process is given what all share once, when it starts, and not with every batch.
_worker_shared: list[Any] = []


def _start_worker(shared: Any) -> None:
    gc.freeze()
    collect_seldom()
    _worker_shared[:] = [shared]


def _do_batch(do: Callable[[Any, int], Result], batch: list[int]) -> list[tuple[int, Result]]:
    return [(number, do(_worker_shared[0], number)) for number in batch]
