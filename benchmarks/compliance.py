"""Frames a second of a clip that gives way, legs and pelvis included, on one core: `python -m benchmarks compliance`.

The shipped walk with its spine in two, so that the upper body has 24 coordinates as in Ye & Liu 2008, pushed somewhere
every second. The peer of a frame is the paper's, 1/20 s; of the slowest of a hundred, 2 ms.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.timing import Row
from jostle.assets import clip_path
from jostle.clips import Clip, load_clip
from jostle.clips.loop import loop
from jostle.controllers import Command, Push, Start
from jostle.controllers.compliant.compliant import Compliant, compliant_clip
from jostle.skeleton import build_skeleton

FRAMES, PAPER, SLOWEST = 6000, 1.0 / 20.0, 2e-3
PARTS = ("left_forearm", "chest", "head", "right_upper_arm", "pelvis")


def rows() -> list[Row]:
    person = compliant_clip(_with_two_spines(loop(load_clip(clip_path("walk")))))
    assert len(person.actuation.dofs) == 24
    calm, pushed = _seconds(person, False), _seconds(person, True)
    return [
        Row("a frame, nobody pushes", float(np.mean(calm)), "the paper", PAPER),
        Row("a frame, pushed every second", float(np.mean(pushed)), "the paper", PAPER),
        Row("the slowest of a hundred, pushed", float(np.quantile(pushed, 0.99)), "2 ms", SLOWEST),
    ]


def _with_two_spines(clip: Clip) -> Clip:
    old = clip.skeleton
    at = old.index("Spine")
    names = [*old.names[: at + 1], "Chest", *old.names[at + 1 :]]
    new = [j if j <= at else j + 1 for j in range(old.joint_count)]  # where joints are now
    below = [at + 1 if p == at else -1 if p < 0 else new[p] for p in old.parents]
    parents = [*below[: at + 1], at, *below[at + 1 :]]
    hung = old.offsets[list(old.children[at])]
    up = 0.4 * hung[int(np.argmax(hung[:, 2]))] * [0.0, 0.0, 1.0]
    offsets = old.offsets - np.where((old.parents == at)[:, None], up, 0.0)
    ends = [(new[j], end) for j, end in zip(old.end_parents, old.end_offsets, strict=True)]
    skeleton = build_skeleton(names, parents, np.insert(offsets, at + 1, up, axis=0), ends)
    still = np.tile([1.0, 0.0, 0.0, 0.0], (clip.frame_count, 1))
    return Clip(skeleton, clip.fps, clip.root, np.insert(clip.wxyz, at + 1, still, axis=1), name=clip.name)


def _seconds(person: Compliant, pushed: bool) -> np.ndarray:
    rng, state, taken = np.random.default_rng(0), person.init(Start()), []
    for frame in range(FRAMES):
        pushes: tuple[Push, ...] = ()
        if pushed and frame % 60 == 0:
            way = rng.normal(size=3)
            pushes = (Push(PARTS[frame // 60 % len(PARTS)], 80.0 * way / np.linalg.norm(way), 0.15),)
        begun = time.perf_counter()
        state = person.step(state, Command(pushes=pushes))
        taken.append(time.perf_counter() - begun)
    return np.array(taken[60:])
