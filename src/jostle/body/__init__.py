"""Bodies with mass: anthropometry, MuJoCo, mass matrices, Jacobians, inverse dynamics, batches of simulations.

Building a body needs no MuJoCo; what does is imported when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from jostle.body.body import GRAVITY, Body, build_body
from jostle.body.dofs import Ball, Dof, Hinge, Hinges
from jostle.body.limits import human_dofs
from jostle.body.shapes import Box, Capsule, Shape, Sole

if TYPE_CHECKING:
    from jostle.body.batch import Simulations
    from jostle.body.dynamics import Dynamics
    from jostle.body.inverse import InverseDynamics, inverse_dynamics, inverse_of
    from jostle.body.mjcf import Ground, Options
    from jostle.body.motion import Motion, to_motion
    from jostle.body.physics import Physics, compile_body
    from jostle.body.support import GroundForces, ground_forces, root_residual

_NEEDS_MUJOCO = {
    "batch": ("Simulations",),
    "dynamics": ("Dynamics",),
    "inverse": ("InverseDynamics", "inverse_dynamics", "inverse_of"),
    "mjcf": ("Ground", "Options"),
    "motion": ("Motion", "to_motion"),
    "physics": ("Physics", "compile_body"),
    "support": ("GroundForces", "ground_forces", "root_residual"),
}
_HOME = {name: module for module, names in _NEEDS_MUJOCO.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'jostle.body' has no attribute '{name}'")
    return getattr(import_module(f"jostle.body.{_HOME[name]}"), name)


__all__ = [
    "GRAVITY",
    "Ball",
    "Body",
    "Box",
    "Capsule",
    "Dof",
    "Dynamics",
    "Ground",
    "GroundForces",
    "Hinge",
    "Hinges",
    "InverseDynamics",
    "Motion",
    "Options",
    "Physics",
    "Shape",
    "Simulations",
    "Sole",
    "build_body",
    "compile_body",
    "ground_forces",
    "human_dofs",
    "inverse_dynamics",
    "inverse_of",
    "root_residual",
    "to_motion",
]
