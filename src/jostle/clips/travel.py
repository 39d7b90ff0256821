"""A gait made in place is sent on its way: how fast it goes is told by the feet that stand.

Clips for games walk like on a treadmill, and the root stays. A standing foot goes back under the body as fast as the
body should go ahead, so the speed is the mean of what standing feet do. Hands that animate seldom let them go back at
one speed, or all at the same; what each foot then still slides over the ground is taken out by its leg (`plant`), as
in a loop, and over three rounds, so that the last frame stays the first one a cycle on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.contacts import Contacts, find_contacts
from jostle.clips.feet import find_feet
from jostle.clips.loop import loop, over_rounds, repeat
from jostle.clips.plant import foot_steps, plant_feet
from jostle.clips.rig import plain
from jostle.errors import MotionError
from jostle.skeleton import Pose
from jostle.types import Array, Float


def travel(clip: Clip, cycles: int = 1) -> Clip:
    """A gait that was made in place, over the ground, so many cycles of it. A rig becomes a plain body."""
    once = loop(plain(clip))
    three = repeat(once, 3)
    contacts = find_contacts(three)
    if not np.any(contacts.treadmill):
        raise MotionError(
            f"Clip '{clip.name}' is no gait in place: its feet do not go back under it while it stays where it is; "
            "one that travels already needs nothing."
        )
    v = -ground_velocity(three, contacts)
    shift = v * (np.arange(once.frame_count) * once.dt)[:, None]
    moved = once.with_poses(Pose(once.root + np.pad(shift, ((0, 0), (0, 1))), once.wxyz, once.offsets))
    still = replace(contacts, treadmill=np.zeros(2))
    planted = over_rounds(moved, lambda rounds: plant_feet(rounds, still))
    return repeat(planted, cycles)


def ground_velocity(clip: Clip, contacts: Contacts) -> Float[Array, "2"]:
    """The velocity at which the ground slides least under the feet that stand: the mean of theirs."""
    feet, down = find_feet(clip), contacts.planted
    steps = [foot_steps(clip, feet, f, contacts)[down[:-1, f] & down[1:, f]] for f in range(len(feet.names))]
    return np.concatenate(steps).mean(axis=0) * clip.fps
