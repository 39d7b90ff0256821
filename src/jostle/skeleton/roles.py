"""Which joint is the left knee? Names differ in every studio; this finds the human body behind them.

A *role* is one of `ROLES`. Limbs are found by name (`LeftUpLeg`, `lfemur`, `UpperLeg_L`, `mixamorig:LeftUpLeg`,
`thigh.l` are all `left_thigh`); the trunk by where limbs meet: the pelvis is where the legs join, the chest
is where the arms join. A joint named for a bone sits at that bone's near end: `left_shin` is the knee.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from jostle.errors import MotionError
from jostle.skeleton.skeleton import Skeleton

SIDES = ("left", "right")
LIMBS = ("thigh", "shin", "foot", "toe", "clavicle", "upper_arm", "forearm", "hand")
TRUNK = ("pelvis", "spine", "chest", "neck", "head")
ROLES = (*TRUNK, *(f"{side}_{limb}" for side in SIDES for limb in LIMBS))
NEEDED = (
    "pelvis",
    "chest",
    "head",
    *(f"{s}_{x}" for s in SIDES for x in ("thigh", "shin", "foot", "upper_arm", "forearm")),
)

# Bare names (side, prefix, digits and punctuation removed) that mean each limb, the surest first.
_NAMES: dict[str, tuple[str, ...]] = {
    "thigh": ("upleg", "upperleg", "thigh", "femur", "legupper", "hip"),
    "shin": ("lowerleg", "lowleg", "leg", "calf", "shin", "tibia", "knee", "leglower"),
    "foot": ("foot", "ankle"),
    "toe": ("toebase", "toes", "toe", "ball"),
    "clavicle": ("clavicle", "collar", "collarbone", "shoulder"),
    "upper_arm": ("upperarm", "uparm", "arm", "humerus", "armupper", "shoulder"),
    "forearm": ("forearm", "lowerarm", "lowarm", "radius", "elbow", "armlower"),
    "hand": ("wrist", "hand", "fist"),
}
_HELPERS = re.compile(r"dummy|ik|pole|control|target|twist|slot|roll|helper|nub|end$", re.IGNORECASE)


def split_side(name: str) -> tuple[str | None, str]:
    """('left', 'upleg') for `mixamorig:LeftUpLeg`, `UpLeg.L`, `l_upleg`; (None, 'head') for `Head`."""
    bare = name.rsplit(":", 1)[-1]
    match = re.match(r"^(left|right)[\s_.-]*(.*)$", bare, re.IGNORECASE)
    if not match:
        match = re.match(r"^(.*?)[\s_.-]*(left|right)$", bare, re.IGNORECASE)
        match = match and re.match(r"^(.*)\|(.*)$", f"{match[2]}|{match[1]}")
    if not match:  # a letter set apart: L_Knee, Knee_L, Knee.l, Bip01 L Thigh
        found = re.search(r"(?:^|[\s_.-])([LR])(?:[\s_.-]|$)", bare, re.IGNORECASE)
        match = found and re.match(r"^(.*)\|(.*)$", f"{found[1]}|{bare[: found.start()]} {bare[found.end() :]}")
    if not match:  # LHipJoint, RThumb
        match = re.match(r"^([LR])([A-Z].*)$", bare)
    if not match:  # lfemur, rtibia: only before a word that we know
        words = "|".join(
            sorted(
                {w for names in _NAMES.values() for w in names} | {"thumb", "fingers", "hipjoint"},
                key=len,
                reverse=True,
            )
        )
        match = re.match(rf"^([lr])({words})$", bare)
    side = {"l": "left", "r": "right"}[match[1][0].lower()] if match else None
    word = match[2] if match else bare
    word = re.sub(r"^(bip\d*|valve|biped|character\w*?)[\s_.-]+", "", word.strip(), flags=re.IGNORECASE)
    return side, re.sub(r"[^a-z]", "", word.lower())


def is_helper(name: str) -> bool:
    """Whether a joint is named as a handle, slot or dummy of a rig and not as a bone of a body."""
    return bool(_HELPERS.search(split_side(name)[1]))


def unsided(role: str) -> str:
    """`thigh` of `left_thigh`; those of the trunk as they are."""
    return role.removeprefix("left_").removeprefix("right_")


@lru_cache(maxsize=256)
def find_roles(skeleton: Skeleton) -> Mapping[str, int]:
    """Role to joint, for every role that this skeleton has. A skeleton that is no person gives few or none."""
    roles: dict[str, int] = {}
    for side in SIDES:
        roles.update(_find_limbs(skeleton, side))
    roles.update(_find_trunk(skeleton, roles))
    return {role: roles[role] for role in ROLES if role in roles}


def is_humanoid(skeleton: Skeleton) -> bool:
    return all(role in find_roles(skeleton) for role in NEEDED)


def require_humanoid(skeleton: Skeleton, purpose: str) -> Mapping[str, int]:
    """The roles of a person's skeleton, or one sentence that names what could not be found."""
    roles = find_roles(skeleton)
    missing = [role for role in NEEDED if role not in roles]
    if missing:
        raise MotionError(
            f"{purpose} needs a human skeleton, and no joint could be taken for: {', '.join(missing)}. "
            f"Its joints are: {', '.join(skeleton.names[:60])}."
        )
    return roles


def _find_limbs(skeleton: Skeleton, side: str) -> dict[str, int]:
    words = {}
    for joint, name in enumerate(skeleton.names):
        named, word = split_side(name)
        if named == side and not _HELPERS.search(word):
            words[joint] = word
    found: dict[str, int] = {}
    for limb, names in _NAMES.items():
        taken = set(found.values())
        for word in names:
            joints = [j for j, w in words.items() if w == word and j not in taken]
            if limb == "clavicle" and word == "shoulder":  # a shoulder is a clavicle only if an upper arm follows it
                above = _above(skeleton, [j for j, w in words.items() if w in ("arm", "upperarm", "uparm")])
                joints = [j for j in joints if j in above]
            if joints:
                found[f"{side}_{limb}"] = joints[0]  # the one nearest the root
                break
    return _in_order(skeleton, found, side)


def _above(skeleton: Skeleton, joints: list[int]) -> set[int]:
    """These joints and everything that carries them, each visited once."""
    found: set[int] = set()
    for joint in joints:
        while joint >= 0 and joint not in found:
            found.add(joint)
            joint = int(skeleton.parents[joint])
    return found


def _in_order(skeleton: Skeleton, found: dict[str, int], side: str) -> dict[str, int]:
    """Wrist before hand: of the names for a joint the one nearest the root was taken; drop what hangs from no limb."""
    for upper, lower in (("upper_arm", "hand"), ("foot", "toe")):
        a, b = found.get(f"{side}_{upper}"), found.get(f"{side}_{lower}")
        if a is not None and b is not None and a not in skeleton.chain(b):
            del found[f"{side}_{lower}"]
    return found


def _find_trunk(skeleton: Skeleton, limbs: Mapping[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    legs = [limbs[r] for r in ("left_thigh", "right_thigh") if r in limbs]
    arms = [limbs[r] for r in ("left_upper_arm", "right_upper_arm") if r in limbs]
    heads = [j for j, n in enumerate(skeleton.names) if split_side(n) == (None, "head")]
    if len(legs) == 2:
        found["pelvis"] = _meeting(skeleton, legs)
    if len(arms) == 2:
        found["chest"] = _meeting(skeleton, arms)
    if heads:
        found["head"] = heads[0]
    if "pelvis" in found and "chest" in found:
        between = [
            j
            for j in skeleton.chain(found["chest"])[:-1]
            if j > found["pelvis"] and found["pelvis"] in skeleton.chain(j)
        ]
        if between:
            found["spine"] = between[0]
    if "chest" in found and "head" in found:
        above = [
            j for j in skeleton.chain(found["head"])[:-1] if found["chest"] in skeleton.chain(j) and j != found["chest"]
        ]
        above = [j for j in above if not _HELPERS.search(skeleton.names[j])]
        if above:
            found["neck"] = above[0]
    return found


def _meeting(skeleton: Skeleton, joints: list[int]) -> int:
    """The deepest joint that all of these hang from."""
    chains = [skeleton.chain(j)[:-1] for j in joints]
    return max(set(chains[0]).intersection(*chains[1:]), default=0)
