"""A running character as a frame for the page: its joints, the feet that it says are down, the forces on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jostle.controllers import LEVEL, Floor, Observed
from jostle.skeleton import Globals, Pose, Skeleton, find_roles, forward
from jostle.types import Array, Bool, Float
from jostle.viewer import drag as drags
from jostle.viewer.drag import Acting, Drag
from jostle.viewer.frames import FigureFrame, Frame, foot_points

FEET_SHOWN = 4


def pose_figure(
    skeleton: Skeleton,
    pose: Pose,
    contacts: Mapping[str, bool],
    acting: Sequence[Acting] = (),
    held: Drag | None = None,
    strength: float = 0.0,
    floor: Floor = LEVEL,
) -> FigureFrame:
    """The frame of one character on its `floor`; `held` is the drag under way on it, at `strength` newtons a metre."""
    world = forward(skeleton, pose)
    planted, touching = feet_of(skeleton, world, contacts, floor)
    plain = FigureFrame(world.positions, world.wxyz, touching, planted)
    arrows = [drags.acting(act, plain) for act in acting]
    if held is not None:
        arrows.append(drags.aiming(held, plain, strength))
    return FigureFrame(world.positions, world.wxyz, touching, planted, tuple(arrows))


def feet_of(
    skeleton: Skeleton, world: Globals, contacts: Mapping[str, bool], floor: Floor = LEVEL
) -> tuple[Bool[Array, "F"], Float[Array, "F 3"]]:
    """Where the controller says that it touches the ground; nothing where it does not say."""
    if not contacts:
        return np.zeros(0, dtype=bool), np.zeros((0, 3))
    joints = {**{name: joint for joint, name in enumerate(skeleton.names)}, **find_roles(skeleton)}
    names = [name for name in sorted(contacts) if name in joints][:FEET_SHOWN]
    touching = np.zeros((len(names), 3))
    for k, name in enumerate(names):
        touching[k, :2] = foot_points(skeleton, joints[name], world)[:2]
        touching[k, 2] = floor.height(touching[k, 0])
    return np.array([contacts[name] for name in names], dtype=bool), touching


def stood_on(floor: Floor, pose: Pose, observed: Observed) -> Pose:
    """The pose, brought from the character's own ground to the one that is shown, where it stands."""
    x = float(pose.root[0])
    lift = floor.height(x) - observed.floor.height(x)
    return Pose(pose.root + np.array([0.0, 0.0, lift]), pose.wxyz, pose.offsets)


def middle_hips(frame: Frame, skeletons: Sequence[Skeleton]) -> Float[Array, "2"]:
    """The point of the ground in the middle of everyone's hips."""
    joints = [find_roles(skeleton).get("pelvis", 0) for skeleton in skeletons]
    return np.mean([figure.positions[j, :2] for figure, j in zip(frame.figures, joints, strict=True)], axis=0)
