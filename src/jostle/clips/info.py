"""`describe`: what a clip is, in a dozen numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.contacts import Contacts, find_contacts, smooth_velocity
from jostle.clips.feet import body_size
from jostle.clips.skate import foot_skate, slide_cm
from jostle.maths import quat
from jostle.skeleton import find_roles, is_humanoid
from jostle.types import Array, Float


@dataclass(frozen=True)
class Info:
    """Metres, seconds, degrees, unless a name says otherwise."""

    name: str
    frames: int
    fps: float
    duration: float
    joints: int
    humanoid: bool
    height: float  # of the body: a person's by the length of the legs
    unit: float  # metres per unit of the file
    moving_bones: tuple[str, ...]  # joints whose distance from their parent changes
    speed: float  # m/s, mean, over the ground
    forward_speed: float  # m/s, mean, the way the body faces; negative backwards
    travel: float  # metres from the first frame to the last, as the crow flies
    turning: float  # degrees, the whole turn about the vertical, left positive
    feet: tuple[str, ...]
    contact_share: tuple[float, ...]  # for each foot, the share of time on the ground
    flight_share: float  # the share of time with no foot on the ground
    steps: int
    cadence: float  # steps a minute
    ground: float  # height of the floor under the feet
    in_place_speed: float  # m/s: how fast the ground would run under a clip made in place; 0 otherwise
    foot_skate: float  # the de-facto ratio, 0 to 1
    slide_cm: float  # centimetres per step

    def to_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        return asdict(self)


def describe(clip: Clip) -> Info:
    """Frames, rate, size, speed, turning, contacts and foot skate of a clip."""
    contacts = find_contacts(clip)
    velocity = _body_velocity(clip, contacts)
    facing = _facing(clip)
    return Info(
        name=clip.name,
        frames=clip.frame_count,
        fps=clip.fps,
        duration=clip.duration,
        joints=clip.skeleton.joint_count,
        humanoid=is_humanoid(clip.skeleton),
        height=body_size(clip.skeleton),
        unit=clip.unit,
        moving_bones=moving_bones(clip),
        speed=float(np.mean(np.linalg.norm(velocity, axis=1))),
        forward_speed=float(np.mean(velocity[:, 0] * np.cos(facing) + velocity[:, 1] * np.sin(facing))),
        travel=float(np.linalg.norm((_body(clip)[-1] - _body(clip)[0])[:2])),
        turning=float(np.degrees(facing[-1] - facing[0])),
        feet=contacts.names,
        contact_share=tuple(float(share) for share in np.mean(contacts.planted, axis=0)),
        flight_share=float(np.mean(contacts.flight)),
        steps=contacts.step_count,
        cadence=60.0 * contacts.step_count / clip.duration if clip.duration > 0 else 0.0,
        ground=contacts.ground,
        in_place_speed=float(np.linalg.norm(contacts.treadmill)),
        foot_skate=foot_skate(clip),
        slide_cm=slide_cm(clip, contacts),
    )


def moving_bones(clip: Clip) -> tuple[str, ...]:
    """Joints that move against their parent by more than a millimetre."""
    if clip.offsets is None:
        return ()
    spread = np.max(np.ptp(clip.offsets, axis=0), axis=-1)  # (J,)
    return tuple(clip.skeleton.names[j] for j in range(1, clip.skeleton.joint_count) if spread[j] > 1e-3)


def _trunk(clip: Clip) -> int:
    return find_roles(clip.skeleton).get("pelvis", 0)


def _body(clip: Clip) -> Float[Array, "T 3"]:
    """A person's pelvis; the middle of anything else, whose root may be a handle that never moves."""
    return clip.positions[:, _trunk(clip)] if is_humanoid(clip.skeleton) else np.mean(clip.positions, axis=1)


def _body_velocity(clip: Clip, contacts: Contacts) -> Float[Array, "T 2"]:
    """Over the ground: for a clip made in place, over the ground that runs under it."""
    return smooth_velocity(_body(clip), clip.fps, window=0.2)[:, :2] - contacts.treadmill


def _facing(clip: Clip) -> Float[Array, "T"]:
    """Which way the trunk faces, radians, without jumps of a full turn."""
    return np.unwrap(quat.yaw(clip.globals.wxyz[:, _trunk(clip)]))
