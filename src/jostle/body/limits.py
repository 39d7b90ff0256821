"""How far a person's joints turn: enough of anatomy that a limp body folds like a person, not like a rope.

Knees and elbows are hinges that do not bend backwards; every other joint is a ball with a largest angle from the rest
pose. Ranges are rounded from those of the American Academy of Orthopaedic Surgeons (1965) and meant for rag dolls.
"""

from __future__ import annotations

import numpy as np

from jostle.body.body import Body
from jostle.body.dofs import Ball, Dof, Hinge, Hinges
from jostle.skeleton import find_roles, unsided
from jostle.types import Array, Float

_KNEE, _ELBOW = np.radians([0.0, 140.0]), np.radians([0.0, 150.0])
_WIDEST = {  # degrees
    "spine": 30.0,
    "chest": 30.0,
    "neck": 40.0,
    "head": 30.0,
    "clavicle": 20.0,
    "upper_arm": 120.0,
    "hand": 60.0,
    "thigh": 100.0,
    "foot": 40.0,
    "toe": 40.0,
}
_FORWARD = np.array([1.0, 0.0, 0.0])


def human_dofs(body: Body) -> dict[str, Dof]:
    """Limits for every part of a person that has a role, to be passed to `compile_body`; none for an animal.

    Joints without a role (fingers, dummies, the spine's inner joints) are kept within 20 degrees.
    """
    roles = find_roles(body.skeleton)
    if "pelvis" not in roles:
        return {}
    dofs: dict[str, Dof] = {}
    for joint, name in enumerate(body.skeleton.names[1:], start=1):
        part = next((role for role, j in roles.items() if j == joint), None)
        kind = "" if part is None else unsided(part)
        if kind in ("shin", "forearm") and part is not None:
            dofs[part] = _hinge(body, joint, kind)
        elif part == "pelvis":
            dofs[part] = Hinges()  # rides on the rig's handle
        else:
            dofs[part or name] = Ball(float(np.radians(_WIDEST.get(kind, 20.0))))
    return dofs


def _hinge(body: Body, joint: int, kind: str) -> Hinges:
    """Across the limb and square to forward, turned so that a knee bends back and an elbow forward."""
    bone = _bone(body, joint)
    axis = np.cross(_FORWARD, bone) if kind == "shin" else np.cross(bone, _FORWARD)
    x, y, z = (float(value) for value in axis / np.linalg.norm(axis))
    low, high = (float(value) for value in (_KNEE if kind == "shin" else _ELBOW))
    return Hinges((Hinge((x, y, z), (low, high)),))


def _bone(body: Body, joint: int) -> Float[Array, "3"]:
    """The direction from a knee or elbow to what follows; where that lies straight ahead, down."""
    below = body.skeleton.children[joint]
    reach = body.skeleton.offsets[below[0]] if below else body.com[joint]
    length = float(np.linalg.norm(reach))
    if length < 1e-6 or np.linalg.norm(np.cross(_FORWARD, reach)) < 0.1 * length:
        return np.array([0.0, 0.0, -1.0])
    return reach / length
