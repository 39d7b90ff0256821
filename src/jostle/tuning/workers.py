"""Scoring on a Dask cluster: the population is cut into pieces, one for each thread of the cluster's workers.

A worker keeps the simulations that it built (`_bench`), so only parameters and scores travel. Scores are those of this
machine to the last bit where the workers have the same processor and versions; the versions are compared at the start.
"""

from __future__ import annotations

import importlib.metadata
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from jostle.errors import CommandError
from jostle.tuning.trials import Bench, Job, Outcome, join
from jostle.types import Array, Float

PATIENCE = 20.0  # seconds to reach the scheduler, and for a first worker to come
_COMPARED = ("jostle", "numpy", "mujoco", "scipy")
_local = threading.local()  # workers may have several threads, and a bench serves one


def versions() -> dict[str, str]:
    """Of what scores depend on."""
    return {name: importlib.metadata.version(name) for name in _COMPARED}


def score_piece(job: Job, values: Float[Array, "B P"]) -> Outcome:
    """Runs on a worker."""
    if not hasattr(_local, "bench"):
        _local.bench = Bench(threads=1)
    return _local.bench.score(job, values)


class Cluster:
    """Score on the workers of a Dask scheduler at `address`, such as "tcp://head:8786"."""

    def __init__(self, client: Any) -> None:
        self.client = client

    @property
    def threads(self) -> int:
        return sum(self.client.nthreads().values())

    def score(self, job: Job, values: Float[Array, "B P"]) -> Outcome:
        """As `Bench.score`. A worker that is lost costs time, not the run: its piece goes to another."""
        pieces = np.array_split(values, min(max(1, self.threads), len(values)))
        futures = [self.client.submit(score_piece, job, piece, pure=False, retries=3) for piece in pieces]
        try:
            return join(self.client.gather(futures))
        except KeyboardInterrupt:
            self.client.cancel(futures)
            raise
        except Exception as error:  # whatever a worker or the connection died of
            raise CommandError(
                f"The cluster could not score this generation ({type(error).__name__}: {_first_line(error)}); "
                "everything before it is kept."
            ) from None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no more is known"])[0]


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """Connect to a scheduler and check that its workers can score."""
    try:
        import distributed
    except ImportError:
        raise CommandError("A cluster needs an extra; install it with: pip install 'jostle[cluster]'.") from None
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise CommandError(
            f"No Dask scheduler answers at '{address}' ({_first_line(error)}); start one with: dask scheduler"
        ) from None
    with _quiet(), client:
        _check_workers(client, address)
        yield Cluster(client)


@contextmanager
def _quiet() -> Iterator[None]:
    """What happens to the connection is told in one sentence, not in distributed's tracebacks as well."""
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)


def _check_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise CommandError(
            f"The scheduler at '{address}' has no workers; start some with: dask worker {address}"
        ) from None
    try:
        found = client.run(versions)
    except Exception as error:  # jostle is missing there, or is another one
        raise CommandError(
            f"The workers at '{address}' cannot run jostle ({_first_line(error)}); install this version of it there."
        ) from None
    here = versions()
    for worker, there in found.items():
        other = [f"{name} {there[name]} (here {here[name]})" for name in _COMPARED if there[name] != here[name]]
        if other:
            raise CommandError(f"The worker {worker} has {', '.join(other)}; scores would differ; install the same.")
