"""The push experiment of Wang 2010, section 3.4: how hard can a walker be pushed, again and again, and walk on?

40 s of walking; every 4 s a push of 0.4 s on the centre of mass of the torso. It passes who is still walking
forward at the end: not fallen, and over the last 4 s gone further ahead than aside, and at least a quarter as far as
without pushes. A direction (1, 1) is pushed with both components, so a tolerance is that of each, as in table 3.2.

When in the stride a push comes changes the answer by tens of newtons. So every direction is tried with four offsets,
which shift all pushes by 0, 1, 2 and 3 s (and by a fraction of a second that the seed chooses), and the mean counts.

Tolerance is not monotonic: who falls at 100 N may survive 120 N by luck. What is reported is the first failure from
below: forces rise on a grid of 50 N until one fails, then bisection between that and the force before it, to 3.2 N.
All directions and offsets of a walker go side by side in one batch, each with its own force and its own clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jostle.evaluate.walk.march import March
from jostle.evaluate.walk.subjects import REPORTED, Subject
from jostle.evaluate.walk.thesis import DIRECTIONS
from jostle.types import Array, Bool, Float

_SIDEWAYS = 1.0  # aside over ahead: beyond this it no longer walks forward
_SLOWER = 0.25  # of its own unpushed way


@dataclass(frozen=True)
class Protocol:
    """Seconds and newtons."""

    seconds: float = 40.0
    every: float = 4.0
    duration: float = 0.4
    first: float = 2.0  # when the first push comes, plus the offset; a walker must have found its rhythm
    offsets: tuple[float, ...] = (0.0, 1.0, 2.0, 3.0)
    directions: tuple[str, ...] = tuple(DIRECTIONS)
    grid: float = 50.0
    rungs: int = 3  # of the grid that are tried at once
    finest: float = 3.2
    most: float = 600.0  # nobody is pushed harder
    timestep: float = REPORTED

    @property
    def halvings(self) -> int:
        return int(np.ceil(np.log2(self.grid / self.finest)))

    @property
    def ticks(self) -> float:
        """About how many parts the work has."""
        return 2.0 * self.rungs + self.halvings


FULL = Protocol()
QUICK = Protocol(
    seconds=10.0, offsets=(0.0,), directions=("forward", "left", "back", "right"), rungs=6, finest=50.0, most=300.0,
    timestep=0.002,
)  # fmt: skip
Tick = Callable[[float], None]


def push_tolerance(subject: Subject, protocol: Protocol, seed: int, tick: Tick) -> dict[str, Any]:
    """For each direction the newtons tolerated with each offset; `tick` hears of every part of the work done."""
    shift = float(np.random.default_rng(seed).uniform(0.0, 1.0)) if seed else 0.0
    cases = [(d, o + shift) for d in protocol.directions for o in protocol.offsets]
    aim = np.array([[*DIRECTIONS[direction], 0.0] for direction, _ in cases])
    first = np.array([protocol.first + offset for _, offset in cases])
    usual = _usual_speed(subject, protocol)

    def survives(rows: Sequence[int], newtons: Float[Array, "n"]) -> Bool[Array, "n"]:
        forces = aim[list(rows)] * newtons[:, None]
        return pushed(subject, forces, first[list(rows)], protocol, usual)

    passed, failed = first_failure(len(cases), survives, protocol, tick)
    for _ in range(protocol.halvings):
        middle = 0.5 * (passed + failed)
        fine = survives(range(len(cases)), middle)
        passed, failed = np.where(fine, middle, passed), np.where(fine, failed, middle)
        tick(1.0)
    by_case = passed.reshape(len(protocol.directions), len(protocol.offsets))
    newtons = {direction: row.tolist() for direction, row in zip(protocol.directions, by_case, strict=True)}
    return {"walker": subject.name, "unpushed_speed": usual, "shift_s": shift, "newtons": newtons}


def first_failure(
    count: int,
    survives: Callable[[Sequence[int], Float[Array, "n"]], Bool[Array, "n"]],
    protocol: Protocol,
    tick: Tick,
) -> tuple[Float[Array, "n"], Float[Array, "n"]]:
    """For each case the smallest force of the grid that it fails at, and the one before, which it passed.

    Several rungs are tried at once; those beyond a failure cost little, because the fallen do. No force at all counts
    as passed.
    """
    passed, failed = np.zeros(count), np.full(count, np.inf)
    rungs = protocol.grid * np.arange(1, protocol.rungs + 1)
    while len(cases := np.flatnonzero(np.isinf(failed) & (passed < protocol.most))):
        newtons = passed[cases] + rungs[:, None]  # (rungs, cases)
        fine = survives(np.tile(cases, len(rungs)).tolist(), newtons.ravel()).reshape(newtons.shape)
        climbed = np.logical_and.accumulate(fine, axis=0).sum(axis=0)
        passed[cases] += protocol.grid * climbed
        stopped = climbed < len(rungs)
        failed[cases[stopped]] = passed[cases[stopped]] + protocol.grid
        tick(float(len(rungs)))
    return passed, np.where(np.isinf(failed), passed + protocol.grid, failed)


def pushed(
    subject: Subject, forces: Float[Array, "B 3"], first: Float[Array, "B"], protocol: Protocol, usual: float
) -> Bool[Array, "B"]:
    """Who still walks forward at the end, of a batch pushed with these forces from these times on."""
    count, dt = len(forces), protocol.timestep
    march = March(subject.walk(count, dt), subject.copies(count), subject.person.fallen)
    length, late = round(protocol.seconds / dt), round((protocol.seconds - protocol.every) / dt)
    begin, period, width = np.round(first / dt).astype(int), round(protocol.every / dt), round(protocol.duration / dt)
    before = np.zeros((count, 3))
    for k in range(length):
        since = (k - begin) % period
        if np.any((since == 0) | (since == width)):
            on = (k >= begin) & (since < width)
            march.walk.many.push(march.torso, forces * on[:, None])
        if k == late:
            before[:] = march.walk.many.com
        march.step()
        if not len(march.walk.rows):
            break
    gone = march.walk.many.com - before
    forward = gone[:, 0] > np.maximum(_SIDEWAYS * np.abs(gone[:, 1]), _SLOWER * usual * protocol.every)
    return march.walking & forward


def _usual_speed(subject: Subject, protocol: Protocol) -> float:
    """Ahead, without pushes; who falls by itself has none and passes nothing."""
    march = March(subject.walk(1, protocol.timestep), subject.copies(1), subject.person.fallen)
    start = march.walk.many.com[0, 0]
    while march.time < protocol.every and len(march.walk.rows):
        march.step()
    return float(march.walk.many.com[0, 0] - start) / max(march.time, protocol.timestep)


def tolerance(row: dict[str, Any]) -> dict[str, float]:
    """The mean over the offsets, by direction."""
    return {direction: float(np.mean(newtons)) for direction, newtons in row["newtons"].items()}
