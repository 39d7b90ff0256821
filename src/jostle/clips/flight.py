"""Where a body's mass is, how it accelerates, and how fast it falls when it flies.

In flight nothing but gravity acts, so the centre of mass falls at 9.81 m/s^2 whatever the limbs do. A clip in which it
falls at 39 m/s^2 is played twice too fast or drawn four times too large: time counts squared, length once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.contacts import Contacts, find_contacts, runs
from jostle.clips.feet import body_size, find_feet, standing_heights
from jostle.skeleton import find_roles, is_humanoid
from jostle.types import Array, Float

GRAVITY = 9.81  # m/s^2

# Share of body mass, and how far along the segment its centre lies (Winter 2009, table 4.1).
_LIMBS = (
    ("thigh", "shin", 0.100, 0.433),
    ("shin", "foot", 0.0465, 0.433),
    ("upper_arm", "forearm", 0.028, 0.436),
    ("forearm", "hand", 0.022, 0.682),
    ("foot", "toe", 0.0145, 0.5),
)
_TRUNK, _HEAD = 0.497, 0.081


@dataclass(frozen=True, eq=False)
class Masses:
    """A body as points: shares of its mass, which sum to 1, and where they are."""

    shares: Float[Array, "S"]
    positions: Float[Array, "T S 3"]

    @property
    def centre(self) -> Float[Array, "T 3"]:
        return np.einsum("s,tsk->tk", self.shares, self.positions)


def point_masses(clip: Clip) -> Masses:
    """A person's segments with published shares of mass; for anything else every joint weighs the same."""
    if not is_humanoid(clip.skeleton):
        return Masses(np.full(clip.skeleton.joint_count, 1.0 / clip.skeleton.joint_count), clip.positions)
    at = {role: clip.positions[:, joint] for role, joint in find_roles(clip.skeleton).items()}
    hips = 0.5 * (at["left_thigh"] + at["right_thigh"])
    shoulders = 0.5 * (at["left_upper_arm"] + at["right_upper_arm"])
    # The trunk is two points, so that it has something of a trunk's resistance to tilting.
    parts = [(0.5 * _TRUNK, hips + share * (shoulders - hips)) for share in (0.25, 0.75)] + [(_HEAD, at["head"])]
    for side in ("left", "right"):
        for near, far, mass, share in _LIMBS:
            a = at[f"{side}_{near}"]
            parts.append((mass, a + share * (at.get(f"{side}_{far}", a) - a)))
    shares = np.array([mass for mass, _ in parts])
    return Masses(shares / shares.sum(), np.stack([x for _, x in parts], axis=1))


def centre_of_mass(clip: Clip) -> Float[Array, "T 3"]:
    return point_masses(clip).centre


def derivative(x: Float[Array, "T *b"], fps: float, order: int, window: float) -> Float[Array, "T *b"]:
    """The first to third derivative of polynomials fitted within `window` seconds; zeros where a clip is too short."""
    degree = max(2, order)
    width = min(2 * max(degree // 2 + 1, round(0.5 * window * fps)) + 1, 2 * ((len(x) - 1) // 2) + 1)
    if width <= degree:
        return np.zeros_like(x)
    from scipy.signal import savgol_filter  # slow to import, and few need it

    return np.asarray(savgol_filter(x, width, degree, deriv=order, delta=1.0 / fps, axis=0))


@dataclass(frozen=True)
class Flight:
    """Frames `start` to `stop` in the air; `gravity` is how fast the centre of mass falls in them, m/s^2."""

    start: int
    stop: int
    gravity: float
    sideways: float  # m/s^2: what the horizontal path bends by, where it should be straight
    rms: float  # metres: how far the heights lie from the parabola

    @property
    def trusty(self) -> bool:
        """The path is a parabola in a vertical plane, as nothing but free fall is."""
        return self.gravity > 0 and self.sideways < 0.25 * self.gravity and self.rms < 0.006


def find_flights(clip: Clip, contacts: Contacts | None = None) -> list[Flight]:
    """Every stretch of at least seven frames with all feet clear of the ground, and a parabola through each."""
    contacts = find_contacts(clip) if contacts is None else contacts
    centre = centre_of_mass(clip)
    found = []
    for start, stop in runs(contacts.flight & _clear(clip)):
        if stop - start < 7 or start == 0 or stop == clip.frame_count:
            continue
        t = np.arange(stop - start) / clip.fps
        fits = np.polynomial.polynomial.polyfit(t, centre[start:stop], 2)  # (3, xyz)
        error = centre[start:stop, 2] - np.polynomial.polynomial.polyval(t, fits[:, 2])
        bend = float(np.linalg.norm(2 * fits[2, :2]))
        found.append(Flight(start, stop, float(-2 * fits[2, 2]), bend, float(np.sqrt(np.mean(error**2)))))
    return found


def _clear(clip: Clip) -> np.ndarray:
    """Frames in which every point of every foot is above where it stands, whatever its speed."""
    feet, size = find_feet(clip), body_size(clip.skeleton)
    tracks = np.stack([point.track(clip) for point in feet.points], axis=1)
    speeds = np.zeros(tracks.shape[:2])
    standing = standing_heights(feet.points, tracks, speeds, 1.0, size)
    return np.all(tracks[..., 2] > standing + 0.01 * size, axis=1)
