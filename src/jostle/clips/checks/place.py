"""Sizes and places: the unit of length, the height of the floor, feet that skate, and clips made in place."""

from __future__ import annotations

import numpy as np

from jostle.clips.checks.finding import Finding
from jostle.clips.checks.repair import rescale
from jostle.clips.clip import Clip
from jostle.clips.contacts import Contacts, find_contacts
from jostle.clips.feet import body_size, find_feet, ground_height, rest_place
from jostle.clips.flight import GRAVITY, find_flights
from jostle.clips.formats.units import UNITS, stature
from jostle.clips.skate import foot_skate, slide_cm
from jostle.skeleton import Skeleton, find_roles, is_humanoid
from jostle.types import Array, Bool

SHORTEST, TALLEST = 0.95, 2.5  # metres: people
SMALLEST, LARGEST = 0.55, 4.0  # metres: figures of games
_PERSON = 1.7
_FLOOR = 0.03  # of body height: 5 cm for a person; what soles and joints differ by is less
_UPRIGHT = 0.35  # of body height, hips over the floor: standing is 0.53, a deep crouch 0.3
_FLAT = 0.03  # of body height, heel over ball: 12 degrees
_STANDS, _STANDS_FOR = 0.05, 0.3  # share of the frames, and seconds in all, that must show where the floor is
_SLIDES_OF_SIZE = 0.1  # animals lift their paws too little for the ratio to mean much alone
_SKATES, _SLIDES = 0.1, 5.0  # share of frames, and centimetres per step: clean mocap stays below both, or one


def check_unit(clip: Clip) -> list[Finding]:
    """A body far too large or small for a person; and units that are worth knowing."""
    if not is_humanoid(clip.skeleton):
        return []
    size = _person_size(clip.skeleton)
    if SHORTEST < size < TALLEST:
        return _odd_unit(clip, size)
    factor = _likely_factor(size)
    right = f"{clip.unit * factor:.6g} m"
    if SMALLEST < size < LARGEST:
        sentence = f"This figure is {size:.2g} m tall: a child, a toy or a giant, or a unit that should be {right}."
        return [
            Finding("unit", "note", sentence, f"If it is none of these, read it with a unit of {right}.", value=1.0)
        ]
    flights = [flight.gravity for flight in find_flights(rescale(clip, factor)) if flight.trusty]
    falls = float(np.median(flights)) if flights else 0.0
    also = f", and so it falls at {falls:.1f} m/s^2 in flight" if 0.5 < falls / GRAVITY < 2.0 else ""
    sentence = f"This person would be {size:.3g} m tall: one unit of the file is {right}, not {clip.unit:.6g} m{also}."
    return [Finding("unit", "error", sentence, f"Read it with a unit of {right}.", value=factor)]


def _person_size(skeleton: Skeleton) -> float:
    """A person's height; of the ways to tell it, the one that is most like a person's: toys have short legs."""
    ways = (body_size(skeleton), stature(skeleton), skeleton.height)
    return min((way for way in ways if way > 0), key=lambda way: abs(np.log(way / _PERSON)))


def _likely_factor(size: float) -> float:
    """What to multiply lengths by: the ratio of two units in use that brings the size nearest to a person's."""
    ratios = sorted({a / b for a in UNITS.values() for b in UNITS.values() if a != b})
    return min(ratios, key=lambda ratio: abs(np.log(size * ratio / _PERSON)))


def _odd_unit(clip: Clip, size: float) -> list[Finding]:
    name = next((n for n, unit in UNITS.items() if abs(clip.unit / unit - 1.0) < 1e-3), None)
    if name in ("m", "cm", None):
        return []
    whose = "CMU's unit, an inch divided by 0.45" if name == "cmu" else f"1 {name}"
    sentence = f"One unit of the file is {clip.unit:.6g} m ({whose}): that makes this person {size:.2f} m tall."
    return [Finding("unit", "note", sentence, value=1.0)]


def check_ground(clip: Clip, contacts: Contacts | None = None) -> list[Finding]:
    """Feet that stand above or below the floor at height 0."""
    contacts = find_contacts(clip) if contacts is None else contacts
    stands = _stands(clip, contacts)
    height, limit = contacts.ground, _FLOOR * body_size(clip.skeleton)
    count = int(np.sum(np.any(stands, axis=1)))
    if count < max(_STANDS * clip.frame_count, _STANDS_FOR * clip.fps) or abs(height) < limit:
        return []
    if np.sign(height) * _height_of_soles(clip, stands) < limit:  # only feet that lie or kneel are there
        return []
    verb, remedy = ("hover above", "Lower") if height > 0 else ("sink into", "Raise")
    sentence = f"The feet {verb} the floor by {100 * abs(height):.0f} cm."
    return [Finding("ground", "warning", sentence, f"{remedy} the clip by as much.", value=height)]


def _stands(clip: Clip, contacts: Contacts) -> Bool[Array, "T F"]:
    """Which foot stands when, and so shows where the floor is: it is planted, and a person's sole lies as it does at
    rest, under legs that are not folded. Who sits, lies, kneels or hangs in the air shows no floor.
    """
    if not is_humanoid(clip.skeleton):
        return contacts.planted
    size, roles = body_size(clip.skeleton), find_roles(clip.skeleton)
    hips = clip.positions[:, roles["pelvis"], 2] - contacts.ground
    return contacts.planted & _flat(clip, size) & (hips > _UPRIGHT * size)[:, None]


def _flat(clip: Clip, size: float) -> Bool[Array, "T F"]:
    """Where the heel lies as high above the ball, or else the tip, as at rest."""
    flat = np.ones((clip.frame_count, 2), dtype=bool)
    for foot in range(2):
        heel, *others = (point for point in find_feet(clip).points if point.foot == foot)
        for point in others[:1]:
            rise = heel.track(clip)[:, 2] - point.track(clip)[:, 2]
            rest = rest_place(clip.skeleton, heel)[2] - rest_place(clip.skeleton, point)[2]
            flat[:, foot] = np.abs(rise - rest) < _FLAT * size
    return flat


def _height_of_soles(clip: Clip, stands: Bool[Array, "T F"]) -> float:
    """The floor by those feet alone that stand."""
    points = [point for point in find_feet(clip).points if np.any(stands[:, point.foot])]
    heights = np.array([np.median(point.track(clip)[stands[:, point.foot], 2]) for point in points])
    return ground_height(clip.skeleton, points, heights, body_size(clip.skeleton))


def check_skate(clip: Clip, contacts: Contacts | None = None) -> list[Finding]:
    """Feet that slide while they stand; or a clip that walks in place, whose feet must."""
    contacts = find_contacts(clip) if contacts is None else contacts
    speed = float(np.linalg.norm(contacts.treadmill))
    if speed > 0:
        sentence = f"The clip is made in place: the ground would run under it at {speed:.2f} m/s."
        return [Finding("in-place", "note", sentence, "Give the root that speed to make it travel.", value=speed)]
    ratio, slide = foot_skate(clip), slide_cm(clip, contacts)
    human = is_humanoid(clip.skeleton)
    limit = _SLIDES if human else 100 * _SLIDES_OF_SIZE * body_size(clip.skeleton)
    without_steps = human and ratio > 0.5 and clip.duration > 1.0  # feet that slide so fast that no step is seen
    if not (ratio > _SKATES and slide > limit) and not without_steps:
        return []
    how = f"planted ones slide by {slide:.0f} cm per step" if slide > limit else "they move without being lifted"
    sentence = f"Feet skate in {100 * ratio:.0f} % of the frames: {how}."
    return [
        Finding("skate", "warning", sentence, "Plant them by inverse kinematics, as retargeting does.", value=ratio)
    ]
