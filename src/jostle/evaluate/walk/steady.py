"""An undisturbed walk of 100 s, and every figure that is taken from it.

Everything comes from one trace at 1 ms. Cycles and strikes are those of `gait`, which leaves out the first two steps;
angles come from the body's pose, torques and phases from the controller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.controllers.walker.gait import SETTLING, SLOWEST, measure, strikes
from jostle.controllers.walker.joints import INDEX
from jostle.controllers.walker.people import com_height
from jostle.controllers.walker.senses import ground_normal
from jostle.controllers.walker.trace import Trace, rollout
from jostle.evaluate.metrics import fell, skate
from jostle.evaluate.walk.legs import ANGLES, leg_angles, over_cycle
from jostle.evaluate.walk.subjects import REPORTED, Subject
from jostle.maths import quat
from jostle.tuning.goal import Goal
from jostle.tuning.objective import score, state_seconds
from jostle.types import Array, Float, Int

FPS = 200  # of the clip that legs are looked at in
_WINDOW = 10.0  # metres over which a walk must be straight
_PUSH_OFF = 0.15  # seconds before the opposite heel strikes
_HEAD = 0.02  # seconds: accelerations of the head are second differences over this


def walk_steadily(subject: Subject, seconds: float, timestep: float = REPORTED) -> dict[str, Any]:
    """The figures of one walker, and its mean gait cycle in degrees under `curve` (None where it took no cycle)."""
    walk = subject.walk(1, timestep)
    trace = rollout(walk, subject.copies(1), seconds, subject.person.fallen, poses=True)
    clip = to_clip(trace, FPS)
    judged = score(trace, Goal(), np.atleast_1d(walk.space.unpack(subject.copies(1)).velocity[:, 0]))
    seen = {name: float(value[0]) for name, value in judged.seen.items() if np.ndim(value) == 1}
    row: dict[str, Any] = {"walker": subject.name, "seconds_walked": upright_seconds(trace, clip)}
    row |= travel(trace) | {"e_power": seen["power"], "power_share": judged.seen["ratio"][0].tolist()}
    row |= {f"E_{name}": float(term[0]) for name, term in judged.terms.items()}
    row |= {"head_speed_sd": seen["head_speed_sd"], "turning_torque": seen["torque"]}
    row["curve"] = None
    if measure(trace, 0).cycles > 0:
        row |= timing(trace) | push_off(trace) | arms_and_legs(trace) | head_motion(trace)
        row |= skate(to_clip(trace, 60)) | {"curve": mean_cycle(trace, clip, subject.ground.slope).tolist()}
    return row


def to_clip(trace: Trace, fps: int) -> Clip:
    """What was walked, as a clip at about this rate."""
    assert trace.qpos is not None
    every = max(1, round(1.0 / (fps * trace.dt)))
    pose = trace.physics.to_pose(trace.qpos[: max(int(trace.steps[0]), 1) : every, 0])
    return Clip(trace.physics.body.skeleton, 1.0 / (every * trace.dt), pose.root, pose.wxyz)


def upright_seconds(trace: Trace, clip: Clip) -> float:
    """How long it walked: until the trace ends, or `metrics.fell` says so."""
    skeleton = clip.skeleton
    torso = skeleton.index("Spine")
    normal = ground_normal(trace.physics)
    up = quat.apply(clip.globals.wxyz[:, torso], np.array([0.0, 0.0, 1.0]))
    height = clip.positions[:, torso] @ normal / normal[2]
    down = np.flatnonzero(fell(height, up, float(skeleton.rest_positions[torso, 2])))
    return float(down[0] * clip.dt if len(down) else trace.seconds[0])


def travel(trace: Trace) -> dict[str, float]:
    """Speed ahead, and how far it strays from a straight line ahead over 10 m, at worst, counted at whole cycles."""
    steps = int(trace.steps[0])
    com = trace.com[:steps, 0]
    at = strikes(trace, 0)[SETTLING:]
    speed = float(com[-1, 0] - com[0, 0]) / (steps * trace.dt)
    if len(at) < 3:
        return {"speed": speed}
    middle = 0.5 * (com[at[:-1]] + com[at[1:]])  # between a left and a right step the sway cancels
    strayed = [_strayed(middle[i:]) for i in range(len(middle))]
    return {"speed": speed, "line_m_per_10m": float(np.max(strayed))}


def _strayed(path: Float[Array, "n 3"]) -> float:
    """To the side of where the path begins, over its first ten metres."""
    near = path[:, 0] - path[0, 0] <= _WINDOW
    return float(np.max(np.abs(path[near, 1] - path[0, 1])))


def timing(trace: Trace) -> dict[str, float]:
    """Left against right, when feet are on the ground, and the knee that strikes."""
    gait, at = measure(trace, 0), strikes(trace, 0)[SETTLING:]
    states = state_seconds(trace)[0]
    sides = trace.phase[at[1:], 0] // 2
    took = np.diff(at) * trace.dt
    uneven = abs(float(np.mean(took[sides == 0]) - np.mean(took[sides == 1])))
    worst = max(abs(states[0] - states[2]), abs(states[1] - states[3]), uneven)
    return {
        "symmetry_ms": 1000.0 * float(worst),
        "step_m": gait.step_m,
        "step_spread_m": gait.step_spread_m,
        "cadence": 120.0 / gait.cycle_s,  # steps a minute
        "double_support": gait.double_support,
        "heel_off": float(gait.heel_off),
        "toe_off": float(gait.toe_off),
        "flat": float(gait.flat),
        "knee_at_strike_deg": float(np.degrees(gait.knee_at_strike)),
    }


def push_off(trace: Trace) -> dict[str, float]:
    """What the ankle behind does before the other heel strikes: mean torque and work of the last 0.15 s."""
    assert trace.qpos is not None
    back = max(1, round(_PUSH_OFF / trace.dt))
    ends = [int(k) for k in strikes(trace, 0)[SETTLING:] if k > back]
    stance = np.where(trace.phase[:, 0] >= 2, INDEX["lankle_y"], INDEX["rankle_y"])
    torque = trace.torques[:, 0, INDEX["rankle_y"]]  # in the mirror the stance leg is the right one
    rates = np.gradient(trace.qpos[: trace.steps[0], 0, 7:], trace.dt, axis=0)
    work, mean = [], []
    for end in ends:
        rows = np.arange(end - back, end)
        rows = rows[stance[rows] == stance[end - 1]]
        work.append(np.sum(torque[rows] * rates[rows, stance[rows]]) * trace.dt)
        mean.append(np.mean(torque[rows]))
    return {"push_off_j": float(np.mean(work)), "push_off_nm": float(np.mean(mean))}


def arms_and_legs(trace: Trace) -> dict[str, float]:
    """Arms against legs: -1 where an arm swings against the leg of its side."""
    assert trace.qpos is not None
    at = strikes(trace, 0)[SETTLING:]
    angles = trace.qpos[at[0] : trace.steps[0], 0, 7:]
    arms = [7 + INDEX["larm_y"], 7 + INDEX["rarm_y"]]
    phases = [_correlation(angles[:, INDEX[f"{s}arm_y"]], angles[:, INDEX[f"{s}hip_y"]]) for s in "lr"]
    return {
        "arm_leg": float(np.mean(phases)),
        "arm_swing_deg": float(np.degrees(np.mean([np.ptp(trace.qpos[a:b, 0, arms], axis=0) for a, b in _pairs(at)]))),
    }


def _correlation(a: Float[Array, "n"], b: Float[Array, "n"]) -> float:
    """Pearson's; 0 where one does not move."""
    a, b = a - a.mean(), b - b.mean()
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size > 1e-9 else 0.0


def head_motion(trace: Trace) -> dict[str, float]:
    """Acceleration and travel of the head; the largest vertical angular momentum, over mass, height, speed."""
    at = strikes(trace, 0)[SETTLING:]
    rows = slice(int(at[0]), int(at[-1]))
    head, gap = trace.head[rows, 0], max(1, round(_HEAD / trace.dt))
    acceleration = (head[2 * gap :] - 2.0 * head[gap:-gap] + head[: -2 * gap]) / (gap * trace.dt) ** 2
    ranges = np.array([np.ptp(trace.head[a:b, 0, 1:], axis=0) for a, b in _pairs(at)])
    body = trace.physics.body
    scale = body.total_mass * com_height(body) * max(travel(trace)["speed"], SLOWEST)
    spin = np.max(np.abs(trace.spin[rows, 0])) / scale
    return {
        "head_acceleration": float(np.sqrt(np.mean(np.sum(acceleration**2, axis=1)))),  # m/s2
        "head_sway_cm": 100.0 * float(np.mean(ranges[:, 0])),
        "head_bob_cm": 100.0 * float(np.mean(ranges[:, 1])),
        "head_tilted": float(np.mean(np.linalg.norm(trace.head_angles[rows, 0], axis=1) > 0.1)),
        "angular_momentum": float(spin),
    }


def mean_cycle(trace: Trace, clip: Clip, slope: float) -> Float[Array, "100 3"]:
    """Thigh, knee and foot over the cycle, mean of both legs; feet against the ground that they walk on."""
    rest = clip.skeleton.rest_positions
    foot = rest[clip.skeleton.index("LeftToe")] - rest[clip.skeleton.index("LeftFoot")]
    angles = leg_angles(clip, np.array([1.0, 0.0]))
    angles[:, :, ANGLES.index("foot")] -= np.degrees(np.arctan2(foot[2], foot[0]) + slope)
    at, scale = strikes(trace, 0)[SETTLING:], 1.0 / (trace.dt * clip.fps)
    sides = trace.phase[at, 0] // 2
    cycles = [
        over_cycle(angles[:, side], a / scale, b / scale) for (a, b), side in zip(_pairs(at), sides, strict=False)
    ]
    return np.mean(cycles, axis=0)


def _pairs(at: Int[Array, "n"]) -> list[tuple[int, int]]:
    """From each strike to the next of the same foot."""
    return [(int(a), int(b)) for a, b in zip(at[:-2], at[2:], strict=True)]
