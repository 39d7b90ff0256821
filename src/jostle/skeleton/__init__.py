"""Skeletons, poses, forward kinematics, roles and mirror twins."""

from jostle.skeleton.mirror import find_twins, mirror_pose, mirror_skeleton
from jostle.skeleton.pose import Globals, Pose, forward, interpolate, locals_of, rest_pose
from jostle.skeleton.roles import ROLES, find_roles, is_humanoid, require_humanoid, unsided
from jostle.skeleton.skeleton import Skeleton, aligned_to_rest, build_skeleton

__all__ = [
    "ROLES",
    "Globals",
    "Pose",
    "Skeleton",
    "aligned_to_rest",
    "build_skeleton",
    "find_roles",
    "find_twins",
    "forward",
    "interpolate",
    "is_humanoid",
    "locals_of",
    "mirror_pose",
    "mirror_skeleton",
    "require_humanoid",
    "rest_pose",
    "unsided",
]
