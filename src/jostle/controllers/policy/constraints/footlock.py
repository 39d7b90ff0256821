"""Feet that stay where they are while they stand: appendix A of Levine et al. 2012, without annotation.

A contact begins when a point of a foot is low and slow. It ends when its desired velocity, that of the conditional
mean, points up and lies in a vertical cone: the foot is being lifted. Heel and ball have contacts of their own, for a
foot rolls from one to the other.

Beyond the paper, each against a jerk that can be seen:

- **It lands.** A point comes down with the speed that it has and loses half of it every `BRAKE` seconds.
- **It leaves.** A contact that has ended lets go over `RELEASE` seconds; a pose that forgets 40 % of what is off in a
  frame, as conditional means do here, would throw the foot off.
- **It gives up** where the mean wants the foot too far away or clearly off the ground: no lift was seen, and none will.
- **No point sinks into the ground.**
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.controllers.policy.constraints.configuration import Configuration
from jostle.controllers.policy.constraints.constraint import Anatomy, Moment
from jostle.controllers.policy.constraints.inference import Rows, at_least, equal, stacked
from jostle.types import Array, Bool, Float

CONE = np.radians(60.0)  # off the vertical
LIFT = 0.05  # metres a second: what rises slower is noise
FAST = 2.0  # times what is slow: a low foot that wants to go faster than this is lifted, not locked
CLEAR = 0.023  # of the body's size: how high feet are carried that go so fast
RAISE = 0.03  # seconds: half of the way up
BRAKE = 0.03  # seconds
SETTLE = 0.10  # seconds: half of the way down to where it stands
RELEASE = 0.13  # seconds
STRETCH = 0.04  # of the body's size: as far as a foot is kept from where it is wanted
RISE = 3.0  # times what is low


@dataclass(frozen=True, eq=False)
class Planted:
    """Which points are held, and where."""

    held: Bool[Array, "P"]
    share: Float[Array, "P"]  # 1 while it is held, fading afterwards
    anchor: Float[Array, "P 3"]
    slide: Float[Array, "P 3"]  # velocity with which it still comes down
    lift: Float[Array, "P"]  # how far off the ground it is to be at least
    goal: Float[Array, "P 3"]  # where it is to be: the anchor, or on the way from there to the mean


@dataclass(frozen=True)
class FootLock:
    cone: float = float(CONE)

    def init(self, anatomy: Anatomy) -> Planted:
        n = len(anatomy.soles.joints)
        nowhere = np.zeros((n, 3))
        return Planted(np.zeros(n, dtype=bool), np.zeros(n), nowhere, nowhere, np.zeros(n), nowhere)

    def decide(self, moment: Moment, memory: Planted, share: float) -> Planted:
        soles, dt = moment.anatomy.soles, moment.dt
        wanted = moment.mean.points(soles.joints, soles.places)
        before = moment.before.points(soles.joints, soles.places)
        velocity = (wanted - before) / dt
        above = wanted[:, 2] - soles.standing
        aside = np.hypot(velocity[:, 0], velocity[:, 1])
        lifted = (velocity[:, 2] > LIFT) & (aside < np.tan(self.cone) * velocity[:, 2])
        lands = (above < soles.low) & (np.linalg.norm(velocity, axis=1) < FAST * soles.slow) & ~lifted & soles.bears
        off = np.hypot(*(wanted - memory.anchor)[:, :2].T)
        stays = memory.held & ~lifted & (off < STRETCH * soles.size) & (above < RISE * soles.low)
        begins, held = lands & ~memory.held, stays | (lands & ~memory.held)
        slide = np.where(begins[:, None], velocity, memory.slide * 0.5 ** (dt / BRAKE))
        anchor = np.where(begins[:, None], before, memory.anchor) + slide * dt * 0.5 ** (dt / BRAKE)
        anchor[:, 2] = soles.standing + (anchor[:, 2] - soles.standing) * 0.5 ** (dt / SETTLE)
        fading = np.where(held, 1.0, np.maximum(memory.share - dt / RELEASE, 0.0))
        goal = wanted + (share * _smooth(fading))[:, None] * (anchor - wanted)
        goes = np.hypot(*(goal - before)[:, :2].T) / dt
        lift = np.where(held, 0.0, CLEAR * soles.size * np.clip(goes / soles.slow - 0.5, 0.0, 1.0))
        lift = lift + (memory.lift - lift) * 0.5 ** (dt / RAISE)
        return Planted(held, fading, anchor, slide, lift, goal)

    def rows(self, moment: Moment, here: Configuration, memory: Planted, share: float) -> Rows | None:
        soles = moment.anatomy.soles
        at = here.points(soles.joints, soles.places)
        deep = soles.standing + memory.lift - at[:, 2]
        pinned, held = np.flatnonzero(memory.share > 0.0), np.flatnonzero(memory.held)
        sinking = np.flatnonzero((deep > -soles.low) & ~memory.held)
        both = np.union1d(pinned, sinking)
        if not len(both):
            return None
        jacobian, missing = np.zeros((len(at), 3, here.row.size)), memory.goal - at
        jacobian[both] = here.jacobian(soles.joints[both], at[both])
        return stacked([
            equal(jacobian[pinned, :2], missing[pinned, :2]),
            equal(jacobian[held, 2], missing[held, 2]),
            at_least(jacobian[sinking, 2], share * deep[sinking]),
        ])  # fmt: skip


def _smooth(share: Float[Array, "P"]) -> Float[Array, "P"]:
    return share * share * (3.0 - 2.0 * share)
