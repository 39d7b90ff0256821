"""A person who walks or runs along a path, made of published curves and planted feet.

The motion is built from the ground up:

1. *Where feet stand.* A foot comes down every cycle; its spot is where the body will be a fifth of a cycle later, half
   a step width aside, turned as the path is there. `foot.roll` carries it from heel strike to toe off without sliding.
2. *The pelvis* follows the path with the small movements that gait laboratories report: up and down twice a cycle, over
   the standing foot once, turning, dropping and tilting by a few degrees. In a run it is wherever it must be for the
   centre of mass to move as `flight` says: a push by each standing foot, and 9.81 m/s² in between.
3. *The legs* (`legs`): a standing leg reaches from pelvis to ankle, a swinging leg follows the normative curves.
4. *The upper body* (`trunk`): the chest turns against the pelvis, the arms against the legs, and the head stays level.

Angles follow the right hand: about Y (left) forward lean and knee flexion are positive, hip flexion and toes up are
negative; about X (forward) the left side rises; about Z (up) the body turns left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jostle.assets.curves import RUN, WALK, Curves
from jostle.assets.figure import ANKLE_UP, HEEL_BACK, TIP_UP, build_figure, centre_of_mass
from jostle.assets.flight import bounce_of
from jostle.assets.foot import Rollover
from jostle.assets.legs import Legs, leg_rotations
from jostle.assets.path import Path
from jostle.assets.pelvis import Pelvis, Sway, Wobble, harmonic_sway, sampled_sway
from jostle.assets.trunk import Trunk, pose_upper_body
from jostle.clips import Clip
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, forward
from jostle.types import Array, Float

_MOST_LIFT = 30.0  # degrees
_HARMONICS = 16  # of a runner's sway; more, and the search for it would chase its own corners


@dataclass(frozen=True)
class Gait:
    """Speed and style. Everything has a published or plausible default in `walking` and `running`."""

    speed: float  # metres a second
    cadence: float  # steps a minute
    curves: Curves
    rollover: Rollover
    wobble: Wobble
    trunk: Trunk
    step_width: float = 0.10
    toe_out: float = 7.0  # degrees
    over: float = 0.215  # cycles from heel strike to when the pelvis passes over the ankle
    straightest: float = 5.0  # degrees of bend that a standing knee keeps
    lift: float = 0.0  # degrees of extra bend that a swinging knee gets
    arm_swing: float = 1.0
    bounce: float = 1.0
    lean: float = 0.0  # degrees that the trunk leans forward beyond what is usual at this gait
    flies: bool = False

    @property
    def cycle(self) -> float:
        """Seconds from one heel strike to the next of the same foot."""
        return 120.0 / self.cadence


def walking(speed: float = 1.33, cadence: float | None = None) -> Gait:
    """A walk. Step length over cadence is 0.0064 m min at all speeds that people choose (Sekiya et al. 1996)."""
    brisk = speed / 1.33
    return Gait(
        speed=speed,
        cadence=cadence or float(np.sqrt(60.0 * speed / 0.0064)),
        curves=WALK,
        rollover=Rollover(
            strike=20.0, flat=0.12, heel_off=0.29, toe_roll=0.53, toe_off=0.615, push=66.0, toe_push=26.0
        ),
        wobble=Wobble(
            ahead=(0.006, 0.175),
            left=(0.020, 0.28),
            up=(0.0125 * brisk**2, 0.255),
            turn=(-5.0 * brisk, 0.0),
            drop=(3.5, 0.17),
            tilt=(1.0, 0.0),
            lean=2.0,
        ),
        trunk=Trunk(
            turn=(3.5 * brisk, 0.02),
            sway=(1.2, 0.65),
            nod=(0.8, 0.1),
            lean=2.0,
            head_nod=(1.2, 0.30),
            arm_out=7.0,
            arm_in=8.0,
            hunch=0.12,
        ),
        lift=14.0,
        arm_swing=min(brisk, 1.5),
    )


def running(speed: float = 3.0, cadence: float | None = None) -> Gait:
    """A run. Strides a second rise slowly with speed, 1.12 + 0.083 v (through the figures of Cavanagh & Kram 1989)."""
    return Gait(
        speed=speed,
        cadence=cadence or 120.0 * (1.12 + 0.083 * speed),
        curves=RUN,
        rollover=Rollover(strike=10.0, flat=0.09, heel_off=0.17, toe_roll=0.33, toe_off=0.39, push=62.0, toe_push=26.0),
        wobble=Wobble(turn=(-6.0, 0.0), drop=(3.5, 0.13), tilt=(1.5, 0.05), lean=6.0),
        trunk=Trunk(
            turn=(8.0, 0.9),
            sway=(2.0, 0.63),
            nod=(1.0, 0.1),
            lean=8.0,
            head_nod=(1.5, 0.17),
            arm_out=14.0,
            arm_in=22.0,
            hunch=0.12,
        ),
        step_width=0.05,
        toe_out=6.0,
        over=0.118,
        straightest=21.0,
        lift=20.0,
        flies=True,
    )


def make_gait(gait: Gait, path: Path | None = None, cycles: int = 4, fps: float = 60.0, name: str = "gait") -> Clip:
    """The clip of a whole number of cycles; its last frame is its first again, further along the path.

    The cycle is rounded to an even number of frames, so that it closes exactly and both steps are alike.
    """
    frames = 2 * round(gait.cycle * fps / 2.0)
    trunk = replace(gait.trunk, lean=gait.trunk.lean + gait.lean)
    gait = replace(gait, cadence=120.0 * fps / frames, trunk=trunk)
    path = path or Path(gait.speed)
    t = np.arange(cycles * frames + 1) / fps
    skeleton = build_figure()
    while True:
        pelvis, legs = _stand_up(gait, path, _sway(gait), cycles * gait.cycle)
        pose = _pose(gait, pelvis, legs, t)
        if gait.lift >= _MOST_LIFT or _clearance(legs, skeleton, pose, t) >= 0.0:
            break
        gait = replace(gait, lift=gait.lift + 2.0)
    return Clip(skeleton, fps, pose.root, pose.wxyz, name=name)


def _clearance(legs: Legs, skeleton: Skeleton, pose: Pose, t: Float[Array, "n"]) -> float:
    """How much higher than it need be the lowest point of a swinging foot is: 1.5 cm in the middle of the swing."""
    world = forward(skeleton, pose)
    spare = np.inf
    for side, word in ((1, "Left"), (-1, "Right")):
        foot, toe = skeleton.index(f"{word}Foot"), skeleton.index(f"{word}Toe")
        tip = world.ends[:, int(np.flatnonzero(skeleton.end_parents == toe)[0]), 2] - TIP_UP
        heel = quat.apply(world.wxyz[:, foot], np.array([-HEEL_BACK, 0.0, -ANKLE_UP]))[:, 2]
        lowest = np.minimum(tip, world.positions[:, foot, 2] + heel)
        need = 0.015 * np.sin(np.pi * legs.swing(side, t)) ** 2
        spare = min(spare, float(np.min(lowest - need + 1e-9)))
    return spare


def _stand_up(gait: Gait, path: Path, sway: Sway, duration: float) -> tuple[Pelvis, Legs]:
    """The pelvis as high as the standing legs allow."""
    pelvis = Pelvis(path, gait.cycle, ANKLE_UP + 0.8, gait.wobble, sway)
    legs = Legs(pelvis, gait.curves, gait.rollover, gait.step_width, gait.toe_out, gait.over, gait.lift)
    t = np.arange(0.0, duration, gait.cycle / 200.0)
    room = min(legs.room(side, t, np.radians(gait.straightest)) for side in (1, -1))
    pelvis = replace(pelvis, height=pelvis.height + room)
    return pelvis, replace(legs, pelvis=pelvis)


def _sway(gait: Gait, samples: int = 220, rounds: int = 12) -> Sway:
    """How the pelvis sways. A runner's: pose the body, see where its centre of mass is, move the pelvis, and again."""
    if not gait.flies:
        up = (gait.wobble.up[0] * gait.bounce, gait.wobble.up[1])
        return harmonic_sway(replace(gait.wobble, up=up))
    skeleton = build_figure()
    wanted = bounce_of(gait.cycle, gait.rollover.toe_off, gait.bounce, samples)
    t = np.arange(samples) / samples * gait.cycle
    offsets, miss = wanted, np.zeros_like(wanted)
    for _ in range(rounds):
        pelvis, legs = _stand_up(gait, Path(gait.speed), sampled_sway(offsets), gait.cycle)
        pose = _pose(gait, pelvis, legs, t)
        centre = centre_of_mass(skeleton, forward(skeleton, pose))
        centre[:, 0] -= gait.speed * t
        miss = wanted - centre
        miss -= miss.mean(axis=0)
        offsets = offsets + 0.6 * _low_pass(miss, _HARMONICS)
    return sampled_sway(offsets + miss - 0.6 * _low_pass(miss, _HARMONICS))


def _low_pass(samples: Float[Array, "n 3"], harmonics: int) -> Float[Array, "n 3"]:
    spectrum = np.fft.rfft(samples, axis=0)
    spectrum[harmonics + 1 :] = 0.0
    return np.fft.irfft(spectrum, len(samples), axis=0)


def _pose(gait: Gait, pelvis: Pelvis, legs: Legs, t: Float[Array, "n"]) -> Pose:
    skeleton = build_figure()
    root, turned = pelvis.at(t)
    wxyz = quat.identity((len(t), skeleton.joint_count))
    wxyz[:, 0] = turned
    for name, q in pose_upper_body(gait.trunk, gait.curves, gait.arm_swing, pelvis, t).items():
        wxyz[:, skeleton.index(name)] = q
    for side, word in ((1, "Left"), (-1, "Right")):
        for name, q in zip(("UpLeg", "Leg", "Foot", "Toe"), leg_rotations(legs.angles(side, t)), strict=True):
            wxyz[:, skeleton.index(word + name)] = q
    return Pose(root, wxyz)
