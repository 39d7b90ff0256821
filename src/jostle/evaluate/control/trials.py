"""What is measured of each method on each set of clips; every function here is a job and gives plain data.

Each trains its own, from the same clips, for the same task with the same reward and discount, and is asked for the same
directions. The peers clean up no feet, as published; ours does, and is measured as it is shown.

reachable    the share of training frames to which some run comes near in latent space, within one step of the data
inter_clip   the distance from a frame to the nearest one of another clip, in steps: the median
escapes      how often a run stays for a second where poses are more than 20 times as unsure as at the data
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.controllers import Controller
from jostle.controllers.policy.constants import Constants
from jostle.controllers.policy.peers.fields import FieldSettings, train_fields
from jostle.controllers.policy.peers.graph import GraphSettings, train_graph
from jostle.controllers.policy.policy import Policy, plan_policy
from jostle.controllers.policy.switching import Switch
from jostle.controllers.policy.tasks import Heading
from jostle.errors import MotionError
from jostle.evaluate.control import hindered, steered, takes
from jostle.evaluate.metrics import skate
from jostle.maths.angles import wrapped
from jostle.models.connected import fit_connected
from jostle.models.connected_model import Connected
from jostle.models.sequences import slices
from jostle.types import Array, Float

ESCAPED, FOR_GOOD = 20.0, 1.0  # times the mean variance at the data; seconds
STRAYS = (0.0, 0.02, 0.05, 0.15, 0.5, 1.5)  # c_x of ours: what it costs to leave the way of the dynamics
PULLS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6)  # of motion fields
BLENDS = ((0.3, 0.06), (0.2, 0.06), (0.2, 0.1), (0.2, 0.2), (4 / 30, 0.06), (4 / 30, 0.1), (4 / 30, 0.2), (0.1, 0.1))


@dataclass(frozen=True)
class Effort:
    """How much is trained and measured."""

    iterations: int = 250  # of the model
    rounds: int = 4  # of refinement
    runs: int = 5
    frames: int = 1000  # of a run
    turns: int = 20
    steps: int = 100_000  # in which nobody may escape


QUICK = Effort(iterations=80, rounds=1, runs=2, frames=400, turns=4, steps=2000)


def ours(name: str, data: Path | None, w_c: float, effort: Effort, seed: int) -> dict[str, Any]:
    """Of the policy; `w_c` 0 is without the prior of connectivity."""
    clips = takes.clips_of(name, data)
    policy = trained(clips, effort, seed, w_c)
    found, runs = told(policy, clips, effort, seed)
    variance = np.concatenate([run.variance for run in runs])
    near, far = apart(policy.model)
    found |= {
        "frames": len(policy.model.latent_rows),
        "samples": len(policy.plan.samples.x),
        "reachable": reachable(policy, runs),
        "inter_clip": near,
        "inter_clip_90": far,
        "variance_99": float(np.quantile(variance, 0.99)),
        "escapes": escapes(policy, effort.steps, seed),
    }
    if w_c:
        found |= {f"feet_{key}": value for key, value in hindered.skate_of(policy, seed, effort.frames).items()}
        found |= hindered.ik_of(policy, seed, min(effort.frames, 300)) | {"frames": found["frames"]}
    return found


def fields(name: str, data: Path | None, effort: Effort, seed: int) -> dict[str, Any]:
    clips = takes.clips_of(name, data)
    return told(train_fields(clips), clips, effort, seed)[0]


def graph(name: str, data: Path | None, effort: Effort, seed: int) -> dict[str, Any]:
    clips = takes.clips_of(name, data)
    learnt = train_graph(clips)
    also = {"jumps": len(learnt.web.graph.jumps), "kept": learnt.web.graph.share}
    return told(learnt, clips, effort, seed)[0] | also | {"threshold": learnt.settings.threshold}


def swept(name: str, data: Path | None, method: str, effort: Effort, seed: int) -> dict[str, Any]:
    """Reward beside acceleration, by what a method trades one for the other with."""
    clips = takes.clips_of(name, data)
    ways: dict[str, Callable[[], Controller]] = {}
    if method == "ours":
        model = learnt_model(clips, effort, seed)
        less = replace(effort, rounds=min(effort.rounds, 1))  # so that a sweep takes minutes
        ways = {f"c_x {c:g}": lambda c=c: planned(model, less, seed, Constants(stray=c)) for c in STRAYS}
    elif method == "fields":
        ways = {f"pull {d:g}": lambda d=d: train_fields(clips, settings=FieldSettings(drift=d)) for d in PULLS}
        ways["the paper's"] = lambda: train_fields(clips, settings=FieldSettings(drift=0.1, chosen=False))
    else:
        ways = {f"{b:.2f} s, {t:g} m": lambda b=b, t=t: train_graph(clips, settings=GraphSettings(t, b))
                for b, t in BLENDS}  # fmt: skip
    rows = []
    for setting, train in ways.items():
        try:
            runs = steered_runs(train(), effort, seed)
        except MotionError:  # a graph that no frames are left in
            continue
        reward = float(np.mean([steered.reward_of(run) for run in runs]))
        rows.append({"method": method, "setting": setting, "reward": reward,
                     "acceleration_ratio": steered.acceleration_ratio(runs, clips)})  # fmt: skip
    return {"rows": rows}


def switched(data: Path, effort: Effort, seed: int) -> dict[str, Any]:
    """From walking to running and back."""
    both = {name: trained(takes.clips_of(own, data), effort, seed)
            for name, own in (("walk", "walk 2"), ("run", "run"))}  # fmt: skip
    return hindered.seams_of(Switch(both), seed)


def strikes(name: str, data: Path, seed: int) -> dict[str, Any]:
    from jostle.evaluate.control import strike_tables

    return next(iter(strike_tables.strike_rows(data, seed, (name,))))


def strikes_connected(data: Path, seed: int) -> dict[str, Any]:
    from jostle.evaluate.control import strike_tables

    return {"rows": list(strike_tables.connectivity_rows(data, seed))}


def learnt_model(clips: Sequence[Clip], effort: Effort, seed: int, w_c: float = 0.1) -> Connected:
    task = Heading()
    return fit_connected(task.chosen(clips), w_c=w_c, iterations=effort.iterations, seed=seed, **task.learnt_with)


def planned(model: Connected, effort: Effort, seed: int, constants: Constants | None = None) -> Policy:
    return plan_policy(model, Heading(), constants=constants, rounds=effort.rounds, seed=seed)


def trained(clips: Sequence[Clip], effort: Effort, seed: int, w_c: float = 0.1) -> Policy:
    return planned(learnt_model(clips, effort, seed, w_c), effort, seed)


def steered_runs(controller: Controller, effort: Effort, seed: int) -> list[steered.Run]:
    return [steered.run(controller, 1000 * seed + run, effort.frames) for run in range(effort.runs)]


def told(
    controller: Controller, clips: Sequence[Clip], effort: Effort, seed: int
) -> tuple[dict[str, Any], list[steered.Run]]:
    """What every method is measured by."""
    runs = steered_runs(controller, effort, seed)
    found: dict[str, Any] = {
        "reward": float(np.mean([steered.reward_of(run) for run in runs])),
        "acceleration_ratio": steered.acceleration_ratio(runs, clips),
        "foot_skate": float(np.mean([skate(run.clip)["foot_skate"] for run in runs])),
    }
    for degrees in (90, 180):
        turned = steered.turns(controller, float(degrees), seed, effort.turns)
        times = np.array([steered.settled(run) for run in turned])
        found[f"turn_{degrees}_s"] = _quantile(times, 0.5)
        found[f"turn_{degrees}_90th_s"] = _quantile(times, 0.9)
        found[f"missed_{degrees}"] = int(np.sum(~np.isfinite(times)))
        off = np.degrees(np.mean([steered.after_turn(run) for run in turned], axis=0))
        found[f"off_{degrees}"] = [float(value) for value in np.round(off, 2)]
    return found, runs


def _quantile(times: Float[Array, "n"], share: float) -> float | None:
    """None where it is that of a command which was missed."""
    value = float(np.quantile(times, share, method="higher"))
    return value if np.isfinite(value) else None


def reachable(policy: Policy, runs: Sequence[steered.Run]) -> float:
    """Without the first second of each run, which says where it began."""
    X, first = policy.model.latent_rows, round(1.0 / policy.dt)
    passed = np.concatenate([run.latent[first:] for run in runs])
    nearest = np.array([np.min(np.sum((passed - x) ** 2, axis=1)) for x in X])
    return float(np.mean(np.sqrt(nearest) < usual_step(policy.model)))


def usual_step(model: Connected) -> float:
    steps = [np.diff(model.latent_rows[rows], axis=0) for rows in slices(model.lengths)]
    return float(np.median(np.linalg.norm(np.concatenate(steps), axis=1)))


def apart(model: Connected) -> tuple[float, float]:
    """The median and the 90th percentile."""
    X, owner = model.latent_rows, np.repeat(np.arange(len(model.lengths)), model.lengths)
    between = np.linalg.norm(X[:, None] - X[None], axis=-1)
    between[owner[:, None] == owner[None]] = np.inf
    near = between.min(axis=1) / usual_step(model)
    return float(np.median(near)), float(np.quantile(near, 0.9))


def escapes(policy: Policy, steps: int, seed: int, runs: int = 50) -> int:
    """In so many steps, of runs side by side; in latent space, where constraints and poses play no part."""
    plan, rng = policy.plan, np.random.default_rng([seed, 5])
    begin = rng.integers(0, len(plan.paths.samples), runs)
    x, step, facing = plan.samples.x[begin], plan.samples.step[begin], np.zeros(runs)
    frames, limit = max(1, steps // runs), round(FOR_GOOD / policy.dt)
    asked = np.array([steered.random_headings(1000 * seed + 500 + run, frames, policy.dt) for run in range(runs)])
    out, count = np.zeros(runs, dtype=int), 0
    for wish in asked.T:
        following, _ = plan.best(x, step, wrapped(wish - facing)[:, None])
        facing = facing + policy.dt * policy.model.travel(following, x)[:, 2]
        x, step = following, following - x
        out = np.where(plan.doubt(x) > ESCAPED, out + 1, 0)
        count += int(np.sum(out == limit))
    return count
