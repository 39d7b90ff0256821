"""Run the parts of an experiment on all processors, and keep what is finished.

A job is a function at the top of a module, its arguments, and a key. Its result is plain data, as JSON knows it.
Results are kept in the checkpoint as they come, so an interrupted experiment goes on where it was; a job whose key is
there is not run again, so a key must tell everything that the result depends on.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

from jostle import __version__
from jostle.errors import CommandError, FormatError
from jostle.files import read_bytes, write_text

FORMAT = "jostle-evaluation"
_PULSE = 0.5  # seconds between two looks at the progress
_told: Any = None  # in a worker: where its ticks go


@dataclass(frozen=True)
class Job:
    key: str
    work: Callable[..., Any]  # called with `arguments` and, where `ticks`, a function that hears of progress
    arguments: tuple[Any, ...]
    cost: float = 1.0  # compared with the other jobs
    ticks: float = 0.0  # how many it will give, about


def run_jobs(
    jobs: Sequence[Job],
    workers: int = 0,
    checkpoint: Path | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> dict[str, Any]:
    """The results by key; jobs of one key are one job. `workers` 0 means all processors, 1 this process."""
    jobs = list({job.key: job for job in jobs}.values())
    kept = _read(checkpoint) if checkpoint is not None and checkpoint.exists() else {}
    results = {job.key: kept[job.key] for job in jobs if job.key in kept}
    bar = _Bar(jobs, progress)
    for key in results:
        bar.finish(key)
    todo = sorted((job for job in jobs if job.key not in results), key=lambda job: -job.cost)
    for key, result in _results(todo, workers or os.cpu_count() or 1, bar):
        results[key] = result
        bar.finish(key)
        if checkpoint is not None:
            _write(checkpoint, kept | results)
    return results


class _Bar:
    """Adds up what jobs say of themselves, in units of cost."""

    def __init__(self, jobs: Sequence[Job], progress: Callable[[float, float], None] | None) -> None:
        self._jobs, self._progress = {job.key: job for job in jobs}, progress
        self._done = dict.fromkeys(self._jobs, 0.0)

    def tick(self, key: str, ticks: float) -> None:
        job = self._jobs[key]
        self._set(key, min(self._done[key] + job.cost * ticks / max(job.ticks, 1.0), 0.95 * job.cost))

    def finish(self, key: str) -> None:
        self._set(key, self._jobs[key].cost)

    def _set(self, key: str, cost: float) -> None:
        self._done[key] = cost
        if self._progress is not None:
            self._progress(sum(self._done.values()), sum(job.cost for job in self._jobs.values()))


def _results(jobs: Sequence[Job], workers: int, bar: _Bar) -> Iterator[tuple[str, Any]]:
    if min(workers, len(jobs)) <= 1:
        for job in jobs:
            told = (lambda ticks, key=job.key: bar.tick(key, ticks),) if job.ticks else ()
            yield job.key, job.work(*job.arguments, *told)
        return
    with _pool(min(workers, len(jobs))) as (pool, told):
        waiting: dict[Future, str] = {pool.submit(_work, job): job.key for job in jobs}
        while waiting:
            done, _ = wait(waiting, timeout=_PULSE, return_when=FIRST_COMPLETED)
            for key, ticks in _drain(told):
                bar.tick(key, ticks)
            for future in done:
                yield waiting.pop(future), _result(future)


def _result(future: Future) -> Any:
    try:
        return future.result()
    except BrokenProcessPool:
        raise CommandError(
            "A process that measured was ended from outside, most likely for want of memory; close other programs and "
            "run it again with --resume FILE, which keeps what is finished."
        ) from None


@contextmanager
def _pool(workers: int) -> Iterator[tuple[ProcessPoolExecutor, Any]]:
    """Processes of our own, ended at once when the experiment is."""
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    pool = ProcessPoolExecutor(workers, context, _begin, (told,))
    before = set(multiprocessing.active_children())
    try:
        yield pool, told
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    finally:
        pool.shutdown()


def _begin(told: Any) -> None:
    """In a new worker: ctrl-C is the parent's to answer."""
    global _told
    _told = told
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(job: Job) -> Any:
    told = (lambda ticks: _told.put((job.key, ticks)),) if job.ticks else ()
    return job.work(*job.arguments, *told)


def _drain(told: Any) -> Iterator[tuple[str, float]]:
    while True:
        try:
            yield told.get_nowait()
        except Empty:
            return


def _read(path: Path) -> dict[str, Any]:
    try:
        kept = json.loads(read_bytes(path))
        if kept["format"] != FORMAT or not isinstance(kept["results"], dict):
            raise ValueError("of another kind")
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(path, f"it is no checkpoint of an evaluation ({error}); name another file.") from None
    return kept["results"] if kept.get("version") == __version__ else {}


def _write(path: Path, results: dict[str, Any]) -> None:
    write_text(path, json.dumps({"format": FORMAT, "version": __version__, "results": results}))
