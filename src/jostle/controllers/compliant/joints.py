"""The joints of the upper body: which they are, how they behave at rest, and where they end."""

from __future__ import annotations

import numpy as np

from jostle.body import Ball, Hinges, Physics, human_dofs
from jostle.maths import quat, vec
from jostle.skeleton import Skeleton, find_roles, unsided
from jostle.types import Array, Float, Int

_LEGS = ("thigh", "shin", "foot", "toe")
_PASSIVE = {  # N m s/rad and N m/rad: dampers and springs of joints at rest
    "spine": (8.0, 60.0),
    "chest": (8.0, 60.0),
    "neck": (0.6, 4.0),
    "head": (0.6, 4.0),
    "clavicle": (2.0, 10.0),
    "upper_arm": (1.0, 3.0),
    "forearm": (0.4, 1.5),
}
TRUNK = ("spine", "chest")
_SLACK = np.radians(3.0)  # beyond where the motion goes, where that is further than joints do
_LANDING = 0.08  # seconds
_SIDEWAYS = (4.0, 60.0)  # of an elbow across its hinge, where it has ligaments


def upper_joints(skeleton: Skeleton) -> list[int]:
    """All but the root, hands and what hangs on them, what hangs on the head, and whatever carries a leg or is one."""
    roles = find_roles(skeleton)
    kinds = {joint: unsided(role) for role, joint in roles.items()}
    carries = {joint for joint, kind in kinds.items() if kind in _LEGS}
    for joint in reversed(range(1, skeleton.joint_count)):
        if joint in carries:
            carries.add(int(skeleton.parents[joint]))
    chosen: list[int] = []
    for joint in range(1, skeleton.joint_count):
        parent = int(skeleton.parents[joint])
        free = parent == 0 or (parent in chosen and kinds.get(parent) != "head")
        if free and joint not in carries and kinds.get(joint) != "hand":
            chosen.append(joint)
    return chosen


def upper_dofs(physics: Physics) -> Int[Array, "D"]:
    """Where the upper body's coordinates are in qvel."""
    starts = physics.qvel_at[upper_joints(physics.body.skeleton)]
    return np.concatenate([start + np.arange(3) for start in starts]) if len(starts) else np.zeros(0, dtype=int)


def fingers_dofs(physics: Physics) -> Int[Array, "n"]:
    """Of what hangs on hands. Recorded fingers flip; they weigh next to nothing, but a flip is felt to the head."""
    skeleton, roles = physics.body.skeleton, find_roles(physics.body.skeleton)
    hands = {joint for role, joint in roles.items() if unsided(role) == "hand"}
    below = [j for j in range(skeleton.joint_count) if hands & set(skeleton.chain(j)) and j not in hands]
    return np.concatenate([physics.qvel_at[j] + np.arange(3) for j in below]) if below else np.zeros(0, dtype=int)


def upper_kinds(physics: Physics) -> list[str]:
    """What part each coordinate belongs to; the spine's where a joint has no role."""
    return [kind for joint in upper_joints(physics.body.skeleton) for kind in [_kind(physics.body.skeleton, joint)] * 3]


def _kind(skeleton: Skeleton, joint: int) -> str:
    kinds = {j: unsided(role) for role, j in find_roles(skeleton).items()}
    kind = kinds.get(joint, "spine")
    return kind if kind in _PASSIVE else "spine"


def passive_joints(physics: Physics) -> tuple[Float[Array, "D D"], Float[Array, "D D"]]:
    """Dampers and springs of the upper body at rest."""
    kinds = upper_kinds(physics)
    dampers, springs = (np.diag([_PASSIVE[kind][i] for kind in kinds]) for i in (0, 1))
    hinges = _elbows(physics)
    for place, joint in enumerate(upper_joints(physics.body.skeleton)):
        if joint in hinges:
            across = np.outer(*[_across(physics, joint, hinges[joint].axes[0])] * 2)
            own = np.s_[3 * place : 3 * place + 3, 3 * place : 3 * place + 3]
            dampers[own] += (_SIDEWAYS[0] - _PASSIVE["forearm"][0]) * across
            springs[own] += (_SIDEWAYS[1] - _PASSIVE["forearm"][1]) * across
    return dampers, springs


def _elbows(physics: Physics) -> dict[int, Hinges]:
    dofs = {physics.body.part(name): dof for name, dof in human_dofs(physics.body).items()}
    return {joint: dof for joint, dof in dofs.items() if isinstance(dof, Hinges) and dof.hinges}


def _across(physics: Physics, joint: int, hinge: Float[Array, "3"]) -> Float[Array, "3"]:
    """Across the hinge and the forearm."""
    skeleton = physics.body.skeleton
    below = skeleton.children[joint]
    bone = skeleton.offsets[below[0]] if below else physics.body.com[joint]
    across = vec.cross(hinge, bone)
    return across / max(float(np.linalg.norm(across)), 1e-9)


class Stops:
    """Where joints end: balls at an angle from the rest pose, elbows when they are straight or fully bent.

    Where the motion itself goes further, it ends there.
    """

    def __init__(self, physics: Physics) -> None:
        upper = upper_joints(physics.body.skeleton)
        dofs = {physics.body.part(name): dof for name, dof in human_dofs(physics.body).items()}
        balls = {j: dof.limit for j in upper if isinstance(dof := dofs.get(j), Ball) and dof.limit is not None}
        hinges = {j: _elbows(physics)[j].hinges[0] for j in upper if j in _elbows(physics)}
        four, three = np.arange(4), np.arange(3)
        self._size = 3 * len(upper)
        self._balls = physics.qpos_at[list(balls)][:, None] + four if balls else np.zeros((0, 4), dtype=int)
        self._widest = np.array(list(balls.values()), dtype=float)
        self._hinges = physics.qpos_at[list(hinges)][:, None] + four if hinges else np.zeros((0, 4), dtype=int)
        self._axes = np.array([hinge.axis for hinge in hinges.values()], dtype=float).reshape(-1, 3)
        self._ranges = np.array([hinge.limits for hinge in hinges.values()], dtype=float).reshape(-1, 2)
        self._ball_dofs = np.array([3 * upper.index(j) + three for j in balls], dtype=int).reshape(-1, 3)
        self._hinge_dofs = np.array([3 * upper.index(j) + three for j in hinges], dtype=int).reshape(-1, 3)

    def excess(self, qpos: Float[Array, "*#t nq"], motion: Float[Array, "*#t nq"]) -> Float[Array, "*c n"]:
        """By how many radians each joint is beyond its end; below zero within."""
        return self._over(*self._angles(qpos), *self._angles(motion))

    def beyond(
        self,
        qpos: Float[Array, "nq"],
        before: Float[Array, "nq"],
        now: Float[Array, "nq"],
        then: Float[Array, "nq"],
        dt: float,
    ) -> tuple[Float[Array, "n D"], Float[Array, "n"]] | None:
        """Rows that measure how far joints went that come to their ends too fast, and the room that they had.

        None where all may go on. A joint may go as fast as the motion does, and use up a share of what is left before
        its end, so that it lands softly.
        """
        wide, bent = self._angles(np.array([qpos, before, now, then]))
        after, had, motion_had, motion_after = self._over(wide, bent, wide[3], bent[3])
        share = -had * (dt / _LANDING)
        room = np.minimum(share + np.maximum(motion_after - motion_had, 0.0), np.maximum(share, -had))
        excess = after - had - room  # how much further it went than it may
        if np.max(excess, initial=0.0) < 1e-3:
            return None
        over = np.flatnonzero(excess > 0.0)
        balls, hinges = len(self._balls), len(self._hinges)
        rows = np.zeros((len(over), self._size))
        for row, which in enumerate(over):
            if which < balls:
                turned = qpos[self._balls[which]]
                way = turned[1:] * np.sign(turned[0] or 1.0)
                rows[row, self._ball_dofs[which]] = way / max(float(np.linalg.norm(way)), 1e-9)
            else:
                hinge = (which - balls) % hinges
                rows[row, self._hinge_dofs[hinge]] = self._axes[hinge] * (-1.0 if which < balls + hinges else 1.0)
        return rows, room[over]

    def _angles(self, qpos: Float[Array, "*t nq"]) -> tuple[Float[Array, "*t b"], Float[Array, "*t h"]]:
        """How far balls are turned, and how far hinges are bent."""
        turned = qpos[..., self._hinges]
        bent = 2.0 * np.arctan2((turned[..., 1:] * self._axes).sum(axis=-1), turned[..., 0])
        return quat.angle(qpos[..., self._balls]), (bent + np.pi) % (2.0 * np.pi) - np.pi

    def _over(
        self,
        wide: Float[Array, "*#t b"],
        bent: Float[Array, "*#t h"],
        motion_wide: Float[Array, "*#t b"],
        motion_bent: Float[Array, "*#t h"],
    ) -> Float[Array, "*c n"]:
        """Balls too far from rest; hinges beyond straight, and beyond fully bent."""
        ball = wide - np.maximum(self._widest, motion_wide + _SLACK)
        low = np.minimum(self._ranges[:, 0], motion_bent - _SLACK) - bent
        high = bent - np.maximum(self._ranges[:, 1], motion_bent + _SLACK)
        return np.concatenate([ball, low, high], axis=-1)
