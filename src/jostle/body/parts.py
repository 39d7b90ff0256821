"""Names for places on a body: roles, the joints' own names, and words a person would say."""

from __future__ import annotations

from collections.abc import Mapping

from jostle.errors import CommandError, unknown_name
from jostle.skeleton import Skeleton, find_roles
from jostle.skeleton.roles import SIDES

# What a word means, the best first: where a skeleton lacks a role, the nearest one that it has is meant.
_WORDS: dict[str, tuple[str, ...]] = {
    "torso": ("chest",),
    "trunk": ("chest",),
    "body": ("chest",),
    "back": ("chest",),
    "belly": ("spine", "pelvis"),
    "waist": ("spine", "pelvis"),
    "hips": ("pelvis",),
    "spine": ("spine", "chest"),
    "neck": ("neck", "head"),
    "face": ("head",),
}
_SIDED: dict[str, tuple[str, ...]] = {
    "arm": ("upper_arm",),
    "shoulder": ("upper_arm",),
    "elbow": ("forearm",),
    "wrist": ("hand", "forearm"),
    "hand": ("hand", "forearm"),
    "clavicle": ("clavicle", "upper_arm"),
    "leg": ("thigh",),
    "hip": ("thigh",),
    "knee": ("shin",),
    "ankle": ("foot",),
    "toe": ("toe", "foot"),
}


def known_parts(skeleton: Skeleton, heaviest: int) -> Mapping[str, int]:
    """Every name that means a place on this body, and the joint that it means."""
    roles = find_roles(skeleton)
    names: dict[str, int] = dict(roles)
    words = dict(_WORDS)
    words |= {f"{s}_{w}": tuple(f"{s}_{r}" for r in meant) for s in SIDES for w, meant in _SIDED.items()}
    for word, meant in words.items():
        joint = next((roles[role] for role in meant if role in roles), None)
        if joint is not None:
            names.setdefault(word, joint)
    for word in ("torso", "trunk", "body"):
        names.setdefault(word, heaviest)  # an animal's trunk is where its mass is
    for joint, name in enumerate(skeleton.names):
        names.setdefault(name, joint)
    return names


def resolve(names: Mapping[str, int], part: str) -> int:
    """The joint that a name means, whatever its case and whether it is written with spaces, dashes or underscores."""
    if part in names:
        return names[part]
    plain = {_plain(name): joint for name, joint in reversed(list(names.items()))}
    if _plain(part) in plain:
        return plain[_plain(part)]
    raise CommandError(unknown_name("body part", part, names))


def _plain(name: str) -> str:
    return name.lower().replace(" ", "_").replace("-", "_")
