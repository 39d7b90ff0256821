"""What constraints and switches cost and reach: each a function of a policy that returns numbers.

feet = skate_of(policy, seed=0)        # foot_skate, skate_ratio, acceleration_ratio, …
hand = ik_of(policy, seed=0)           # ik_cm, ik_median_cm, acceleration_ratio
seam = seams_of(switch, seed=0)        # switch_seam_cm, clips_seam_cm
pace = pace_of(policy, seed=0)         # frames_per_second, constraints_ms: of the processor's time
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from jostle.clips import Clip
from jostle.controllers import Command, Start
from jostle.controllers.policy.constraints import Place
from jostle.controllers.policy.policy import Policy, PolicyState
from jostle.controllers.policy.switching import Switch, SwitchState
from jostle.evaluate.metrics import seam_cm, skate
from jostle.maths import quat
from jostle.models.sequences import slices
from jostle.types import Array, Float

FRAMES, EVERY = 900, 1.5  # of a run; seconds from one direction to the next
INSIDE = 0.95  # of an arm's length from the shoulder: a target that can be reached
SETTLED = 20  # frames until a constraint is wholly on


def skate_of(policy: Policy, seed: int = 0, frames: int = FRAMES) -> dict[str, float]:
    """Feet with and without cleanup, over random directions, beside those of the clips that the model learnt from.

    `skate_ratio` is foot skate over that of the clips, or over a frame of the run; `acceleration_ratio` rms joint
    acceleration over that without cleanup.
    """
    bare, clean = (_clip(policy, _steered(own, seed, frames)) for own in (replace(policy, constraints=()), policy))
    own = [skate(clip) | {"frames": clip.frame_count} for clip in source_clips(policy)]
    weights = [one["frames"] for one in own]
    clips = {key: float(np.average([one[key] for one in own], weights=weights)) for key in ("foot_skate", "slide_cm")}
    now = skate(clean)
    return {
        **now,
        **{f"{key}_before": value for key, value in skate(bare).items()},
        **{f"{key}_clips": value for key, value in clips.items()},
        "skate_ratio": now["foot_skate"] / max(clips["foot_skate"], 1.0 / frames),
        "acceleration_ratio": _rms(clean) / _rms(bare),
    }


def ik_of(policy: Policy, seed: int = 0, frames: int = 300, part: str = "right_hand") -> dict[str, float]:
    """A hand that follows a point which circles before the shoulder of a steered character: how far it misses.

    Only frames count in which the point is inside reach, `INSIDE` of the arm's length from the shoulder.
    """
    own = replace(policy, constraints=(*policy.bounds, Place(part)))
    joint = own.anatomy.part(part)
    base, length = own.anatomy.limb(joint)
    state, wish, rng = own.init(Start(seed=seed)), 0.0, np.random.default_rng(seed)
    shoulder = own.skeleton.rest_positions[base] - own.skeleton.rest_positions[0]
    missed, states = [], [state]
    for frame in range(frames):
        wish = rng.uniform(-np.pi, np.pi) if frame % round(EVERY / own.dt) == 0 else wish
        turn, out = 2.0 * np.pi * frame * own.dt / 3.0, 0.65 * length
        away = out * np.array([1.0, 0.5 * np.cos(turn) - 0.3, 0.5 * np.sin(turn)])
        target = state.body.positions[0] + quat.apply(quat.from_yaw(state.facing.heading), shoulder + away)
        state = own.step(state, Command(heading=wish, target=target))
        states.append(state)
        at = state.body.positions
        if frame >= SETTLED and float(np.linalg.norm(target - at[base])) < INSIDE * length:
            missed.append(100.0 * float(np.linalg.norm(target - at[joint])))
    bare = _clip(policy, _steered(policy, seed, frames))
    return {
        "ik_cm": float(np.max(missed)),
        "ik_median_cm": float(np.median(missed)),
        "frames": float(len(missed)),
        "acceleration_ratio": _rms(_clip(own, states)) / _rms(bare),
    }


def seams_of(switch: Switch, seed: int = 0, trials: int = 20) -> dict[str, float]:
    """Switches at random moments, from each policy to the next: how far joints jump there beyond the steps around.

    `clips_seam_cm` is the 99th percentile of the same measure over all frames of the clips.
    """
    rng, names = np.random.default_rng(seed), list(switch.tasks)
    state, states, at = switch.init(Start(seed=seed)), [], []
    for trial in range(trials):
        for _ in range(int(rng.integers(30, 75))):
            state = switch.step(state, Command(heading=0.0))
            states.append(state)
        at.append(len(states) - 1)  # the step from this frame to the next is another policy's
        state = switch.step(state, Command(heading=0.0, task=names[(trial + 1) % len(names)]))
        states.append(state)
    states += [state := switch.step(state, Command(heading=0.0)) for _ in range(30)]
    clip = _clip(switch.first, states)
    found = np.array([seam_cm(clip, frame) for frame in at])
    own = [
        seam_cm(c, t) for p in switch.policies.values() for c in source_clips(p) for t in range(6, c.frame_count - 8)
    ]
    return {
        "switch_seam_cm": float(np.median(found)),
        "switch_seam_worst_cm": float(np.max(found)),
        "clips_seam_cm": float(np.quantile(own, 0.99)),
        "switches": float(trials),
    }


def pace_of(policy: Policy, seed: int = 0, frames: int = 300) -> dict[str, float]:
    """Frames a second of one core, and milliseconds of a frame that constraints take; the processor's own time."""
    taken = []
    for own in (policy, replace(policy, constraints=())):
        state = own.step(own.init(Start(seed=seed)), Command())
        begun = time.process_time()
        for frame in range(frames):
            state = own.step(state, Command(heading=2.0 * np.sin(frame / 40.0)))
        taken.append((time.process_time() - begun) / frames)
    return {"frames_per_second": 1.0 / taken[0], "constraints_ms": 1000.0 * (taken[0] - taken[1])}


def source_clips(policy: Policy) -> list[Clip]:
    """The clips that a model was learnt from, as it knows them; their mirror images too."""
    model = policy.model
    return [model.features.decode(model.rows[rows]) for rows in slices(model.lengths)]


def _steered(policy: Policy, seed: int, frames: int) -> list[PolicyState]:
    state, rng, wish = policy.init(Start(seed=seed)), np.random.default_rng(seed), 0.0
    states = [state]
    for frame in range(frames):
        wish = rng.uniform(-np.pi, np.pi) if frame % round(EVERY / policy.dt) == 0 else wish
        state = policy.step(state, Command(heading=wish))
        states.append(state)
    return states


def _clip(policy: Policy, states: list[PolicyState] | list[SwitchState]) -> Clip:
    poses = [state.pose for state in states]
    root, wxyz = np.array([pose.root for pose in poses]), np.array([pose.wxyz for pose in poses])
    offsets = None if poses[0].offsets is None else np.array([pose.offsets for pose in poses])
    return Clip(policy.skeleton, 1.0 / policy.dt, root, wxyz, offsets, name="hindered")


def _rms(clip: Clip) -> float:
    return float(np.sqrt(np.mean(_acceleration(clip) ** 2)))


def _acceleration(clip: Clip) -> Float[Array, "T J"]:
    return np.linalg.norm(np.diff(clip.positions, 2, axis=0), axis=-1) * clip.fps**2
