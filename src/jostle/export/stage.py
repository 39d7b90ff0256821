"""A clip made ready for pictures: its poses at the film's times, its floor, and a camera that keeps it in view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8

from jostle.clips.clip import Clip
from jostle.clips.contacts import find_contacts
from jostle.clips.edit import sample
from jostle.controllers import Floor
from jostle.errors import MotionError
from jostle.export.camera import Camera, fit_distance, smooth_path, view_direction
from jostle.export.scene import Actor, Figure, build_figure, draw
from jostle.maths import quat
from jostle.runtime import Recording
from jostle.skeleton import Globals, find_roles, forward
from jostle.types import Array, Bool, Float, Int

FIELD = 0.46  # radians from top to bottom: a longish lens, which is kind to bodies
MARGIN = 1.14


@dataclass(frozen=True, eq=False)
class Stage:
    """One clip and its camera, frame by frame."""

    name: str
    figure: Figure
    world: Globals
    times: Float[Array, "n"]
    targets: Float[Array, "n 3"]
    heading: float
    towards: Float[Array, "3"]
    distance: float
    floors: tuple[Floor, ...]
    scale: float
    markers: tuple[Float[Array, "_ 3"], ...] | None = None
    fixed: Camera | None = None

    def camera(self, frame: int) -> Camera:
        target = self.targets[frame]
        return self.fixed or Camera(target + self.distance * self.towards, target, FIELD)

    def actor(self, frame: int, fade: float = 0.0) -> Actor:
        return Actor(self.figure, self.world.positions[frame], self.world.wxyz[frame], fade)

    def picture(self, frame: int, width: int, height: int) -> UInt8[Array, "h w 3"]:
        frame = min(frame, len(self.times) - 1)  # a shorter clip holds its last pose
        return draw(
            [self.actor(frame)],
            self.camera(frame),
            width,
            height,
            floor=self.floors[frame],
            markers=None if self.markers is None else self.markers[frame],
            scale=self.scale,
            lamp_side=self.lamp_side,
        )

    @property
    def lamp_side(self) -> float:
        """The lamp stands on the side to which the body faces in the picture, so that its front is lit."""
        left = np.array([self.towards[1], -self.towards[0]])
        return 1.0 if left @ [np.cos(self.heading), np.sin(self.heading)] >= -1e-3 else -1.0


def set_stage(
    clip: Clip,
    times: Float[Array, "n"],
    aspect: float,
    *,
    camera: str | Camera = "three-quarter",
    follow: bool = True,
    contacts: bool = False,
) -> Stage:
    """Sample the clip at `times` and place a camera so that the body is in view in every frame."""
    if not (np.all(np.isfinite(clip.root)) and np.all(np.isfinite(clip.wxyz))):
        raise MotionError(f"Clip '{clip.name}' holds NaN or infinity and cannot be drawn; check it first.")
    world = forward(clip.skeleton, sample(clip, times * clip.fps))
    figure = build_figure(clip.skeleton)
    some = np.unique(np.linspace(0, len(times) - 1, 48).astype(int))
    bodies = [figure.place(world.positions[i], world.wxyz[i])[0] for i in some]  # 48 x (n, 3)
    low, high = (np.array([f(body, axis=0) for body in bodies]) for f in (np.min, np.max))  # (48, 3)
    size = float(np.median(high[:, 2] - low[:, 2]))
    floors, rise = _floors(clip, times, world, floor_of(float(np.percentile(low[:, 2], 5)), size))
    low[:, 2], high[:, 2] = low[:, 2] - rise[some], high[:, 2] - rise[some]
    targets = _targets(figure, world, times, rise + 0.5 * (low[:, 2].min() + high[:, 2].max()), follow)
    heading = heading_of(clip, world)
    if isinstance(camera, Camera):
        towards = (camera.eye - camera.target) / np.linalg.norm(camera.eye - camera.target)
    else:
        towards = view_direction(camera, heading)
    offsets = np.concatenate([body[::3] - targets[i] for i, body in zip(some, bodies, strict=True)])
    distance = MARGIN * fit_distance(offsets, np.zeros(3), towards, aspect, FIELD)
    return Stage(
        clip.name,
        figure,
        world,
        times,
        targets,
        heading,
        towards,
        distance,
        floors,
        _tile(size),
        _markers(clip, times, size) if contacts else None,
        camera if isinstance(camera, Camera) else None,
    )


def heading_of(clip: Clip, world: Globals) -> float:
    """Where the body faces on the whole: the mean turn of its pelvis, or the first if it spins right round."""
    pelvis = find_roles(clip.skeleton).get("pelvis", 0)
    yaw = quat.yaw(world.wxyz[:, pelvis])
    mean = np.exp(1j * yaw).mean()
    return float(np.angle(mean)) if abs(mean) > 0.3 else float(yaw[0])


def _floors(
    clip: Clip, times: Float[Array, "n"], world: Globals, usual: float
) -> tuple[tuple[Floor, ...], Float[Array, "n"]]:
    """What is stood on at each time, and how high it is below the body: what a recording tells, or a level floor."""
    if not (isinstance(clip, Recording) and clip.floors):
        return (Floor(z=usual),) * len(times), np.zeros(len(times))
    floors = tuple(clip.floors[frame] for frame in _frames(clip, times))
    rise = [floor.height(float(x)) for floor, x in zip(floors, world.positions[:, 0, 0], strict=True)]
    return floors, np.array(rise)


def _frames(clip: Clip, times: Float[Array, "n"]) -> Int[Array, "n"]:
    return np.clip(np.round(times * clip.fps).astype(int), 0, clip.frame_count - 1)


def floor_of(lowest: float, size: float) -> float:
    """The ground is at zero unless the clip plainly is not: then under its lowest point."""
    return 0.0 if -0.12 * size < lowest < 0.3 * size else lowest


def _tile(size: float) -> float:
    """Squares of half a metre for people; for other sizes a round number about as large beside them."""
    rough = 0.55 * max(size, 1e-6)
    power = 10.0 ** np.floor(np.log10(rough))
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step * power <= rough))


def _targets(
    figure: Figure, world: Globals, times: Array, middle: Float[Array, "n"], follow: bool
) -> Float[Array, "n 3"]:
    """What the camera looks at: the body's middle at these heights, or that of the whole way where it stands still."""
    drawn = np.unique(figure.joint)
    points = world.positions[:, drawn].mean(axis=1)  # (n, 3)
    points[:, 2] = middle
    if not follow:
        points[:] = 0.5 * (points.min(axis=0) + points.max(axis=0))
        return points
    steps = np.diff(times)
    film = len(steps) > 0 and float(np.ptp(steps)) < 1e-6  # single pictures at odd times are centred, not followed
    return smooth_path(points, float(steps[0])) if film else points


def _markers(clip: Clip, times: Float[Array, "n"], size: float) -> tuple[Float[Array, "_ 3"], ...]:
    """(x, y, radius) of a ring around every planted foot, at each time."""
    joints, planted = _planted(clip)
    radius = 0.085 * size
    out: list[Array] = []
    for frame in _frames(clip, times):
        feet = [joint for joint, down in zip(joints, planted[frame], strict=True) if down]
        rings = [[*_middle_of_foot(clip, joint, int(frame)), radius] for joint in feet]
        out.append(np.array(rings).reshape(-1, 3))
    return tuple(out)


def _planted(clip: Clip) -> tuple[Sequence[int], Bool[Array, "T F"]]:
    """Feet, and when each is on the ground: as a recording tells, otherwise as it looks."""
    if not (isinstance(clip, Recording) and clip.contacts):
        found = find_contacts(clip)
        return found.joints, found.planted
    joints = {**{name: joint for joint, name in enumerate(clip.skeleton.names)}, **find_roles(clip.skeleton)}
    told = {name: channel for name, channel in clip.contacts.items() if name in joints}
    none = np.zeros((clip.frame_count, 0), dtype=bool)
    return [joints[name] for name in told], np.stack([*told.values()], axis=1) if told else none


def _middle_of_foot(clip: Clip, joint: int, frame: int) -> Float[Array, "2"]:
    below = [joint, *clip.skeleton.children[joint]]
    return clip.positions[frame, below, :2].mean(axis=0)
