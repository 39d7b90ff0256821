"""Forward kinematics of 10,000 poses of 31 joints, beside pymotion's and beside one pose at a time."""

from __future__ import annotations

from pymotion.ops.skeleton import fk, fk_quat

from benchmarks.reading import random_clip
from benchmarks.timing import Row, median_seconds
from jostle.skeleton import forward


def rows() -> list[Row]:
    clip = random_clip(frames=10_000, joints=31)
    skeleton = clip.skeleton
    parents = skeleton.parents.copy()
    parents[0] = 0  # pymotion's way to say root
    ours = median_seconds(lambda: forward(skeleton, clip.poses))
    arguments = (clip.wxyz, clip.root, skeleton.offsets, parents)
    peer = min(median_seconds(lambda: fk(*arguments)), median_seconds(lambda: fk_quat(*arguments)))
    few = 200
    single = median_seconds(lambda: [forward(skeleton, clip.pose(t)) for t in range(few)]) * clip.frame_count / few
    job = "forward kinematics, 10,000 poses of 31 joints"
    return [Row(job, ours, "pymotion", peer), Row(job, ours, "ours, pose by pose", single)]
