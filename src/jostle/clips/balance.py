"""Does a body on its feet obey gravity? What a clip's frame rate can be judged by when nobody jumps.

A standing or walking person is held up where the feet are and nowhere else. The moments about the centre of pressure
c balance (per unit of body mass, over point masses of share m, at x, with accelerations a):

    sum m [ (x - c)_h (g + a_z) - z a_h ] = 0                          h: horizontal, z: height over the floor

Play the clip at another rate, and every acceleration is multiplied by alpha = (true rate / claimed rate)^2. So there
are two ways to ask for alpha:

* **Pendulum.** With one foot on the ground, c is known to a hand's breadth: it is under that foot. Then the balance
  is linear in alpha, g (x - c)_h = alpha [ z a_h - (x - c)_h a_z ], and a regression gives it. Errors on the right
  pull the slope down, errors on the left push its inverse down, so the two regressions enclose alpha.
* **Support.** At any time c lies between the feet on the ground. The cost of an alpha is how far outside it falls, on
  average. Too large an alpha throws it far outside; too small a one leaves it under the centre of mass, which is fine
  for a person who stands and wrong for one who walks.

Worked numbers: walking mocap gives a pendulum alpha of 0.8 to 1.6 and a support cost of 0 to 3 cm. A sneak recorded
at 60 frames a second and labelled 120 gives alpha 0.30 to 0.32, and a cost of 13 cm at alpha = 1 against 1 cm at 1/4.
People who are pushed or pulled, or lean on things, are held up elsewhere too: their cost is high at every alpha.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import binary_erosion

from jostle.clips.clip import Clip
from jostle.clips.contacts import Contacts, find_contacts, foot_tracks
from jostle.clips.feet import body_size, find_feet
from jostle.clips.flight import GRAVITY, derivative, point_masses
from jostle.types import Array, Bool, Float, Int

WINDOW = 0.16  # seconds over which accelerations are measured
_HEEL, _TOE, _HALF_WIDTH = 0.03, 0.115, 0.025  # of a foot beyond the ankle, as shares of body height (Winter 2009)
_FAR = 0.3  # metres: farther outside than this counts as this much
_LEAST_LOAD = 2.0  # m/s^2: with less on the feet the centre of pressure means nothing


@dataclass(frozen=True, eq=False)
class Balance:
    """What the balance of moments of a clip needs, frame by frame; see the top of this file."""

    shares: Float[Array, "S"]
    positions: Float[Array, "T S 3"]  # heights over the floor
    accelerations: Float[Array, "T S 3"]
    heels: Float[Array, "T F 2"]
    toes: Float[Array, "T F 2"]
    planted: Bool[Array, "T F"]
    margin: float  # half of a foot's width, metres
    fps: float


def measure_balance(clip: Clip, contacts: Contacts | None = None) -> Balance:
    """For a person: masses, accelerations and soles in every frame."""
    contacts = find_contacts(clip) if contacts is None else contacts
    masses, size, feet = point_masses(clip), body_size(clip.skeleton), find_feet(clip)
    tracks = foot_tracks(clip, feet)[..., :2]
    heels, toes = [], []
    for foot in range(len(feet.names)):
        own = [p for p, point in enumerate(feet.points) if point.foot == foot]  # from heel to tip
        along = tracks[:, own[-1]] - tracks[:, own[0]]
        along = along / np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-6)
        heels.append(tracks[:, own[0]] - _HEEL * size * along)
        toes.append(tracks[:, own[0]] + _TOE * size * along)
    accelerations = derivative(masses.positions, clip.fps, 2, WINDOW)
    positions = masses.positions - np.array([0.0, 0.0, contacts.ground])
    return Balance(
        masses.shares,
        positions,
        accelerations,
        np.stack(heels, axis=1),
        np.stack(toes, axis=1),
        contacts.planted,
        _HALF_WIDTH * size,
        clip.fps,
    )


@dataclass(frozen=True)
class Pendulum:
    """The two slopes that enclose alpha, and the seconds of single support that they were drawn from."""

    low: float
    high: float
    seconds: float


def pendulum(balance: Balance) -> Pendulum:
    """alpha from stretches with one foot on the ground, less 0.04 s at their ends."""
    single = binary_erosion(np.sum(balance.planted, axis=1) == 1, np.ones(2 * round(0.04 * balance.fps) + 1))
    frames = np.flatnonzero(single)
    foot = np.argmax(balance.planted[frames], axis=1)
    pressure = 0.5 * (balance.heels + balance.toes)[frames, foot]  # (n, 2)
    x, a = balance.positions[frames], balance.accelerations[frames]  # (n, S, 3)
    away = x[..., :2] - pressure[:, None]
    left = GRAVITY * np.einsum("s,nsk->nk", balance.shares, away)
    right = np.einsum("s,nsk->nk", balance.shares, x[..., 2:] * a[..., :2] - away * a[..., 2:])
    both = float(np.sum(left * right))
    if both <= 0.0:
        return Pendulum(0.0, np.inf, len(frames) / balance.fps)
    return Pendulum(both / float(np.sum(right**2)), float(np.sum(left**2)) / both, len(frames) / balance.fps)


def support_cost(balance: Balance, alpha: float) -> tuple[float, float]:
    """How far outside the feet the centre of pressure would lie, in metres on average; and over how many seconds."""
    down = binary_erosion(np.any(balance.planted, axis=1), np.ones(2 * round(0.03 * balance.fps) + 1))
    down[:2] = down[-2:] = False  # accelerations of the outermost frames are guesses
    frames = np.flatnonzero(down)
    if len(frames) == 0:
        return 0.0, 0.0
    outside = beyond_feet(balance, frames, alpha)
    return float(np.mean(np.clip(outside, 0.0, _FAR))), len(frames) / balance.fps


def beyond_feet(balance: Balance, frames: Int[Array, "n"], alpha: float = 1.0) -> Float[Array, "n"]:
    """How far the centre of pressure lies outside the soles on the ground, in metres; negative within them."""
    x, a = balance.positions[frames], alpha * balance.accelerations[frames]
    moment = np.einsum("s,nsk->nk", balance.shares, (GRAVITY + a[..., 2:]) * x[..., :2] - a[..., :2] * x[..., 2:])
    load = np.maximum(GRAVITY + a[..., 2] @ balance.shares, _LEAST_LOAD)
    soles = balance.heels[frames], balance.toes[frames]
    return _outside(moment / load[:, None], *soles, balance.planted[frames]) - balance.margin


def _outside(
    point: Float[Array, "n 2"], heels: Float[Array, "n 2 2"], toes: Float[Array, "n 2 2"], planted: Bool[Array, "n 2"]
) -> Float[Array, "n"]:
    """The distance from a point to what the feet on the ground span: a line for one foot, a quadrilateral for two."""
    corners = [heels[:, 0], toes[:, 0], heels[:, 1], toes[:, 1]]
    edges = [_to_segment(point, corners[i], corners[j]) for i in range(4) for j in range(i)]
    inside = np.zeros(len(point), dtype=bool)
    for left_out in range(4):
        a, b, c = (corner for i, corner in enumerate(corners) if i != left_out)
        turns = np.stack([_turn(a, b, point), _turn(b, c, point), _turn(c, a, point)])
        inside |= np.all(turns >= 0, axis=0) | np.all(turns <= 0, axis=0)
    both = np.where(inside, 0.0, np.min(edges, axis=0))
    left, right = _to_segment(point, corners[0], corners[1]), _to_segment(point, corners[2], corners[3])
    return np.where(np.all(planted, axis=1), both, np.where(planted[:, 0], left, right))


def _turn(a: Float[Array, "n 2"], b: Float[Array, "n 2"], c: Float[Array, "n 2"]) -> Float[Array, "n"]:
    """Twice the area of the triangle, positive when it runs anticlockwise."""
    u, v = b - a, c - a
    return u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]


def _to_segment(point: Float[Array, "n 2"], a: Float[Array, "n 2"], b: Float[Array, "n 2"]) -> Float[Array, "n"]:
    along = b - a
    share = np.sum((point - a) * along, axis=1) / np.maximum(np.sum(along**2, axis=1), 1e-12)
    return np.linalg.norm(point - a - np.clip(share, 0.0, 1.0)[:, None] * along, axis=1)
