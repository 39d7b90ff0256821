"""Traces made by hand: a gait of known times, and random numbers for sums that a plain loop repeats."""

import numpy as np

from jostle.controllers.walker.people import PEOPLE, walker_physics
from jostle.controllers.walker.trace import Trace

PHYSICS = walker_physics(PEOPLE["stocky"])


def make(dt=0.01, **given):
    """A trace of zeros, but for what is given."""
    length, count = next(v.shape[:2] for name, v in given.items() if name != "steps")
    shapes = {"torques": (30,), "low": (4, 6), "com": (3,), "momentum": (3,), "head": (3,), "head_angles": (3,)}
    shapes |= {"mug": (3,)}
    kinds = {"phase": np.int8, "struck": bool, "recovering": bool, "low": bool}
    names = ("phase", "struck", "recovering", "torques", "low", "reach", "foot", "thigh", "knee", "stance_knee", "com")
    names += ("momentum", "head", "head_angles", "mug", "facing", "wish")
    arrays = {n: np.zeros((length, count, *shapes.get(n, ())), kinds.get(n, float)) for n in names}
    arrays |= {"steps": np.full(count, length), "normal": np.tile([0.0, 0.0, 1.0], (count, 1)), **given}
    return Trace(PHYSICS, dt, arrays.pop("steps"), qpos=None, **arrays)


def regular(cycle=100, cycles=8, heel=(0, 40), ball=(10, 55), tip=(12, 62), early=0, knee=0.0):
    """Both feet alike, half a cycle apart: down from and until these percent of their own cycle, `early` steps before.

    Foot f strikes at the beginning of its cycle; it is swung until then, and stance until the other strikes.
    """
    length = cycle * cycles + 1
    low = np.zeros((length, 1, 4, 6), bool)
    phase, struck, reach = np.zeros((length, 1), np.int8), np.zeros((length, 1), bool), np.zeros((length, 1))
    for k in range(length):
        swing = ((k - 1) // (cycle // 2)) % 2  # the left leg swings first; rows tell what was before the step
        struck[k] = k > 0 and k % (cycle // 2) == 0
        phase[k] = 2 * swing + ((k - 1) % (cycle // 2) > 20)
        reach[k] = 0.6 + 0.01 * swing
        for foot in (0, 1):  # left strikes at 50, 150, …; right at 100, 200, …
            at = (k - (cycle // 2 if foot == 0 else 0) + early) % cycle * 100 / cycle
            row = 0 if foot == swing else 1
            low[k, 0, row, :2], low[k, 0, row, 2:4] = heel[0] <= at < heel[1], ball[0] <= at < ball[1]
            low[k, 0, row + 2, 2:4] = tip[0] <= at < tip[1]
    return make(phase=phase, struck=struck, low=low, reach=reach, knee=np.full((length, 1), knee))
