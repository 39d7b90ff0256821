"""Which joint of one skeleton follows which of another, and how their rest poses differ.

A user's table comes first, then roles (both are people: the left knee follows the left knee, whatever its name), then
equal names. Trunks have from two to five joints: each of the target's follows the place on the source's trunk that
lies as far between pelvis and chest (or chest and head) as itself, half by length and half by count.

Rest poses differ: arms out or down, legs straight or splayed. With every frame aligned to the world at rest, a bone
with rest direction b_t points like its source, R_s b_s, when R_t = R_s A with A the smallest turn from b_t to b_s.
The trunk and the head need none, for both stand upright at rest. A foot's A only turns it about the vertical: at rest
both soles lie flat, and flat they must stay, however high the ankle sits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jostle.errors import MotionError, unknown_name
from jostle.maths import quat
from jostle.skeleton import Skeleton, find_roles, is_humanoid
from jostle.types import Array, Float

_LIMB_BONES = {"thigh": "shin", "shin": "foot", "upper_arm": "forearm", "forearm": "hand"}
_UPRIGHT = ("pelvis", "spine", "chest", "neck", "head", "left_clavicle", "right_clavicle")
_SHARED_NAMES = 0.5  # of the target's joints must have a namesake where neither roles nor a table help


@dataclass(frozen=True, eq=False)
class Follows:
    """A target joint's world rotation: between source joints `first` and `second`, at `share`, then `align`."""

    first: int
    second: int
    share: float
    align: Float[Array, "4"]


def match_joints(source: Skeleton, target: Skeleton, table: Mapping[str, str] | None = None) -> dict[int, int]:
    """Target joint to source joint, by table, role and name."""
    given = {target.index(t): source.index(s) for t, s in _checked(source, target, table or {}).items()}
    people = is_humanoid(source) and is_humanoid(target)
    by_name = {j: source.names.index(n) for j, n in enumerate(target.names) if n in source.names}
    if people:
        ours, theirs = find_roles(target), find_roles(source)
        by_role = {ours[role]: theirs[role] for role in ours if role in theirs}
        spoken_for = set(ours.values()), set(theirs.values())
        by_name = {t: s for t, s in by_name.items() if t not in spoken_for[0] and s not in spoken_for[1]}
        return {**by_name, **by_role, **given}
    if given:
        return {0: 0, **given}
    alike = is_humanoid(source) == is_humanoid(target)
    if not alike or len(by_name) < _SHARED_NAMES * target.joint_count:
        raise MotionError(
            "These skeletons are not both people and share too few joint names to follow one another; pass a table "
            f"from target joints ({_some(target)}) to source joints ({_some(source)})."
        )
    return {0: 0, **by_name}


def _checked(source: Skeleton, target: Skeleton, table: Mapping[str, str]) -> Mapping[str, str]:
    for ours, theirs in table.items():
        if ours not in target.names:
            raise MotionError(unknown_name("target joint", ours, target.names))
        if theirs not in source.names:
            raise MotionError(unknown_name("source joint", theirs, source.names))
    return table


def _some(skeleton: Skeleton) -> str:
    return ", ".join(skeleton.names[:12]) + (", …" if skeleton.joint_count > 12 else "")


def find_follows(source: Skeleton, target: Skeleton, table: Mapping[str, str] | None = None) -> dict[int, Follows]:
    """For every target joint that follows something: what, and by which turn between the rest poses."""
    matches = match_joints(source, target, table)
    people = is_humanoid(source) and is_humanoid(target)
    turns = _alignments(source, target, matches, people)
    follows = {t: Follows(s, s, 0.0, turns[t]) for t, s in matches.items()}
    if people:
        named = {target.index(name) for name in table or {}}
        for chain in (("pelvis", "chest"), ("chest", "head")):
            spread = _spread(source, target, *chain)
            follows.update({t: follow for t, follow in spread.items() if t not in named})
    return follows


def _spread(source: Skeleton, target: Skeleton, low: str, high: str) -> dict[int, Follows]:
    """The target's trunk joints between two roles, each at its place on the source's trunk."""
    ours = _between(target, find_roles(target)[low], find_roles(target)[high])
    theirs = _between(source, find_roles(source)[low], find_roles(source)[high])
    here, there = _places(target, ours), _places(source, theirs)
    found = {}
    for joint, u in zip(ours, here, strict=True):
        i = int(np.clip(np.searchsorted(there, u, side="right") - 1, 0, len(theirs) - 2))
        share = float(np.clip((u - there[i]) / (there[i + 1] - there[i]), 0.0, 1.0))
        found[joint] = Follows(theirs[i], theirs[i + 1], share, quat.identity())
    return found


def _between(skeleton: Skeleton, low: int, high: int) -> list[int]:
    chain = skeleton.chain(high)
    return chain[chain.index(low) :] if low in chain else [low, high]


def _places(skeleton: Skeleton, chain: list[int]) -> Float[Array, "n"]:
    """From 0 to 1 along a chain, rising strictly."""
    steps = np.linalg.norm(np.diff(skeleton.rest_positions[chain], axis=0), axis=-1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    count = np.linspace(0.0, 1.0, len(chain))
    return 0.5 * along / max(float(along[-1]), 1e-9) + 0.5 * count if along[-1] > 1e-9 else count


def _alignments(source: Skeleton, target: Skeleton, matches: Mapping[int, int], people: bool) -> dict[int, Array]:
    """A for every matched joint; one without a bone of its own turns like the joint above it."""
    names = {joint: role for role, joint in find_roles(target).items()} if people else {}
    turns: dict[int, Array] = {}
    for joint in sorted(matches):
        role = names.get(joint, "")
        if role in _UPRIGHT or joint == 0:
            turns[joint] = quat.identity()
        elif (bone := _bone(source, target, matches, joint, role, people)) is not None:
            turns[joint] = bone
        else:
            above = [turns[j] for j in target.chain(joint)[:-1] if j in turns]
            turns[joint] = above[-1] if above else quat.identity()
    return turns


def _bone(
    source: Skeleton, target: Skeleton, matches: Mapping[int, int], joint: int, role: str, people: bool
) -> Array | None:
    """The turn between rest directions of the bone below a joint, or None where one of the two has none."""
    side, _, limb = role.partition("_")
    if limb == "foot":
        toes = [_toe_direction(s, find_roles(s)[role], side) for s in (target, source)]
        return None if toes[0] is None or toes[1] is None else quat.from_yaw(_yaw(toes[1]) - _yaw(toes[0]))
    if people and limb not in _LIMB_BONES:
        return None
    if people:
        child = find_roles(target).get(f"{side}_{_LIMB_BONES[limb]}")
    else:
        child = next((j for j in target.children[joint] if j in matches), None)
    if child is None or child not in matches:
        return None
    ours = target.rest_positions[child] - target.rest_positions[joint]
    theirs = source.rest_positions[matches[child]] - source.rest_positions[matches[joint]]
    if min(np.linalg.norm(ours), np.linalg.norm(theirs)) < 1e-6:
        return None
    return quat.between(ours, theirs)


def _toe_direction(skeleton: Skeleton, ankle: int, side: str) -> Float[Array, "3"] | None:
    toe = find_roles(skeleton).get(f"{side}_toe")
    tips = skeleton.ends_of(ankle)
    if toe is not None:
        direction = skeleton.rest_positions[toe] - skeleton.rest_positions[ankle]
    elif len(tips):
        direction = tips[int(np.argmax(np.linalg.norm(tips, axis=-1)))]
    else:
        return None
    return direction if np.linalg.norm(direction[:2]) > 1e-6 else None


def _yaw(v: Float[Array, "3"]) -> float:
    return float(np.arctan2(v[1], v[0]))
