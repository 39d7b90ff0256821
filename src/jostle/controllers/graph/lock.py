"""Feet that stand stay, whatever the offset does to the body.

A foot as a whole is shifted by d over the ground, and while its motion has it planted

    d(t+1) = d(t) - (p(t+1) - p(t)),    p the mean of its joints by what each bears,

through the roll from ankle to ball, as in `clips.plant`. A foot that swings loses its shift. Where both stand for long
the body comes back over them, slowly: it is the body that was put wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.clips.plant import Leg, find_leg
from jostle.controllers.graph.reel import Reel
from jostle.maths import spring
from jostle.skeleton import Pose, forward
from jostle.skeleton.ik import pin_limb
from jostle.types import Array, Float

SWING = 0.1  # seconds: half of the shift of a foot that swings, by a critically damped spring
SETTLE = 0.4  # seconds: half of what the body is off its feet
FAR = 0.25  # metres: no foot is held farther from where the motion has it
_REACH = 0.985  # of a leg


@dataclass(frozen=True, eq=False)
class Hold:
    """Where feet are held beside where the motion and its offset have them."""

    shift: Float[Array, "F 2"]
    rate: Float[Array, "F 2"]  # of the shift of a foot that swings, a second
    bearing: Float[Array, "F 2"]  # where the point that bears was, without the shift


def begin_hold(reel: Reel, node: int, positions: Float[Array, "J 3"]) -> Hold:
    nothing = np.zeros((len(reel.feet), 2))
    return Hold(nothing, nothing, _bearing(reel, node, positions))


def hold(reel: Reel, state: Hold, node: int, positions: Float[Array, "J 3"]) -> tuple[Hold, Float[Array, "2"]]:
    """A frame later; `positions` are where the motion and its offset have the joints now. With how far the body is to
    be moved over the feet.

    What bears changes from ankle to ball while a foot rolls, so a step is that of the present mixture of them.
    """
    dt, planted = 1.0 / reel.fps, reel.planted[node]
    now = _bearing(reel, node, positions)
    held = state.shift - (now - state.bearing)
    stays = (planted & (np.linalg.norm(held, axis=1) < FAR))[:, None]
    swung, rate = spring.step(state.shift, state.rate, np.zeros_like(state.shift), SWING, dt)
    shift = np.where(stays, held, swung)
    aside = np.zeros(2)
    if np.all(planted):
        aside = (1.0 - 0.5 ** (dt / SETTLE)) * shift.mean(axis=0)
    return Hold(shift - aside, np.where(stays, 0.0, rate), now + aside), aside


def next_bearing(reel: Reel, state: Hold, node: int, positions: Float[Array, "J 3"]) -> Hold:
    """The same shifts, measured by what will bear in the frame after this one."""
    return Hold(state.shift, state.rate, _bearing(reel, node, positions))


def _bearing(reel: Reel, node: int, positions: Float[Array, "J 3"]) -> Float[Array, "F 2"]:
    return np.array([
        reel.bearing[foot][node] @ positions[list(joints), :2] for foot, joints in enumerate(reel.feet)
    ])  # fmt: skip


def legs_of(reel: Reel) -> tuple[Leg, ...]:
    legs = [find_leg(reel.skeleton, joints[0]) for joints in reel.feet]
    return tuple(leg for leg in legs if leg is not None)


def stand(reel: Reel, legs: tuple[Leg, ...], pose: Pose, ankles: Float[Array, "F 3"]) -> Pose:
    """The pose with ankles where they are wanted; the pelvis comes down where a leg is too short."""
    at = forward(reel.skeleton, pose).positions
    sunk = 0.0
    for leg, goal in zip(legs, ankles, strict=True):
        length = np.linalg.norm(at[leg.lower] - at[leg.upper]) + np.linalg.norm(at[leg.end] - at[leg.lower])
        reach = max(_REACH * length, float(np.linalg.norm(at[leg.end] - at[leg.upper])))
        away = at[leg.upper] - goal
        sunk = max(sunk, float(away[2] - np.sqrt(max(reach**2 - float(away[:2] @ away[:2]), 0.0))))
    pose = Pose(pose.root - [0.0, 0.0, sunk], pose.wxyz, pose.offsets)
    for leg, goal in zip(legs, ankles, strict=True):
        pose = pin_limb(reel.skeleton, pose, leg.upper, leg.lower, leg.end, goal, pole=leg.pole)
    return pose
