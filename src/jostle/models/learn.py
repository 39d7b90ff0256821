"""Learning: L-BFGS over named arrays, in rounds, so that it can be watched, stopped and taken up again.

A model says what is to be minimised by an *objective*: a frozen dataclass whose fields are its settings and whose call
takes parameters and data, both dictionaries of arrays, and returns the loss and the jitter it needed, in jax. Two
objectives with equal settings are equal, so the second fit of a size finds everything compiled.

After every round L-BFGS forgets its past. So a round is all there is to remember: a fit that was stopped and goes on
from its journal takes the same steps, to the bit, as one that was not. A round that ends worse than it began, or in
numbers that are none, is undone and tried again with the first step shortened; after three of these learning stops
where it was best, and says so.

A journal is written when a stage begins and after every round, so ctrl-C always leaves one.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import jax
import numpy as np
import scipy.optimize

from jostle.errors import FileError, JostleError
from jostle.files import read_bytes, write_bytes
from jostle.models.backend import float64, one_thread
from jostle.types import Array, Float, PathLike

Params = dict[str, Array]
Bounds = tuple[float | Array, float | Array]  # least and most, of all entries or of each

ROUND = 60  # iterations between two looks
_UNDONE = 3  # rounds that may end badly
_HUGE = 1e60  # stands for a loss that is no number: L-BFGS takes a shorter step


@runtime_checkable
class Objective(Protocol):
    """Hashable, equal where its settings are equal."""

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        """The loss, and the jitter that was needed."""
        ...


@dataclass(frozen=True, eq=False)
class Learnt:
    params: Params
    loss: float
    iterations: int
    jitter: float  # at the end; 0 where every covariance was definite
    trouble: str | None = None  # in words, where it stopped for a reason of its own
    losses: list[float] = field(default_factory=list)  # after every round


@dataclass
class Watch:
    """Who looks on: told how far learning is, and keeping a journal on disk if it has a place for it."""

    progress: Callable[[int, int], None] = lambda done, total: None
    journal: PathLike | None = None
    resume: bool = False
    total: int = 0
    done: int = 0
    scope: str = ""  # before the names of stages, where several models are learnt one after the other
    _stages: dict[str, tuple[dict[str, Any], Array]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.resume and self.journal is not None:
            self._stages = _read_journal(self.journal)

    def plan(self, iterations: int) -> None:
        """How many iterations all stages together may take."""
        self.total, self.done = iterations, 0

    def tell(self, iterations: int) -> None:
        self.done += iterations
        self.progress(min(self.done, self.total), max(self.total, 1))

    def shared(self, count: int) -> list[Watch]:
        """For several models, one after the other: one journal, and one way to go."""

        def part(i: int) -> Watch:
            def told(done: int, total: int) -> None:
                self.progress(i * total + done, count * total)

            return replace(self, progress=told, resume=False, scope=f"{self.scope}{i}/")

        return [part(i) for i in range(count)]

    def recall(self, stage: str, digest: str) -> tuple[dict[str, Any], Array] | None:
        kept = self._stages.get(self.scope + stage)
        if kept is not None and kept[0]["digest"] != digest:
            raise FileError(
                str(self.journal), f"its stage '{stage}' is of other clips or settings; learn anew without resuming."
            )
        return kept

    def keep(self, stage: str, state: dict[str, Any], vector: Array) -> None:
        self._stages[self.scope + stage] = (state, vector.copy())
        if self.journal is not None:
            _write_journal(self.journal, self._stages)


def minimise(
    objective: Objective,
    start: Params,
    data: Mapping[str, Any],
    iterations: int,
    *,
    bounds: Mapping[str, Bounds] | None = None,
    watch: Watch | None = None,
    stage: str = "learn",
) -> Learnt:
    """The parameters at which `objective` is least, from `start`, within `bounds`, in at most so many iterations."""
    watch = watch or Watch(total=iterations)
    names, shapes = list(start), [np.shape(start[name]) for name in start]
    vector = _flat(start)
    limits = _limits(start, bounds or {})
    digest = _digest(objective, vector, data, limits, iterations)
    state: dict[str, Any] = {"digest": digest, "iterations": 0, "undone": 0, "done": False, "losses": []}
    evaluate = _evaluator(objective, names, shapes, data)
    with one_thread():
        if (kept := watch.recall(stage, digest)) is not None:
            state, vector = kept[0] | {"losses": list(kept[0]["losses"])}, kept[1]
            watch.tell(state["iterations"])
        else:
            watch.keep(stage, state, vector)
        # As the last round found it: scaled down, it may differ in the last bit from what is found again.
        loss = state["losses"][-1] if state["losses"] else evaluate(vector)[0]
        if not np.isfinite(loss):
            raise JostleError("Learning cannot begin: the likelihood of the data as given is no number.")
        while not state["done"]:
            vector, loss = _round(evaluate, vector, loss, limits, iterations, state, watch)
            watch.keep(stage, state, vector)
        watch.tell(iterations - state["iterations"])  # those that were not needed
        loss, _, jitter = evaluate(vector)
    return Learnt(_named(vector, names, shapes), loss, state["iterations"], jitter, _trouble(state), state["losses"])


def _round(
    evaluate: Callable[[Array], tuple[float, Array, float]],
    vector: Array,
    loss: float,
    limits: list[tuple[float, float]],
    iterations: int,
    state: dict[str, Any],
    watch: Watch,
) -> tuple[Array, float]:
    """Up to ROUND iterations; the vector after them, or the one before where they led nowhere."""
    left = min(ROUND, iterations - state["iterations"])
    shrink = _shrink(evaluate, vector, state["undone"])

    def told(v: Array) -> tuple[float, Array]:
        value, slope, _ = evaluate(v)
        if not (np.isfinite(value) and np.all(np.isfinite(slope))):
            return _HUGE, np.zeros_like(v)
        return shrink * value, shrink * slope

    count = 0

    def counted(_: Array) -> None:
        nonlocal count
        count += 1
        watch.tell(1)

    found = scipy.optimize.minimize(
        told, vector, jac=True, method="L-BFGS-B", bounds=limits, callback=counted,
        options={"maxiter": left, "maxcor": 20, "maxfun": 3 * left + 20, "ftol": 1e-10 * shrink, "gtol": 1e-7 * shrink},
    )  # fmt: skip
    state["iterations"] += count
    better = float(found.fun) / shrink
    if np.isfinite(better) and better < loss - 1e-9 * abs(loss):
        vector, loss = found.x, better
        state["losses"].append(loss)
        state["done"] = state["iterations"] >= iterations or (found.status == 0 and count < left)
    else:
        state["undone"] += 1
        state["done"] = found.status == 0 or state["undone"] >= _UNDONE or state["iterations"] >= iterations
    return vector, loss


def _shrink(evaluate: Callable[[Array], tuple[float, Array, float]], vector: Array, undone: int) -> float:
    """What the loss is multiplied by: L-BFGS's first step is the slope, at most of length 1; here a tenth of that for
    every round that was undone.
    """
    if undone == 0:
        return 1.0
    return 0.1**undone / max(1.0, float(np.linalg.norm(evaluate(vector)[1])))


def _trouble(state: dict[str, Any]) -> str | None:
    if state["undone"] < _UNDONE:
        return None
    return f"Learning stopped after {state['iterations']} iterations: no step made it better."


@float64
def _evaluator(
    objective: Objective, names: list[str], shapes: list[tuple[int, ...]], data: Mapping[str, Any]
) -> Callable[[Array], tuple[float, Array, float]]:
    given = {name: jax.numpy.asarray(value) for name, value in data.items()}

    @float64
    def evaluate(vector: Float[Array, "P"]) -> tuple[float, Float[Array, "P"], float]:
        (loss, jitter), slopes = _value_and_slope(objective, _named(vector, names, shapes), given)
        return float(loss), _flat({name: np.asarray(slopes[name]) for name in names}), float(jitter)

    return evaluate


def _call(objective: Objective, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
    return objective(params, data)


_value_and_slope = jax.jit(jax.value_and_grad(_call, argnums=1, has_aux=True), static_argnums=0)


def _flat(params: Mapping[str, Array]) -> Float[Array, "P"]:
    return np.concatenate([np.asarray(value, dtype=float).ravel() for value in params.values()])


def _named(vector: Float[Array, "P"], names: list[str], shapes: list[tuple[int, ...]]) -> Params:
    out, at = {}, 0
    for name, shape in zip(names, shapes, strict=True):
        size = int(np.prod(shape))
        out[name] = vector[at : at + size].reshape(shape)
        at += size
    return out


def _limits(start: Params, bounds: Mapping[str, Bounds]) -> list[tuple[float, float]]:
    out: list[tuple[float, float]] = []
    for name, value in start.items():
        least, most = (np.broadcast_to(end, np.shape(value)) for end in bounds.get(name, (-np.inf, np.inf)))
        out += zip(least.ravel().tolist(), most.ravel().tolist(), strict=True)
    return out


def _digest(objective: Objective, vector: Array, data: Mapping[str, Any], limits: list[Any], iterations: int) -> str:
    digest = hashlib.sha256(f"{objective!r} {limits} {iterations}".encode())
    for array in (vector, *(np.asarray(data[name]) for name in sorted(data))):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _write_journal(path: PathLike, stages: dict[str, tuple[dict[str, Any], Array]]) -> None:
    head = json.dumps({stage: state for stage, (state, _) in stages.items()}).encode()
    arrays: dict[str, Any] = {f"stage_{i}": vector for i, (_, vector) in enumerate(stages.values())}
    buffer = io.BytesIO()
    np.savez(buffer, head=np.frombuffer(head, dtype=np.uint8), **arrays)
    write_bytes(path, buffer.getvalue())


def _read_journal(path: PathLike) -> dict[str, tuple[dict[str, Any], Array]]:
    raw = read_bytes(path)
    try:
        with np.load(io.BytesIO(raw), allow_pickle=False) as file:
            head = json.loads(file["head"].tobytes())
            return {
                stage: (_state(state), _vector(file[f"stage_{i}"])) for i, (stage, state) in enumerate(head.items())
            }
    except (zipfile.BadZipFile, zlib.error, ValueError, KeyError, TypeError, EOFError, OSError, AttributeError):
        raise FileError(path, "it is no journal of a fit; learn anew without resuming.") from None


def _state(given: dict[str, Any]) -> dict[str, Any]:
    """As `minimise` wrote it, or an error."""
    state = {
        "digest": str(given["digest"]),
        "iterations": int(given["iterations"]),
        "undone": int(given["undone"]),
        "done": bool(given["done"]),
        "losses": [float(loss) for loss in given["losses"]],
    }
    if state["iterations"] < 0 or state["undone"] < 0 or not np.all(np.isfinite(state["losses"])):
        raise ValueError
    return state


def _vector(given: Array) -> Float[Array, "P"]:
    if given.ndim != 1 or given.dtype != np.float64 or not np.all(np.isfinite(given)):
        raise ValueError
    return given
