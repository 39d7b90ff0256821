"""One walker at a time, from the equations of the thesis and MuJoCo's own arrays: no batch, no mirror, no gathering."""

import mujoco
import numpy as np

from jostle.controllers.walker.joints import ANGLES

SIDES = ("Left", "Right")  # by the number of the leg that swings


def moment(physics, qpos, qvel=None):
    """MuJoCo's own arrays for one configuration."""
    data = mujoco.MjData(physics.model)
    data.qpos[:] = qpos
    data.qvel[:] = 0.0 if qvel is None else qvel
    mujoco.mj_forward(physics.model, data)
    return data


def corners(data, joint, up=-1.0):
    """The four lower (or upper) corners of a foot's or toe's box, in the world."""
    model = data.model
    geom = next(g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name == joint)
    half = model.geom_size[geom]
    signs = [(x, y, up) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    return np.array([data.geom_xpos[geom] + data.geom_xmat[geom].reshape(3, 3) @ (half * s) for s in signs])


def height(data, point):
    """Above MuJoCo's ground."""
    ground = data.model.geom("ground").id
    normal = data.geom_xmat[ground].reshape(3, 3)[:, 2]
    return float(normal @ (point - data.geom_xpos[ground]))


def names_for(side):
    """The name of each angle in the parameters, which are written for a left swing leg."""
    if side == 0:
        return {name: name for name in ANGLES}
    swap = {"l": "r", "r": "l"}
    return {n: n if n.startswith(("back", "neck")) else swap[n[0]] + n[1:] for n in ANGLES}


def world_angles(data, joint, forward_pitch, heading):
    """Coronal, sagittal and transverse angle of a part, from its up and forward vectors in the heading's frame."""
    turn = np.array([[np.cos(heading), np.sin(heading), 0], [-np.sin(heading), np.cos(heading), 0], [0, 0, 1]])
    frame = turn @ data.body(joint).xmat.reshape(3, 3)
    forward, up = frame[:, 0], frame[:, 2]
    sagittal = np.arcsin(-forward[2]) if forward_pitch else np.arctan2(up[0], up[2])
    return np.array([np.arctan2(-up[1], up[2]), sagittal, np.arctan2(forward[1], forward[0])])


def spin(data, joint, heading):
    """Angular velocity in the heading's frame."""
    velocity = np.zeros(6)
    body = data.model.body(joint).id
    mujoco.mj_objectVelocity(data.model, data, mujoco.mjtObj.mjOBJ_BODY, body, velocity, 0)
    c, s = np.cos(heading), np.sin(heading)
    x, y, z = velocity[:3]
    return np.array([c * x + s * y, c * y - s * x, z])


def torques(physics, data, named, state, side, heading, planted, world_ankles=True):
    """The torque about each of the thirty angles, dampers included, by name: (3.1) to (3.3) and section 3.2."""
    c, s = np.cos(heading), np.sin(heading)
    ahead = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])  # rows: the heading's axes in the world
    names = names_for(side)
    q = {name: data.qpos[7 + i] for i, name in enumerate(ANGLES)}
    rate = {name: data.qvel[6 + i] for i, name in enumerate(ANGLES)}

    def gain(kind, angle):
        return named.get(f"{kind}{state}.{names[angle]}", 0.0)

    def target(angle):
        return gain("target", angle) * (1.0 if angle.endswith("y") or side == 0 else -1.0)

    def feedback(kind, plane):
        return named.get(f"{kind}.{plane}", named.get(f"{kind}.{plane}{state}"))

    found = {n: gain("kp", n) * (target(n) - q[n]) - gain("kd", n) * rate[n] for n in ANGLES}
    arm = named.get("alpha_arm", 0.0) * (q["rhip_y"] - q["lhip_y"])  # the same in the mirror
    found["larm_y"] += gain("kp", "larm_y") * arm
    found["rarm_y"] -= gain("kp", "rarm_y") * arm

    swing, stance = SIDES[side], SIDES[1 - side]
    leg, other = swing[0].lower(), stance[0].lower()
    mass = physics.model.body_mass
    com = mass @ data.xipos / mass.sum()
    velocity = np.zeros(3)
    for body in range(physics.model.nbody):
        six = np.zeros(6)
        mujoco.mj_objectVelocity(physics.model, data, mujoco.mjtObj.mjOBJ_BODY, body, six, 0)
        velocity += mass[body] * six[3:] / mass.sum()
    d, v = ahead @ (com - data.body(f"{stance}Foot").xpos), ahead @ velocity
    balance = [feedback("c_d", p) * d[i] + feedback("c_v", p) * v[i] for i, p in enumerate(("sagittal", "coronal"))]

    def servo(joint, prefix, aims, axes="xyz"):
        """A torque in the heading's frame."""
        at, turning = world_angles(data, joint, joint.endswith("Foot"), heading), spin(data, joint, heading)
        torque = np.zeros(3)
        for i, axis in enumerate(axes):
            angle = f"{prefix}_{axis}"
            torque[i] = gain("kp", angle) * (aims[i] - at[i]) - gain("kd", angle) * turning[i]
        return torque

    thigh = servo(f"{swing}UpLeg", f"{leg}hip", [balance[1], target(f"{leg}hip_y") - balance[0], 0.0])
    torso = servo("Spine", f"{other}hip", [0.0, target(f"{other}hip_y"), 0.0])
    in_world = {f"{leg}hip": thigh, f"{other}hip": -(torso + thigh)}
    if world_ankles:
        for side_name, prefix in ((swing, leg), (stance, other)):
            aims = [target(f"{prefix}ankle_{a}") for a in "xy"]
            in_world[f"{prefix}ankle"] = servo(f"{side_name}Foot", f"{prefix}ankle", aims, "xy")
    for angle in ANGLES:
        joint = angle.rsplit("_", 1)[0]
        if joint in in_world and not (angle == f"{other}hip_z" and not planted):
            mujoco_joint = int(np.flatnonzero(physics.model.jnt_dofadr == 6 + ANGLES.index(angle))[0])
            found[angle] = float(data.xaxis[mujoco_joint] @ (ahead.T @ in_world[joint]))
    return found
