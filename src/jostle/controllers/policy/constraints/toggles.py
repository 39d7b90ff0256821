"""Constraints that a user switches on and off, those that every policy has, and how bundles keep them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from jostle.controllers.obstacles import Block, Obstacle, Post
from jostle.controllers.policy.constraints.constraint import Constraint
from jostle.controllers.policy.constraints.footlock import FootLock
from jostle.controllers.policy.constraints.hits import Hit
from jostle.controllers.policy.constraints.places import HandsOnHips, Hold, Place, PointAt
from jostle.controllers.policy.constraints.solids import Clear
from jostle.controllers.protocol import Setting
from jostle.errors import CommandError
from jostle.skeleton import Skeleton, find_roles, is_humanoid

KINDS: dict[str, Any] = {kind.__name__: kind for kind in (FootLock, HandsOnHips, PointAt, Hold, Place, Hit, Clear)}
SOLIDS: dict[str, Any] = {"Post": Post, "Block": Block}
ARMS = frozenset(f"{side}_{part}" for side in ("left", "right") for part in ("hand", "forearm", "upper_arm"))


@dataclass(frozen=True)
class Toggle:
    """A constraint by a name, for commands and the page; `on` is how much of it there is at first."""

    name: str
    label: str  # for people
    constraint: Constraint
    on: float = 0.0

    @property
    def setting(self) -> Setting:
        return Setting(self.name, self.label, 0.0, 1.0, self.on, toggle=True)


def standard(skeleton: Skeleton) -> tuple[Toggle, ...]:
    """What a policy has without being asked: feet that stay; and for a body with arms and hands what can be tried."""
    feet = Toggle("feet_stay", "feet stay where they stand", FootLock(), 1.0)
    wall = Clear((Block(np.array([3.0, 1.4, 0.9]), np.array([2.0, 0.05, 0.9])),))
    wall = Toggle("wall", "keep off the wall", wall)
    if not (is_humanoid(skeleton) and set(find_roles(skeleton)) >= ARMS):
        return feet, wall
    return (
        feet,
        Toggle("hips", "hands on hips", HandsOnHips()),
        Toggle("point", "point at the target", PointAt()),
        Toggle("pole", "hold the pole", Hold((0.6, 0.6, 0.0), (0.6, 0.6, 2.0))),
        wall,
    )


def pack_constraints(constraints: Sequence[Toggle | Constraint]) -> list[dict[str, Any]]:
    out = []
    for one in constraints:
        own = one.constraint if isinstance(one, Toggle) else one
        told = {"kind": type(own).__name__, **_packed(own)}
        out.append(
            {"name": one.name, "label": one.label, "on": one.on, "constraint": told}
            if isinstance(one, Toggle)
            else {"constraint": told}
        )
    return out


def unpack_constraints(data: Sequence[dict[str, Any]]) -> tuple[Toggle | Constraint, ...]:
    out: list[Toggle | Constraint] = []
    for one in data:
        told = dict(one["constraint"])
        own = KINDS[told.pop("kind")](**{name: _unpacked(value) for name, value in told.items()})
        out.append(Toggle(str(one["name"]), str(one["label"]), own, float(one["on"])) if "name" in one else own)
    return tuple(out)


def _packed(own: Any) -> dict[str, Any]:
    if type(own) not in KINDS.values():
        raise CommandError(
            f"A bundle holds no code, so it cannot keep the constraint '{type(own).__name__}', a class of your own; "
            "save the policy without it, and put it on again after loading."
        )
    return {field.name: _plain(getattr(own, field.name)) for field in fields(own)}


def _plain(value: Any) -> Any:
    if isinstance(value, (Post, Block)):
        return {"solid": type(value).__name__, **{f.name: _plain(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def _unpacked(value: Any) -> Any:
    if isinstance(value, dict):
        told = dict(value)
        made: Obstacle = SOLIDS[told.pop("solid")](
            **{n: np.array(v) if isinstance(v, list) else v for n, v in told.items()}
        )
        return made
    return tuple(_unpacked(item) for item in value) if isinstance(value, list) else value
