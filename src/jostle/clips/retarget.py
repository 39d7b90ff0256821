"""The same motion on another body.

1. Every joint takes its source's turn in the world, less what the rest poses differ by (`clips.mapping`). Limbs then
   point as the source's do, and joints that follow nothing stay at rest.
2. The hips travel as the source's do, scaled by the length of the legs from hip to ankle, so that steps fit them. The
   ankle stays as high over the sole as the new body has it: big boots make no longer steps.
3. Feet are put right by inverse kinematics. A foot that is planted in the source lies on the ground and does not
   slide; one that swings clears the ground by as much as its source, scaled. Both bodies count heights from where
   their own ankle, ball and tip stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.contacts import Contacts, find_contacts, runs
from jostle.clips.feet import Feet, body_size, find_feet
from jostle.clips.joints import on_rig, plain_skeleton
from jostle.clips.lift import find_lift, floor_under, rest_ground
from jostle.clips.loop import is_cyclic, over_rounds
from jostle.clips.mapping import Follows, find_follows
from jostle.clips.plant import plant_feet
from jostle.clips.rig import plain, plain_body
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, find_roles, forward, is_humanoid, locals_of
from jostle.types import Array, Float

_SAME = 1e-4  # as a share of body size: feet that are this near to their scaled source need no fixing


def retarget(clip: Clip, skeleton: Skeleton, table: Mapping[str, str] | None = None, fix_feet: bool = True) -> Clip:
    """The clip's motion on `skeleton`. Joints are matched by role and by name; `table` (target joint to source
    joint) overrides both, and is needed where the two are not both people and share few names.
    """
    if not np.all(np.isfinite(clip.wxyz)) or not np.all(np.isfinite(clip.root)):
        raise MotionError(f"Clip '{clip.name}' holds numbers that are not finite; fix it before retargeting.")
    if is_humanoid(skeleton) and (person := plain_skeleton(skeleton)) is not None:
        kept = {ours: theirs for ours, theirs in (table or {}).items() if ours in person.names}
        return on_rig(retarget(clip, person, kept, fix_feet), skeleton)
    if not table and (body := plain_body(skeleton)) is not None:
        return on_rig(retarget(plain(clip), body, None, fix_feet), skeleton)
    follows = find_follows(clip.skeleton, skeleton, table)
    if is_cyclic(clip):  # feet are fixed with a look at the frames around, and a loop has no end
        return over_rounds(clip, lambda rounds: _retargeted(rounds, skeleton, follows, fix_feet))
    return _retargeted(clip, skeleton, follows, fix_feet)


def _retargeted(clip: Clip, skeleton: Skeleton, follows: Mapping[int, Follows], fix_feet: bool) -> Clip:
    scale = _leg_length(skeleton) / _leg_length(clip.skeleton)
    moved = _placed(clip, skeleton, _turned(clip, skeleton, follows), scale)
    if not fix_feet or not is_humanoid(clip.skeleton) or not is_humanoid(skeleton):
        return moved
    return _with_feet_fixed(clip, moved, scale)


def _turned(clip: Clip, skeleton: Skeleton, follows: Mapping[int, Follows]) -> Float[Array, "T J 4"]:
    """World rotations of the target's joints."""
    source, lead = clip.globals.wxyz, (clip.frame_count,)
    world = np.empty((clip.frame_count, skeleton.joint_count, 4))
    for joint, parent in enumerate(skeleton.parents):
        follow = follows.get(joint)
        if follow is not None:
            turn = source[:, follow.first]
            if follow.share > 0.0:
                turn = quat.slerp(turn, source[:, follow.second], follow.share)
            world[:, joint] = quat.mul(turn, follow.align)
        else:
            world[:, joint] = world[:, parent] if parent >= 0 else _heading(clip, lead)
    return world


def _heading(clip: Clip, lead: tuple[int, ...]) -> Float[Array, "T 4"]:
    """A root above the pelvis that follows nothing faces where the source's pelvis does."""
    pelvis = find_roles(clip.skeleton).get("pelvis", 0)
    return quat.from_yaw(quat.yaw(clip.globals.wxyz[:, pelvis]))


def _placed(clip: Clip, skeleton: Skeleton, world: Float[Array, "T J 4"], scale: float) -> Clip:
    """The target with its hips where the scaled source has them, over ankles of its own height."""
    poses = locals_of(skeleton, np.zeros((*world.shape[:-1], 3)), world)
    hips = _hips(skeleton, forward(skeleton, poses).positions)
    boots = _ankle_height(skeleton) - scale * _ankle_height(clip.skeleton)
    there = scale * _hips(clip.skeleton, clip.positions) + np.array([0.0, 0.0, boots])
    return clip.with_poses(Pose(there - hips, poses.wxyz), skeleton=skeleton)


def _hips(skeleton: Skeleton, positions: Float[Array, "T J 3"]) -> Float[Array, "T 3"]:
    """The middle between the hip joints; an animal's root."""
    roles = find_roles(skeleton)
    sides = [roles[r] for r in ("left_thigh", "right_thigh") if r in roles]
    return np.mean(positions[:, sides], axis=1) if len(sides) == 2 else positions[:, 0]


def _leg_length(skeleton: Skeleton) -> float:
    """From a person's hip to the ankle with a straight knee; else the size of the body."""
    if not is_humanoid(skeleton):
        return body_size(skeleton)
    roles = find_roles(skeleton)
    legs = []
    for side in ("left", "right"):
        hip, knee, ankle = (skeleton.rest_positions[roles[f"{side}_{x}"]] for x in ("thigh", "shin", "foot"))
        legs.append(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))
    return float(np.mean(legs))


def _ankle_height(skeleton: Skeleton) -> float:
    """A person's ankles over the floor at rest; 0 for everything else."""
    if not is_humanoid(skeleton):
        return 0.0
    roles = find_roles(skeleton)
    ankles = skeleton.rest_positions[[roles["left_foot"], roles["right_foot"]], 2]
    return float(np.mean(ankles)) - rest_ground(skeleton)


def _with_feet_fixed(clip: Clip, moved: Clip, scale: float) -> Clip:
    theirs, ours = find_feet(clip), find_feet(moved)
    if _feet_agree(clip, moved, theirs, ours, scale):
        return moved
    contacts = find_contacts(clip)
    moved = _with_flat_soles(clip, moved, contacts)
    lift = find_lift(clip, moved, contacts, scale)
    # What all feet lack in common is a matter of the hips, not of the knees.
    hips = floor_under(lift, contacts.planted, clip.fps)[:, None]
    moved = moved.with_poses(Pose(moved.root + hips * np.array([0.0, 0.0, 1.0]), moved.wxyz))
    contacts = replace(contacts, treadmill=scale * contacts.treadmill)
    first = plant_feet(moved, contacts, lift - hips)
    return plant_feet(moved, _lengthened(contacts, find_contacts(first)), lift - hips)


def _lengthened(contacts: Contacts, own: Contacts) -> Contacts:
    """The source's contacts, each for as long as the new foot touches: toes that the source lacks leave last."""
    stays = np.zeros_like(contacts.planted)
    for foot in range(stays.shape[1]):
        for start, stop in runs(own.planted[:, foot]):
            stays[start:stop, foot] = np.any(contacts.planted[start:stop, foot])
    longer = stays & ~contacts.planted
    return replace(
        contacts,
        planted=contacts.planted | longer,
        heel=contacts.heel | (own.heel & longer),
        toe=contacts.toe | (own.toe & longer),
    )


def _with_flat_soles(clip: Clip, moved: Clip, contacts: Contacts) -> Clip:
    """The target's feet as flat as its rest pose has them whenever the source's lie flat, by its own average."""
    roles, ours = find_roles(clip.skeleton), find_roles(moved.skeleton)
    world = moved.globals.wxyz.copy()
    for foot, side in enumerate(("left", "right")):
        flat = contacts.heel[:, foot] & contacts.toe[:, foot]
        if np.sum(flat) < 3:
            continue
        for joint in (f"{side}_foot", f"{side}_toe"):
            if joint in roles and joint in ours:
                lying = clip.globals.wxyz[flat, roles[joint]]
                tilt = quat.mean(quat.mul(quat.from_yaw(-quat.yaw(lying)), lying))
                world[:, ours[joint]] = quat.mul(world[:, ours[joint]], quat.inv(tilt))
        below = [j for j in moved.skeleton.subtree(ours[f"{side}_foot"])[1:] if j != ours.get(f"{side}_toe")]
        for j in below:  # what follows nothing keeps its place on the foot
            world[:, j] = quat.mul(world[:, moved.skeleton.parents[j]], moved.wxyz[:, j])
    return moved.with_poses(locals_of(moved.skeleton, moved.positions, world))


def _feet_agree(clip: Clip, moved: Clip, theirs: Feet, ours: Feet, scale: float) -> bool:
    if [p.kind for p in theirs.points] != [p.kind for p in ours.points]:
        return False
    apart = [
        np.max(np.abs(a.track(moved) - scale * b.track(clip))) for a, b in zip(ours.points, theirs.points, strict=True)
    ]
    return bool(max(apart) < _SAME * body_size(moved.skeleton))
