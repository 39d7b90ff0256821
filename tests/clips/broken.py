"""A clean synthetic walker, and ways to break a clip, one defect each."""

from dataclasses import replace

import numpy as np

from jostle.clips.clip import Clip
from jostle.maths import quat
from jostle.skeleton import build_skeleton, find_roles

_LEG = [(0.0, 0.1, -0.05), (0.0, 0.0, -0.42), (0.0, 0.0, -0.42), (0.14, 0.0, -0.045)]
_ARM = [(0.0, 0.18, 0.15), (0.0, 0.28, 0.0), (0.0, 0.25, 0.0)]


def person():
    """18 joints in a T-pose, 1.7 m tall, feet on the floor."""
    names, parents, offsets, ends = ["Hips", "Spine", "Chest", "Head"], [-1, 0, 1, 2], [], []
    offsets = [(0.0, 0.0, 0.96), (0.0, 0.0, 0.15), (0.0, 0.0, 0.2), (0.0, 0.0, 0.28)]
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        for root, words, chain in (
            (0, ("UpLeg", "Leg", "Foot", "Toe"), _LEG),
            (2, ("Arm", "ForeArm", "Hand"), _ARM),
        ):
            above = root
            for word, (x, y, z) in zip(words, chain, strict=True):
                names.append(side + word)
                parents.append(above)
                offsets.append((x, sign * y, z))
                above = len(names) - 1
            ends.append((above, (0.07, 0.0, -0.01) if words[-1] == "Toe" else (0.0, sign * 0.1, 0.0)))
    ends.append((3, (0.0, 0.0, 0.2)))
    return build_skeleton(names, parents, offsets, ends)


def swaying(fps: float = 60.0, seconds: float = 3.0) -> Clip:
    """A person who stands and swings arms and trunk: smooth, and nothing wrong with it."""
    skeleton = person()
    t = np.arange(round(fps * seconds)) / fps
    wxyz = quat.identity((len(t), skeleton.joint_count))
    roles = find_roles(skeleton)
    for i, (side, sign) in enumerate((("left", 1.0), ("right", -1.0))):
        down = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.full(len(t), -sign * 1.2))
        swing = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), 0.5 * np.sin(2 * np.pi * 0.8 * t + 2 * i))
        bend = quat.from_axis_angle(np.array([0.0, 0.0, -sign]), 0.3 + 0.25 * np.sin(2 * np.pi * 0.8 * t + i))
        wxyz[:, roles[f"{side}_upper_arm"]] = quat.mul(swing, down)
        wxyz[:, roles[f"{side}_forearm"]] = bend
    wxyz[:, roles["spine"]] = quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), 0.2 * np.sin(2 * np.pi * 0.8 * t))
    root = np.tile(skeleton.offsets[0], (len(t), 1)) + np.array([1.0, 0.5, 0.0])
    root[:, 1] += 0.01 * np.sin(2 * np.pi * 0.4 * t)
    return Clip(skeleton, fps, root, wxyz, None, "swaying")


def jumping(fps: float = 60.0) -> Clip:
    """The same person thrown up twice: 0.5 s of free fall each, at 9.81 m/s^2."""
    clip = swaying(fps, 4.0)
    t = np.arange(clip.frame_count) / fps
    height = sum(np.where(np.abs(t - at) < 0.25, 0.5 * 9.81 * (0.0625 - (t - at) ** 2), 0.0) for at in (1.0, 2.5))
    return replace(clip, root=clip.root + np.stack([0 * t, 0 * t, height], axis=1))


def with_t_pose(clip: Clip, count: int = 1) -> Clip:
    root = np.concatenate([np.repeat(clip.root[:1], count, axis=0), clip.root])
    rest = quat.identity((count, clip.skeleton.joint_count))
    return replace(clip, root=root, wxyz=np.concatenate([rest, clip.wxyz]))


def with_dropped_root(clip: Clip, *frames: int) -> Clip:
    root = clip.root.copy()
    root[list(frames)] = 0.0
    return replace(clip, root=root)


def with_nan(clip: Clip, joint: str, first: int, stop: int) -> Clip:
    wxyz = clip.wxyz.copy()
    wxyz[first:stop, clip.skeleton.index(joint)] = np.nan
    return replace(clip, wxyz=wxyz)


def with_copies(clip: Clip, first: int, stop: int) -> Clip:
    """Frames first to stop - 1 are copies of the frame before."""
    root, wxyz = clip.root.copy(), clip.wxyz.copy()
    root[first:stop], wxyz[first:stop] = root[first - 1], wxyz[first - 1]
    return replace(clip, root=root, wxyz=wxyz)


def with_flip(clip: Clip, joint: str, first: int, stop: int, degrees: float = 170.0) -> Clip:
    wxyz, j = clip.wxyz.copy(), clip.skeleton.index(joint)
    turn = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(degrees))
    wxyz[first:stop, j] = quat.mul(wxyz[first:stop, j], turn)
    return replace(clip, wxyz=wxyz)


def scaled(clip: Clip, factor: float) -> Clip:
    return replace(clip, skeleton=clip.skeleton.scaled(factor), root=clip.root * factor)


def raised(clip: Clip, height: float) -> Clip:
    return replace(clip, root=clip.root + np.array([0.0, 0.0, height]))
