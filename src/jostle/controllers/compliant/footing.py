"""What a push does below the upper body: the pelvis gives way and comes back, feet stay where the motion has them.

The body takes up a push as if it were one rigid mass, (7) of Ye & Liu 2008: its impulse over the whole mass is a
velocity of the pelvis, and its moment over the inertia about the centre of mass a velocity of turning. The paper leaves
it at that, so that every push would set the character adrift for ever; here both come back like critically damped
springs. Legs are bent so that feet stay; where a leg is too short for that, the pelvis sinks. It does so before the leg
is there, as deep as the longest of the motion's strides will need: else it would drop within a frame or two whenever a
foot is put down.

Ground that moves takes the feet along at once and the pelvis only through the same springs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jostle.body import Dynamics, Physics
from jostle.clips.plant import find_leg
from jostle.maths import quat, spring, vec
from jostle.skeleton import find_roles
from jostle.types import Array, Float

RETURN, RIGHT = 0.35, 0.23  # seconds in which half of the way back is gone: moved, and turned
_REACH = 0.98  # of a leg's length: as far as feet are held
_SOFT = 0.02  # metres off the line from hip to foot: knees this near to it soon bend forwards
_EASY = 0.01  # metres: half of what strides will need is sunk beforehand when they need so much, less of less
_WHOLE, _SUM, _ROOT = np.eye(3), np.ones((3, 1)), np.array([0])
_NOTHING = 5e-5  # metres, and radians


STILL = np.zeros(3)


def _still() -> Float[Array, "3"]:
    return STILL


@dataclass(frozen=True, eq=False)
class Sway:
    """How far the pelvis is from where the motion has it, as the ground sees it."""

    aside: Float[Array, "3"] = field(default_factory=_still)  # metres
    drift: Float[Array, "3"] = field(default_factory=_still)  # metres a second
    tilt: Float[Array, "3"] = field(default_factory=_still)  # a rotation vector in the world, radians
    spin: Float[Array, "3"] = field(default_factory=_still)  # radians a second
    carried: Float[Array, "3"] = field(default_factory=_still)  # metres by which the ground has moved
    ground: Float[Array, "3"] = field(default_factory=_still)  # metres a second at which it moves

    @property
    def moved(self) -> bool:
        return bool(max(np.abs(self.aside).max(), np.abs(self.tilt).max()) > _NOTHING)

    def after(self, kick: Kick, ground: Float[Array, "3"], dt: float) -> Sway:
        """`dt` seconds later: with the velocities of a kick, on ground that moves so fast."""
        drift = self.drift + kick.velocity - (ground - self.ground)
        aside, drift = spring.step(self.aside, drift, STILL, RETURN, dt)
        tilt, spin = spring.step(self.tilt, self.spin + kick.spin, STILL, RIGHT, dt)
        return Sway(aside, drift, tilt, spin, self.carried + dt * ground, ground)


@dataclass(frozen=True, eq=False)
class Kick:
    """What the body as a whole gets of a frame's pushes."""

    velocity: Float[Array, "3"] = field(default_factory=_still)
    spin: Float[Array, "3"] = field(default_factory=_still)


def kick(instant: Dynamics, impulse: Float[Array, "3"], moment: Float[Array, "3"]) -> Kick:
    """Of an impulse (N s) and its moment about the centre of mass (N m s)."""
    mass, about = instant.mass_matrix(), instant.com() - instant.point(0, np.zeros(3))
    turned = instant.axes(_ROOT)[0]
    total = float(mass[0, 0])
    at_root = turned @ mass[3:6, 3:6] @ turned.T  # the root's angular velocity is in its own frame
    inertia = at_root - total * (float(about @ about) * np.eye(3) - np.outer(about, about))
    return Kick(impulse / total, np.linalg.solve(inertia, moment))


class Footing:
    """The legs. It is a workspace: keep one per thread."""

    def __init__(self, physics: Physics, strides: Float[Array, "s nq"] | None = None) -> None:
        """`strides`: moments of the motion, as it is when nobody pushes."""
        self._instant = Dynamics(physics)
        skeleton = physics.body.skeleton
        feet = [joint for role, joint in find_roles(skeleton).items() if role.endswith("_foot")]
        legs = [leg for leg in (find_leg(skeleton, foot) for foot in feet) if leg is not None]
        self.stands = len(legs) > 0  # who has no legs that we know how to bend does not sway
        self._legs = np.array([[leg.upper, leg.lower, leg.end] for leg in legs], dtype=int).reshape(-1, 3)
        self._poles = np.array([leg.pole for leg in legs], dtype=float).reshape(-1, 3)
        self._above = np.array(skeleton.parents)[self._legs]
        self._at = physics.qpos_at[np.append(_ROOT, self._legs)][:, None] + np.arange(4)
        bones = np.linalg.norm(skeleton.offsets, axis=1)
        self._length = bones[self._legs[:, 1:]].sum(axis=1)
        self._strides = self._spans(np.zeros((0, 0)) if strides is None else strides)

    def _spans(
        self, strides: Float[Array, "s nq"]
    ) -> tuple[Float[Array, "m 3"], Float[Array, "m 3"], Float[Array, "m"]]:
        """Hips and feet as the pelvis sees them that goes along X, and how far these legs reach."""
        hips, feet = np.zeros((2, len(strides), len(self._legs), 3))
        for moment, qpos in enumerate(strides):
            self._instant.set(qpos)
            hip, _, foot = (self._instant.positions(joints) - qpos[:3] for joints in self._legs.T)
            hips[moment], feet[moment] = hip @ self._ahead(), foot @ self._ahead()
        reach = self._reach(hips, feet)
        return hips.reshape(-1, 3), feet.reshape(-1, 3), reach.reshape(-1)

    def _ahead(self) -> Float[Array, "3 3"]:
        """The turn from X to where the pelvis goes: its own turn's share about the vertical."""
        turned = self._instant.axes(_ROOT)[0]
        c, s = turned[0, 0] + turned[1, 1], turned[1, 0] - turned[0, 1]
        far = max(float(np.hypot(c, s)), 1e-12)
        return np.array([[c / far, -s / far, 0.0], [s / far, c / far, 0.0], [0.0, 0.0, 1.0]])

    def _reach(self, hip: Float[Array, "*s n 3"], foot: Float[Array, "*s n 3"]) -> Float[Array, "*s n"]:
        return np.maximum(_REACH * self._length, _length(foot - hip)[..., 0])

    def stand(self, qpos: Float[Array, "nq"], sway: Sway) -> Float[Array, "nq"]:
        """A configuration with the pelvis swayed and feet as they were, on ground that has moved."""
        out = qpos.copy()
        out[:3] += sway.carried
        if not sway.moved:
            return out
        self._instant.set(qpos)
        hip, knee, foot = (self._instant.positions(joints) for joints in self._legs.T)
        turned, above = self._instant.axes(self._legs), self._instant.axes(self._above)  # thigh, shin, foot
        tilt, root = quat.to_matrix(quat.exp(sway.tilt)), qpos[:3]
        start = root + (hip - root) @ tilt.T + sway.aside
        start[:, 2] -= (sunk := max(_sunk(start - foot, self._reach(hip, foot)), self._sinking(tilt, sway.aside)))
        thigh, shin = _bent(hip, knee, foot, start, (turned[:, 0] @ self._poles[:, :, None])[..., 0])
        parents = np.stack([tilt @ above[:, 0], thigh @ above[:, 1], shin @ above[:, 2]], axis=1)
        world = np.stack([thigh @ turned[:, 0], shin @ turned[:, 1], turned[:, 2]], axis=1)
        local = (parents.transpose(0, 1, 3, 2) @ world).reshape(-1, 3, 3)
        pelvis = tilt @ self._instant.axes(_ROOT)
        out[self._at] = self._instant.wxyz_of(np.concatenate([pelvis, local]))
        out[:3] += sway.aside - [0.0, 0.0, sunk]
        return out

    def _sinking(self, tilt: Float[Array, "3 3"], aside: Float[Array, "3"]) -> float:
        """How far the pelvis is down beforehand, for the longest stride to come."""
        hips, feet, reach = self._strides
        ahead = self._ahead()
        needed = _sunk(hips @ (ahead.T @ tilt.T @ ahead) + aside @ ahead - feet, reach)
        return needed * needed / (needed + _EASY)


def _sunk(away: Float[Array, "n 3"], reach: Float[Array, "n"]) -> float:
    """How far the pelvis comes down for every foot to be within reach; `away`: from feet to hips."""
    x, y, z = away.T
    room = np.sqrt(np.maximum(reach * reach - x * x - y * y, 0.0))
    return float(np.max(z - room, initial=0.0))


def _bent(hip: Array, knee: Array, foot: Array, start: Array, pole: Array) -> tuple[Array, Array]:
    """How thighs and shins turn in the world when hips go to `start` and feet stay.

    A leg that nothing is asked of stays as it is. The more a knee has to bend beyond that, the more it does so towards
    the pole: recorded knees that are nearly straight bend to any side.
    """
    spans = np.array([knee - hip, foot - knee, foot - hip, foot - start])
    a, b, before, far = sizes = _length(spans)
    _, _, line, aim = spans / sizes
    d = np.minimum(far, np.maximum(before, (1.0 - 1e-6) * (a + b)))
    swing = _between(line, aim)
    along = (a * a + d * d - b * b) / (2.0 * d)
    bend = np.sqrt(np.maximum(a * a - along * along, 0.0))
    upper, lower = (swing @ spans[:2, :, :, None])[..., 0]
    across = np.array([upper, pole])
    off, ahead = across - _dot(across, aim) * aim
    ahead = ahead / _length(ahead)
    aside = vec.cross(aim, ahead)
    had = _length(off)
    kept = 1.0 - np.clip((bend - had) / (had + _SOFT), 0.0, 1.0)
    angle = kept * np.arctan2(_dot(off, aside), _dot(off, ahead))
    new = along * aim + bend * (np.cos(angle) * ahead + np.sin(angle) * aside)
    shin = d * aim - new
    bones = _between(np.array([upper, lower]) / sizes[:2], np.array([new, shin]) / sizes[:2])
    return bones[0] @ swing, bones[1] @ swing


def _between(a: Float[Array, "*s 3"], b: Float[Array, "*s 3"]) -> Float[Array, "*s 3 3"]:
    """The smallest rotations that take unit vectors to others: half a turn about each, and about what is between."""
    middle = a + b
    return _half_turn(middle / _length(middle)) @ _half_turn(a)


def _half_turn(about: Float[Array, "*s 3"]) -> Float[Array, "*s 3 3"]:
    return 2.0 * about[..., :, None] * about[..., None, :] - _WHOLE


def _dot(a: Float[Array, "*#s 3"], b: Float[Array, "*#s 3"]) -> Float[Array, "*c 1"]:
    """`vec.dot`, in a third of the time for a few."""
    return (a * b) @ _SUM


def _length(v: Float[Array, "*s 3"]) -> Float[Array, "*s 1"]:
    return np.sqrt(_dot(v, v))
