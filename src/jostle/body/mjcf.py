# pyright: reportAttributeAccessIssue=false
# mujoco takes its names from compiled modules that have no type stubs.
"""From a Body to a MuJoCo model: a free root, balls (or hinges) for joints, capsules and boxes, and a ground.

One MuJoCo body per joint of the skeleton, under the joint's name (MuJoCo orders them depth first; a skeleton need not).
In the rest pose every joint's frame is aligned with the world, so a body's frame in MuJoCo is the joint's frame here,
and positions and rotations agree without conversion. Masses and inertias are stated, never guessed from the shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from jostle.body.body import GRAVITY, Body
from jostle.body.dofs import Ball, Dof, Hinges
from jostle.body.shapes import Box, Capsule, Shape
from jostle.errors import BodyError
from jostle.maths import quat

_GROUND, _BODY = 1, 2  # collision bits
_BEHIND, _AHEAD, _DEEP = 5.0, 200.0, 1.0  # metres of a beam


@dataclass(frozen=True)
class Ground:
    """A plane through the origin; with a slope (radians) it rises along X, with a width it is a beam along X."""

    slope: float = 0.0
    friction: float = 1.0
    width: float = 0.0  # metres; 0: no edges


@dataclass(frozen=True)
class Options:
    """How a body is simulated."""

    timestep: float = 0.002  # seconds
    solver: Literal["newton", "cg", "pgs"] = "newton"
    cone: Literal["pyramidal", "elliptic"] = "pyramidal"  # friction above 2 wants the elliptic one
    integrator: Literal["euler", "implicitfast", "rk4"] = "implicitfast"  # takes joint damping implicitly
    armature: float = 0.0  # kg m2 added to every turning axis; 0.005 calms light joints in simulation
    damping: float = 0.0  # N m s/rad at every turning axis
    contact_time: float = 0.01  # seconds in which a contact gives way
    self_contact: bool = True  # may parts touch each other? Those that touch at rest never do


def build_spec(
    body: Body,
    ground: Ground | None = None,
    options: Options | None = None,
    dofs: Mapping[str, Dof] | None = None,
) -> mujoco.MjSpec:
    """The model, not yet compiled; `dofs` maps parts (roles or joint names) to how they turn, balls where not named."""
    chosen = options or Options()
    spec = _empty_spec(chosen)
    if ground is not None:
        _add_ground(spec, ground)
    turning = _dofs_by_joint(body, dofs or {})
    skeleton, made = body.skeleton, [spec.worldbody]
    for joint in range(skeleton.joint_count):
        parent = made[int(skeleton.parents[joint]) + 1]
        made.append(_add_joint(parent, body, joint, turning.get(joint, Ball()), chosen))
    for number, shape in enumerate(body.shapes):
        _add_shape(made[shape.joint + 1], shape, f"shape{number}", chosen.self_contact)
    _add_soles(spec, made, body)
    if ground is not None:
        _add_balance(spec, name_of(body, 0))
        if not chosen.self_contact:
            _pair_with_ground(spec, len(body.shapes), ground, chosen)
    return spec


def _empty_spec(options: Options) -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.compiler.degree = False
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND.value  # one body is one island: nothing to look for
    spec.option.timestep = options.timestep
    spec.option.gravity = [0.0, 0.0, -GRAVITY]
    spec.option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{options.solver.upper()}")
    spec.option.cone = getattr(mujoco.mjtCone, f"mjCONE_{options.cone.upper()}")
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{options.integrator.upper()}")
    spec.default.geom.solref = [options.contact_time, 1.0]
    return spec


def _add_ground(spec: mujoco.MjSpec, ground: Ground) -> None:
    tilt = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -ground.slope)
    kind, size, place = mujoco.mjtGeom.mjGEOM_PLANE, [0.0, 0.0, 1.0], np.zeros(3)  # no edges
    if ground.width:
        kind, size = mujoco.mjtGeom.mjGEOM_BOX, [0.5 * (_BEHIND + _AHEAD), 0.5 * ground.width, 0.5 * _DEEP]
        place = quat.apply(tilt, np.array([0.5 * (_AHEAD - _BEHIND), 0.0, -0.5 * _DEEP]))
    spec.worldbody.add_geom(
        name="ground",
        type=kind,
        size=size,
        pos=place,
        quat=tilt,
        friction=[ground.friction, 0.005, 0.0001],
        contype=_GROUND,
        conaffinity=_BODY,
        priority=1,  # the ground's friction counts, not the mean with the shape's
    )


def _pair_with_ground(spec: mujoco.MjSpec, shapes: int, ground: Ground, options: Options) -> None:
    """Name the pairs that may touch: MuJoCo then does not sort shapes to find them, which is 7 % of a walker's step."""
    for number in range(shapes):
        spec.add_pair(
            geomname1="ground",
            geomname2=f"shape{number}",
            condim=3,
            friction=[ground.friction, ground.friction, 0.005, 0.0001, 0.0001],
            solref=[options.contact_time, 1.0],
        )


def _dofs_by_joint(body: Body, dofs: Mapping[str, Dof]) -> dict[int, Dof]:
    found = {body.part(name): dof for name, dof in dofs.items()}
    if 0 in found:
        raise BodyError(f"The root '{body.skeleton.names[0]}' moves freely; give hinges to other joints.")
    return found


def name_of(body: Body, joint: int) -> str:
    """The joint's own name; MuJoCo keeps "world" for itself and knows no empty one."""
    name = body.skeleton.names[joint]
    return name if name and name != "world" else f"joint {joint}"


def _add_joint(parent: mujoco.MjsBody, body: Body, joint: int, dof: Dof, options: Options) -> mujoco.MjsBody:
    """The MuJoCo body of one joint: its place, its inertia along principal axes, and how it turns."""
    name, offset = name_of(body, joint), body.skeleton.offsets[joint]
    child = parent.add_body(name=name, pos=offset)
    moments, axes = np.linalg.eigh(body.inertia[joint])
    axes[:, 2] *= np.sign(np.linalg.det(axes))  # a rotation, not a reflection
    child.mass, child.ipos, child.inertia = float(body.mass[joint]), body.com[joint], moments
    child.iquat = quat.from_matrix(axes)
    child.explicitinertial = True
    if joint == 0:
        child.add_freejoint(name=name)
    elif isinstance(dof, Ball):
        limits = {} if dof.limit is None else {"limited": 1, "range": [0.0, dof.limit]}
        child.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_BALL, **_passive(options), **limits)
    else:
        _add_hinges(child, name, dof, options)
    return child


def _add_hinges(child: mujoco.MjsBody, name: str, dof: Hinges, options: Options) -> None:
    for number, hinge in enumerate(dof.hinges):
        limits = {} if hinge.limits is None else {"limited": 1, "range": list(hinge.limits)}
        kind = mujoco.mjtJoint.mjJNT_HINGE
        child.add_joint(name=f"{name}.{number}", type=kind, axis=list(hinge.axis), **_passive(options), **limits)


def _passive(options: Options) -> dict[str, object]:
    return {"armature": options.armature, "damping": [options.damping, 0.0, 0.0]}


def _add_shape(owner: mujoco.MjsBody, shape: Shape, name: str, self_contact: bool) -> None:
    bits = {"contype": _BODY, "conaffinity": _GROUND | _BODY} if self_contact else {"contype": 0, "conaffinity": 0}
    if isinstance(shape, Capsule):
        ends = np.concatenate([shape.start, shape.end])
        if np.linalg.norm(shape.end - shape.start) < 1e-6:
            kind, where = mujoco.mjtGeom.mjGEOM_SPHERE, {"pos": shape.start}
        else:
            kind, where = mujoco.mjtGeom.mjGEOM_CAPSULE, {"fromto": ends}
        owner.add_geom(name=name, type=kind, size=[shape.radius, 0.0, 0.0], **where, **bits)
    else:
        kind = mujoco.mjtGeom.mjGEOM_BOX
        owner.add_geom(name=name, type=kind, size=shape.half, pos=shape.centre, quat=shape.wxyz, **bits)


def _add_soles(spec: mujoco.MjSpec, made: list[mujoco.MjsBody], body: Body) -> None:
    """A site at each corner of each sole, to tell how high it is, and a touch sensor around each box of a foot."""
    for sole in body.soles:
        for label, joint, point in zip(sole.labels, sole.joints, sole.points, strict=True):
            made[joint + 1].add_site(name=label, pos=point)
        boxes = [shape for shape in body.shapes if isinstance(shape, Box) and shape.joint in sole.joints]
        for end, box in zip(("heel", "toe"), boxes, strict=True):
            name = sole.name.replace("foot", end)
            around = {"pos": box.centre, "quat": box.wxyz, "size": 1.05 * box.half + 0.01}
            made[box.joint + 1].add_site(name=name, type=mujoco.mjtGeom.mjGEOM_BOX, **around)
            spec.add_sensor(
                name=name, type=mujoco.mjtSensor.mjSENS_TOUCH, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=name
            )


def _add_balance(spec: mujoco.MjSpec, root: str) -> None:
    """Sensors for the whole body: its centre of mass, that one's velocity, and its angular momentum about it."""
    kinds = mujoco.mjtSensor
    for name, kind in (
        ("com", kinds.mjSENS_SUBTREECOM),
        ("com_velocity", kinds.mjSENS_SUBTREELINVEL),
        ("angular_momentum", kinds.mjSENS_SUBTREEANGMOM),
    ):
        spec.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_BODY, objname=root)


def compile_spec(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """Compile; parts that overlap in the rest pose (neighbours, thigh against thigh) never touch each other."""
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[2] += 100.0  # away from the ground
    mujoco.mj_forward(model, data)
    pairs = {tuple(sorted(model.geom_bodyid[contact.geom].tolist())) for contact in data.contact}
    if not pairs:
        return model
    for first, second in sorted(pairs):
        spec.add_exclude(bodyname1=model.body(first).name, bodyname2=model.body(second).name)
    return spec.compile()
