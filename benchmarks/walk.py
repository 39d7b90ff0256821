"""Walkers: what the controller costs beside its physics, and a table of what time step and contacts change.

python -m benchmarks walk                          # the costs, as ratios
python -m benchmarks.walk [WALKER …] --seconds 10  # docs/walking/time_step.md, for shipped walkers or files
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.timing import Row
from jostle.controllers.walker.parameters import SPACES
from jostle.controllers.walker.people import PEOPLE, walker_options, walker_physics
from jostle.controllers.walker.trace import rollout
from jostle.controllers.walker.walk import Walk
from jostle.evaluate.walk.subjects import Subject, find_subjects
from jostle.tuning.objective import Goal, score

STARTS = 4  # of each walker, a little apart, to tell what a change is worth


def rows() -> list[Row]:
    return [_beside_physics(count, threads) for count, threads in ((1, 1), (64, 2), (128, 2))]


def _beside_physics(count: int, threads: int, steps: int = 200) -> Row:
    """Steps in closed loop, and how much of them MuJoCo took; medians, so that interruptions do not count."""
    values = SPACES["simbicon"].initial  # walks for long enough without having been optimised
    walk = Walk(walker_physics(PEOPLE["stocky"]), count, "simbicon", threads)
    walk.start(np.tile(values, (count, 1)))
    step, inside, whole = walk.many.step, [], []

    def timed(substeps: int = 1) -> None:
        begun = time.perf_counter()
        step(substeps)
        inside.append(time.perf_counter() - begun)

    walk.many.step = timed
    for _ in range(steps):
        begun = time.perf_counter()
        walk.step()
        whole.append(time.perf_counter() - begun)
    job = f"a step of {count} walkers in closed loop, {threads} threads"
    return Row(job, float(np.median(whole)), "physics alone", float(np.median(inside)))


@dataclass(frozen=True)
class Setting:
    """What differs from how walkers are simulated usually."""

    name: str
    timestep: float = 0.002
    options: Mapping[str, object] = field(default_factory=dict)
    friction: float = 1.0  # times the walker's own
    tolerance: float = 1e-8  # of MuJoCo's solver


SETTINGS = (
    *(Setting(f"{1e3 * dt:g} ms", dt) for dt in (0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003, 0.004)),
    Setting("1 ms, elliptic cone", 0.001, {"cone": "elliptic"}),
    Setting("2 ms, elliptic cone", options={"cone": "elliptic"}),
    Setting("2 ms, contacts of 5 ms", options={"contact_time": 0.005}),
    Setting("2 ms, contacts of 20 ms", options={"contact_time": 0.02}),
    Setting("2 ms, friction x 2", friction=2.0),
    Setting("2 ms, elliptic, friction x 10", options={"cone": "elliptic"}, friction=10.0),
    Setting("1 ms, armature 0.02", 0.001, {"armature": 0.02}),
    Setting("2 ms, armature 0.02", options={"armature": 0.02}),
    Setting("2 ms, tolerance 1e-4", tolerance=1e-4),
    Setting("2 ms, tolerance 1e-10", tolerance=1e-10),
)
COLUMNS = ("walked_s", "speed", "step_m", "cycle_s", "E_power", "hip", "knee", "ankle", "both", "heel_off")
COLUMNS += ("vel", "land", "sym", "ang", "head", "ratio", "stance")


def measure(subject: Subject, setting: Setting, seconds: float) -> np.ndarray:
    """A row for each start."""
    ground = replace(subject.ground, friction=setting.friction * subject.ground.friction)
    options = replace(walker_options(setting.timestep), **setting.options)  # type: ignore[arg-type]
    physics = walker_physics(subject.person, ground, options=options)
    physics.model.opt.tolerance = setting.tolerance
    values = _starts(subject)
    speed = values[:, SPACES[subject.machine].index["velocity.x"]]
    trace = rollout(Walk(physics, STARTS, subject.machine, 2), values, seconds, subject.person.fallen)
    found = score(trace, Goal(), speed)
    seen = found.seen
    own = [seen["seconds"], seen["velocity"][:, 0], seen["step_m"], seen["cycle_s"], seen["power"], *seen["ratio"].T]
    own += [seen["double_support"], seen["heel_off"], *(found.terms[name] for name in COLUMNS[10:])]
    return np.stack(own, axis=1)


def _starts(subject: Subject) -> np.ndarray:
    """The walker itself, and others whose start state differs by a tenth of a scale."""
    space = SPACES[subject.machine]
    start = np.array([name.startswith(("angle.", "rate.", "velocity.")) for name in space.names])
    apart = 0.1 * np.random.default_rng(0).normal(size=(STARTS, len(space))) * start
    apart[0] = 0.0
    return space.decode(space.encode(subject.values) + apart)


def _line(name: str, row: np.ndarray) -> str:
    cells = [f"{x:.0f}" if c == "E_power" else f"{x:.3f}" for c, x in zip(COLUMNS, row, strict=True)]
    return "| " + " | ".join([name, *cells]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.walk", description=__doc__)
    parser.add_argument("walkers", nargs="*", help="shipped walkers or .jostle files (default: all that are shipped)")
    parser.add_argument("--seconds", type=float, default=10.0)
    args = parser.parse_args()
    for subject in find_subjects(args.walkers):
        print(f"\n{subject.name}: means over {STARTS} starts a little apart; their spread at 2 ms in the last row\n")
        print("| setting | " + " | ".join(COLUMNS) + " |\n|" + "---|" * (len(COLUMNS) + 1))
        spread = np.zeros(len(COLUMNS))
        for setting in SETTINGS:
            found = measure(subject, setting, args.seconds)
            print(_line(setting.name, found.mean(axis=0)), flush=True)
            spread = found.std(axis=0) if setting.name == "2 ms" else spread
        print(_line("spread at 2 ms", spread))


if __name__ == "__main__":
    main()
