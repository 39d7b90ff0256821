"""How someone walks who was made for a world that is not known, while nothing happens to it.

What chapter 4 of Wang 2010 tells of its walkers in words: how low the centre of mass is, how long and how wide steps
are, how far arms are spread, how much it costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle.controllers.walker.gait import SETTLING, measure, strikes
from jostle.controllers.walker.joints import INDEX
from jostle.controllers.walker.trace import Trace, rollout
from jostle.evaluate.walk.subjects import REPORTED, Subject
from jostle.skeleton import forward
from jostle.tuning.objective import observe

_ARMS = [7 + INDEX["larm_x"], 7 + INDEX["rarm_x"]]  # of qpos
_OUTWARD = np.array([1.0, -1.0])  # of these angles


def walk_style(subject: Subject, seconds: float, timestep: float = REPORTED) -> dict[str, Any]:
    """The figures of one undisturbed walk; those of steps are missing where it took too few."""
    walk = subject.walk(1, timestep)
    trace = rollout(walk, subject.copies(1), seconds, subject.person.fallen, poses=True)
    seen, steps = observe(trace), int(trace.steps[0])
    assert trace.qpos is not None
    spread = np.degrees(trace.qpos[:steps, 0, _ARMS] * _OUTWARD).mean()
    row = {
        "walker": subject.name,
        "seconds_walked": float(trace.seconds[0]),
        "speed": float(seen["velocity"][0, 0]),
        "e_power": float(seen["power"][0]),
        "hip_share": float(seen["ratio"][0, 0]),
        "com_height": float(trace.com[:steps, 0, 2].mean()),
        "arm_spread_deg": float(spread),
    }
    gait = measure(trace, 0)
    return row | ({"step_m": gait.step_m, "step_width_m": step_width(trace)} if gait.cycles > 0 else {})


def step_width(trace: Trace) -> float:
    """Sideways from foot to foot when one strikes, on the mean."""
    assert trace.qpos is not None
    at = strikes(trace, 0)[SETTLING:]
    skeleton = trace.physics.body.skeleton
    feet = [skeleton.index("LeftFoot"), skeleton.index("RightFoot")]
    pose = trace.physics.to_pose(trace.qpos[at, 0])
    left, right = forward(skeleton, pose).positions[:, feet, 1].T
    return float(np.mean(left - right))
