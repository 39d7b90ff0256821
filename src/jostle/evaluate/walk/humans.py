"""How people walk: the mean and the spread of thigh, knee and foot over the gait cycle, from the CMU recordings.

Wang 2010 takes one cycle from each of 115 people at a comfortable speed. The CMU set has nine people who walk plainly,
straight and at 0.9 to 1.7 m/s. Each gives one curve a leg, the mean of its cycles, so nobody counts twice for having
walked longer; the spread is that of these 18 curves.

Skeletons solved from markers do not stand straight: a person at rest shows bent knees, because knee markers sit in
front of the joint. Like the slope of the foot, this is no motion and is taken off: by what the knees of four people
show who stand in the set (12 degrees on average). `Humans.bent` tells how much it was. Others who are still show knees
bent further and are taken to crouch; `docs/walking/figures.md` names them and what that judgement does. Because each
foot is zeroed where it stands flat, people hardly differ there; no spread counts as less than 2 degrees, which is what
markers can tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jostle.clips import Clip, load_clip
from jostle.clips.contacts import find_contacts, smooth_velocity
from jostle.clips.edit import trim_frames
from jostle.evaluate.walk.legs import ANGLES, cycles_of, flat_slope, leg_angles, over_cycle
from jostle.maths import quat
from jostle.skeleton import find_roles
from jostle.types import Array, Float

# straight, plain walks at a comfortable speed, by what the set's own index says of them
WALKS = ("02_01", "02_02", "07_01", "07_02", "07_10", "08_01", "12_01", "16_15", "16_21")
WALKS += ("35_01", "35_02", "35_03", "35_04", "38_01", "82_13", "136_21")
STANDING = ("16_01", "19_05", "74_06", "104_22")  # a person each, still for a quarter of a second
FEWEST = 3  # people that make a mean
_EXTRA = 2  # frames that are no motion at the beginning of CMU's BVH files: a T-pose, sometimes two
_STILL = 0.25  # m/s: every joint slower than this
_SURE = 2.0  # degrees
_KNEE = ANGLES.index("knee")


@dataclass(frozen=True, eq=False)
class Humans:
    """Degrees over the percent of the cycle."""

    mean: Float[Array, "100 3"]  # thigh, knee, foot
    sd: Float[Array, "100 3"]
    curves: Float[Array, "n 100 3"]  # of each person and leg
    people: int
    speed: float  # m/s, their mean
    bent: float  # degrees that were taken off the knees

    def distance(self, curve: Float[Array, "100 3"]) -> dict[str, float]:
        """How far a walk is from the mean, in standard deviations, on the mean over the cycle."""
        apart = np.mean(np.abs(curve - self.mean) / self.sd, axis=0)
        return {name: float(value) for name, value in zip(ANGLES, apart, strict=True)}


def human_walks(data: Path) -> Humans | None:
    """From a folder that holds `cmu_bvh`; None where too few of its walks are there."""
    folder = data / "cmu_bvh"
    found = [folder / f"{name}.bvh" for name in WALKS if (folder / f"{name}.bvh").is_file()]
    by_person: dict[str, list[Path]] = {}
    for path in found:
        by_person.setdefault(path.stem.split("_")[0], []).append(path)
    if len(by_person) < FEWEST:
        return None
    bent = _standing_knee([folder / f"{name}.bvh" for name in STANDING if (folder / f"{name}.bvh").is_file()])
    curves, speeds = [], []
    for paths in by_person.values():
        cycles = [_cycles(_load(path)) for path in paths]
        for leg in (0, 1):
            curves.append(np.mean([curve for found in cycles for side, curve, _ in found if side == leg], axis=0))
        speeds.append(np.mean([speed for found in cycles for _, _, speed in found]))
    every = np.array(curves)
    every[:, :, _KNEE] -= bent
    sd = np.maximum(every.std(axis=0, ddof=1), _SURE)
    return Humans(every.mean(axis=0), sd, every, len(by_person), float(np.mean(speeds)), bent)


def _load(path: Path) -> Clip:
    return trim_frames(load_clip(path), _EXTRA)


def _cycles(clip: Clip) -> list[tuple[int, Float[Array, "100 3"], float]]:
    """For each gait cycle: which leg's it is, its angles, and how fast the pelvis went."""
    contacts, out = find_contacts(clip), []
    pelvis = clip.positions[:, find_roles(clip.skeleton)["pelvis"], :2]
    for leg in (0, 1):
        for first, last in cycles_of(contacts.strikes[leg]):
            gone = pelvis[last] - pelvis[first]
            angles = leg_angles(clip, gone)
            angles[:, :, ANGLES.index("foot")] -= flat_slope(angles, contacts)
            curve = over_cycle(angles[:, leg], float(first), float(last))
            out.append((leg, curve, float(np.linalg.norm(gone)) * clip.fps / (last - first)))
    return out


def _standing_knee(paths: list[Path]) -> float:
    """What knees show while people stand still, in degrees; the mean over these people."""
    shown = []
    for path in paths:
        clip = _load(path)
        speeds = np.linalg.norm(smooth_velocity(clip.positions, clip.fps, window=0.2), axis=-1)  # (T, J)
        still = np.flatnonzero(np.max(speeds, axis=1) < _STILL)
        if len(still) == 0:
            continue
        pelvis = find_roles(clip.skeleton)["pelvis"]
        yaw = float(quat.yaw(clip.globals.wxyz[still[0], pelvis]))
        shown.append(np.median(leg_angles(clip, np.array([np.cos(yaw), np.sin(yaw)]))[still, :, _KNEE]))
    return float(np.mean(shown)) if shown else 0.0
