"""Frames a second of a dynamic character, pushed and not, on one core: `python -m benchmarks response`.

The peer of a frame is the frame rate of real time, 1/30 s (the paper took a second a frame); that of 1,200 frames of
data is 300 of them.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.timing import Row
from jostle.controllers import Command, Push, Start
from jostle.controllers.dynamic.dynamic import Dynamic
from jostle.evaluate.response.cases import FOURTEEN, THREE, character

FRAMES = 600


def rows() -> list[Row]:
    few, many = character(THREE[:2]), character(FOURTEEN[:11], groups=1)
    calm, pushed, slow = _seconds(few, False), _seconds(few, True), _seconds(many, False)
    sizes = [sum(person.models[0].model.lengths) for person in (few, many)]
    real = 1.0 / 30.0
    return [
        Row(f"a frame, {sizes[0]} frames of data", float(np.median(calm)), "real time", real),
        Row(f"a pushed frame, {sizes[0]} frames of data", float(np.median(pushed)), "real time", real),
        Row("the slowest of a hundred, pushed", float(np.quantile(pushed, 0.99)), "real time", real),
        Row(
            f"a frame, {sizes[1]} frames of data", float(np.median(slow)), f"{sizes[0]} frames", float(np.median(calm))
        ),
    ]


def _seconds(person: Dynamic, pushed: bool) -> np.ndarray:
    state, taken = person.init(Start()), []
    push = Push("torso", np.array([0.0, 80.0, 0.0]), 0.4)
    for frame in range(FRAMES):
        command = Command(pushes=(push,) if pushed and frame % 12 == 0 else ())
        begun = time.perf_counter()
        state = person.step(state, command)
        taken.append(time.perf_counter() - begun)
    return np.array(taken[30:])
