"""What may happen to a walker: gusts, changes of heading, motor noise, another ground, and where someone else left off
(Wang 2010, section 4.3.3).

`Chance` is a distribution, as a recipe writes it; here it is drawn from. Each of the N walks of a candidate has a fate
of its own, and all candidates of a stage meet the same N fates: common random numbers (section 4.3.4), so that costs
can be compared. A fate depends on the seed and on its number alone, not on how many there are.

Events come at a rate a second, as the thesis's do with a probability at each of its 2,400 steps. Motor noise is drawn
anew at every step; white noise of a given strength is the same push to the body only if its variance grows as steps
shrink, so it is scaled to the step from the thesis's 1/2400 s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jostle.body import Ground
from jostle.controllers.walker.course import to_middle
from jostle.controllers.walker.walk import Walk
from jostle.types import Array, Float, Int

STEP = 1.0 / 2400.0  # seconds: the thesis's, at which its noise is drawn
HAMILTON = np.exp(-2.76)  # (4.15)
_GUSTS, _TURNS, _NOISE, _SWITCH, _GROUND = range(5)  # streams of a fate
_BLOCK = 100  # steps whose noise is drawn at once


@dataclass(frozen=True)
class Chance:
    """Distributions over what is not known when a walker is made."""

    trials: int = 10  # N: walks of every candidate
    force: float = 0.0  # newtons of a gust on the torso, from anywhere around
    gusts: float = 0.6  # a second
    duration: float = 0.4  # seconds that one lasts
    turn: float = 0.0  # radians: standard deviation of a change of heading
    turns: float = 1.2  # a second
    middle: float | None = None  # metres: someone steers it, so as to be over the middle of the beam so far ahead
    noise: float = 0.0  # beta of (4.15)
    friction: tuple[float, float] | None = None  # of the ground, from and to; None: the stage's
    slope_deg: tuple[float, float] | None = None  # likewise
    after: str | Mapping[str, float] | None = None  # a guided walker that it takes over from: its file, its parameters
    switch: tuple[float, float] = (1.0, 2.0)  # seconds: when it does, at the earliest and the latest
    fresh: bool = False  # other fates in every generation?

    @property
    def lays_ground(self) -> bool:
        """Does each walk have a ground of its own?"""
        return self.friction is not None or self.slope_deg is not None


def gust_steps(
    chance: Chance, seed: tuple[int, ...], seconds: float, dt: float
) -> tuple[Int[Array, "trials n"], Int[Array, "trials n"], Float[Array, "trials n 3"]]:
    """From which to which step each gust blows, and its force; rows are filled up with gusts of no length."""
    drawn = [_gusts(chance, np.random.default_rng((*seed, i, _GUSTS)), seconds) for i in range(chance.trials)]
    most = max(len(times) for times, _ in drawn) if chance.force else 0
    begin, force = np.zeros((chance.trials, most), dtype=int), np.zeros((chance.trials, most, 3))
    end = begin.copy()
    for i, (times, angles) in enumerate(drawn if most else ()):
        n = len(times)
        begin[i, :n] = np.round(times / dt)
        end[i, :n] = begin[i, :n] + max(1, round(chance.duration / dt))
        force[i, :n, :2] = chance.force * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return begin, end, force


def _gusts(chance: Chance, rng: np.random.Generator, seconds: float) -> tuple[Float[Array, "n"], Float[Array, "n"]]:
    times = _arrivals(rng, chance.gusts, seconds)
    return times, rng.uniform(0.0, 2.0 * np.pi, len(times))


def turn_steps(
    chance: Chance, seed: tuple[int, ...], seconds: float, dt: float
) -> list[tuple[int, Float[Array, "trials"]]]:
    """The steps at which someone's wished heading changes, and everybody's from then on."""
    if not chance.turn:
        return []
    changes = []
    for i in range(chance.trials):
        rng = np.random.default_rng((*seed, i, _TURNS))
        times = _arrivals(rng, chance.turns, seconds)
        by = rng.normal(0.0, chance.turn, len(times))
        changes += [(round(t / dt), i, angle) for t, angle in zip(times, by, strict=True)]
    wish, found = np.zeros(chance.trials), {}
    for step, i, angle in sorted(changes):
        wish[i] += angle
        found[step] = wish.copy()
    return list(found.items())


def _arrivals(rng: np.random.Generator, rate: float, seconds: float) -> Float[Array, "n"]:
    """Of a Poisson process. Drawn one after the other, so that longer walks begin as shorter ones do."""
    times, now = [], 0.0
    while rate > 0.0:
        now += rng.exponential(1.0 / rate)
        if now >= seconds:
            break
        times.append(now)
    return np.array(times)


def switch_times(chance: Chance, seed: tuple[int, ...]) -> Float[Array, "trials"]:
    """When each walk takes over (section 4.4.5)."""
    return np.array([np.random.default_rng((*seed, i, _SWITCH)).uniform(*chance.switch) for i in range(chance.trials)])


def grounds(
    chance: Chance, seed: tuple[int, ...], usual: Ground
) -> tuple[Float[Array, "trials"], Float[Array, "trials"]]:
    """Slope, in radians, and friction under each walk."""
    slope = (usual.slope,) * 2 if chance.slope_deg is None else tuple(np.radians(chance.slope_deg))
    friction = (usual.friction,) * 2 if chance.friction is None else chance.friction
    drawn = [np.random.default_rng((*seed, i, _GROUND)).random(2) for i in range(chance.trials)]
    share = np.array(drawn).T
    return slope[0] + share[0] * (slope[1] - slope[0]), friction[0] + share[1] * (friction[1] - friction[0])


def noise_scale(chance: Chance, dt: float) -> float:
    """The standard deviation of torque, over |torque| / kp^0.25 (4.15), at this time step."""
    return float(chance.noise * HAMILTON * np.sqrt(STEP / dt))


def noise_seeds(chance: Chance, seed: tuple[int, ...]) -> Int[Array, "trials"]:
    """For whoever draws noise by its own means."""
    rngs = (np.random.default_rng((*seed, i, _NOISE)) for i in range(chance.trials))
    return np.array([rng.integers(1, 2**31 - 1) for rng in rngs])


class Fates:
    """What happens to a batch, the trials of one candidate after those of another: call it before each step."""

    def __init__(self, chance: Chance, seed: tuple[int, ...], seconds: float, dt: float, count: int) -> None:
        self._whose = np.arange(count) % chance.trials
        self._begin, self._end, self._force = gust_steps(chance, seed, seconds, dt)
        self._moments = set(self._begin.ravel().tolist()) | set(self._end.ravel().tolist())
        self._wishes = dict(turn_steps(chance, seed, seconds, dt))
        self._middle, self._scale = chance.middle, noise_scale(chance, dt)
        self._drawn = [np.random.default_rng((*seed, i, _NOISE)) for i in range(chance.trials)]
        self._noise: Float[Array, "block 30 trials"] = np.zeros((0, 30, chance.trials))

    def __call__(self, walk: Walk, k: int) -> None:
        if k in self._moments:
            blows = (self._begin <= k) & (k < self._end)
            force = (blows[:, :, None] * self._force).sum(axis=1)
            walk.many.push(walk.physics.body.skeleton.index("Spine"), force[self._whose])
        if k in self._wishes:
            walk.wish[:] = self._wishes[k][self._whose]
        if self._middle is not None:
            walk.wish[:] = to_middle(walk.many.com[:, 1], self._middle)
        if self._scale:
            walk.jitter = self.noise(k)[:, self._whose]

    def noise(self, k: int) -> Float[Array, "30 trials"]:
        """Of step k; steps must be asked for in order. Torque over |torque| / kp^0.25: (4.14), (4.15)."""
        if k % _BLOCK == 0:
            self._noise = self._scale * np.stack([rng.standard_normal((_BLOCK, 30)) for rng in self._drawn], axis=2)
        return self._noise[k % _BLOCK]
