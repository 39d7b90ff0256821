"""Who walks: bodies of any height, mass and shape with the thirty joints of figure 2.1 (Wang 2010, section 3.2).

The rest pose stands at attention, arms hanging, so that every angle of the walker is zero there. Lengths are published
fractions of height (Drillis & Contini 1966) and masses those of the body room (de Leva 1996): the thesis scales the
links of Wooten & Hodgins, which are not published as a table; height and mass are the thesis's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jostle.body import Body, Box, Dof, Hinge, Hinges, build_body
from jostle.controllers.walker.joints import JOINTS, WELDS
from jostle.errors import BodyError, unknown_name
from jostle.skeleton import Skeleton, build_skeleton
from jostle.types import Array, Float

if TYPE_CHECKING:
    from jostle.body import Ground, Options, Physics

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True)
class Person:
    """A body to walk with. `arms` and `legs` stretch those limbs; the trunk makes up for the legs."""

    height: float = 1.65  # metres
    mass: float = 70.0  # kilograms
    arms: float = 1.0
    legs: float = 1.0
    fallen: float = 0.7  # a centre of mass below this many metres above the ground has fallen

    def __post_init__(self) -> None:
        for name, low, high in (("height", 0.5, 2.5), ("mass", 10, 300), ("arms", 0.3, 3), ("legs", 0.5, 1.3)):
            value = getattr(self, name)
            if not (np.isfinite(value) and low <= value <= high):
                raise BodyError(f"A walker's {name} must lie between {low:g} and {high:g}, not {value:g}.")


# Figure 3.2 of the thesis; its heights of fall are 0.7 m, and 0.4 m for "long arm".
PEOPLE = {
    "long_arm": Person(1.27, 65.0, arms=1.6, fallen=0.4),
    "thin": Person(1.65, 41.0),
    "short": Person(1.65, 57.0),
    "stocky": Person(1.65, 70.0),
    "overweight": Person(1.61, 86.0),
    "tall": Person(1.96, 79.0),
}

# name, parent, (forward, left, up) from the parent as a fraction of height
_TRUNK = (
    ("Hips", None, (0.0, 0.0, 0.549)),
    ("Spine", "Hips", (0.0, 0.0, 0.060)),
    ("Neck", "Spine", (0.0, 0.0, 0.215)),
    ("Head", "Neck", (0.0, 0.0, 0.050)),
)
_ARM = (
    ("Arm", "Spine", (0.0, 0.108, 0.190)),
    ("ForeArm", "LeftArm", (0.0, 0.0, -0.186)),
    ("Hand", "LeftForeArm", (0.0, 0.0, -0.146)),
)
_LEG = (
    ("UpLeg", "Hips", (0.0, 0.052, -0.019)),
    ("Leg", "LeftUpLeg", (0.0, 0.0, -0.245)),
    ("Foot", "LeftLeg", (0.0, 0.0, -0.246)),
    ("Toe", "LeftFoot", (0.082, 0.0, -0.021)),
)
_ENDS = {"Head": (0.0, 0.0, 0.124), "LeftHand": (0.0, 0.0, -0.100), "LeftToe": (0.040, 0.0, -0.010)}


def find_person(name: str) -> Person:
    """One of the six of figure 3.2."""
    if name not in PEOPLE:
        raise BodyError(unknown_name("body", name, PEOPLE))
    return PEOPLE[name]


def build_person(person: Person) -> Body:
    """The body, with boxes for feet and toes."""
    return build_body(_skeleton(person), mass=person.mass, height=person.height)


def _skeleton(person: Person) -> Skeleton:
    rows = [*_TRUNK]
    for limb in (_ARM, _LEG):
        for side, sign in (("Left", 1.0), ("Right", -1.0)):
            rows += [(side + n, p.replace("Left", side), (x, sign * y, z)) for n, p, (x, y, z) in limb]
    names = [name for name, _, _ in rows]
    parents = [-1 if parent is None else names.index(parent) for _, parent, _ in rows]
    offsets = np.array([_stretched(person, name, offset) for name, _, offset in rows])
    ends = []
    for name, (x, y, z) in _ENDS.items():
        for side, sign in (("Left", 1.0), ("Right", -1.0)) if "Left" in name else (("", 1.0),):
            full = name.replace("Left", side)
            ends.append((names.index(full), _stretched(person, full, (x, sign * y, z))))
    return build_skeleton(names, parents, offsets, sorted(ends, key=lambda end: end[0]))


def _stretched(person: Person, name: str, offset: tuple[float, float, float]) -> Float[Array, "3"]:
    """An offset of the table in metres, for these arms and legs."""
    x, y, z = offset
    gained = (person.legs - 1.0) * (0.245 + 0.246)  # of the height, by longer legs
    if name.endswith(("ForeArm", "Hand")):
        z *= person.arms
    elif name.endswith(("Leg", "Foot")) and not name.endswith("UpLeg"):
        z *= person.legs
    elif name == "Hips":
        z += gained
    elif name == "Neck" or name.endswith("Arm"):
        z -= gained
    return person.height * np.array([x, y, z])


def walker_dofs() -> dict[str, Dof]:
    """Hinges for the thirty angles; head and hands are fixed to what carries them."""
    dofs: dict[str, Dof] = {joint: Hinges() for joint in WELDS}
    for joint, (_, axes, limits) in JOINTS.items():
        dofs[joint] = Hinges(tuple(Hinge(_AXES[a], lim) for a, lim in zip(axes, limits, strict=True)))
    return dofs


def walker_options(timestep: float = 0.002, self_contact: bool = False) -> Options:
    """How walkers are simulated: why so, and what changes with it, stands in docs/walking.md."""
    from jostle.body import Options

    return Options(timestep, integrator="euler", armature=0.005, damping=1.0, self_contact=self_contact)


def walker_physics(
    person: Person, ground: Ground | None = None, timestep: float = 0.002, options: Options | None = None
) -> Physics:
    """The body ready to be simulated; `options` in place of the usual ones, with a time step of their own.

    On a beam legs cannot pass through each other (section 4.4.1): where feet have room, they do not come near.
    """
    from jostle.body import Ground, compile_body

    ground = ground or Ground()
    options = options or walker_options(timestep, self_contact=ground.width > 0.0)
    return compile_body(build_person(person), ground, options, walker_dofs())


def foot_corners(body: Body, side: str) -> Mapping[str, Float[Array, "n 3"]]:
    """Points of one foot in its joints' frames: four under the foot, four under the toe, two atop the toe's tip."""
    corners = {}
    for joint in ("Foot", "Toe"):
        index = body.skeleton.index(side + joint)
        box = next(shape for shape in body.shapes if isinstance(shape, Box) and shape.joint == index)
        signs = np.array([(x, y, -1.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])  # heel first
        corners[joint] = box.centre + signs * box.half
        corners["Tip"] = box.centre + signs[2:] * [1.0, 1.0, -1.0] * box.half
    return corners


def com_height(body: Body) -> float:
    """Of the centre of mass, standing; metres."""
    rest = body.skeleton.rest_positions + body.com
    return float(body.mass @ rest[:, 2] / body.total_mass)


def leg_length(body: Body) -> float:
    """From the hip to the ground, standing; metres."""
    return float(body.skeleton.rest_positions[body.skeleton.index("LeftUpLeg"), 2])
