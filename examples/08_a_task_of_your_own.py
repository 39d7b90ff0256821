"""Steer a character by a task of your own: what pays, in fifteen lines.

    python examples/08_a_task_of_your_own.py [walk.bvh turn.bvh ...]

Without arguments it learns from two seconds each of a walk and a turn that ship with jostle.
"""

import sys

import numpy as np

import jostle
from jostle.assets import clip_path
from jostle.clips.edit import trim_frames
from jostle.controllers.policy.policy import plan_policy
from jostle.models.connected import fit_connected


class Gentle(jostle.Task):
    """Go where you are asked to, in wide curves. A step is seen from where the character stands."""

    name = "gentle"
    widest = 1.0  # radians a second

    def reward(self, step, theta):
        """Theta is the direction asked for, radians to the left; `step.position("head")` would be the head's place."""
        off = np.abs((theta[..., 0] - step.course + np.pi) % (2 * np.pi) - np.pi)
        turn = step.travel[..., 2]
        return np.exp(-2.0 * off) * np.exp(-((turn / self.widest) ** 2))


clips = [jostle.load_clip(path) for path in sys.argv[1:]]
clips = clips or [trim_frames(jostle.load_clip(clip_path(name)), 60, 130) for name in ("walk", "turn_left")]
model = fit_connected(clips, latent=3, mirrored=True, iterations=40)
character = plan_policy(model, Gentle(), rounds=1)

for asked in (0.0, 90.0):
    state = character.init(jostle.Start())
    for _ in range(120):
        state = character.step(state, jostle.Command(heading=np.radians(asked)))
    x, y = state.pose.root[:2]
    far, course = np.hypot(x, y), np.degrees(np.arctan2(y, x))
    print(f"asked to go to {asked:.0f} degrees: after 4 s it is {far:.1f} m away, at {course:.0f} degrees")

# A bundle holds no code: whoever loads it brings the class.
jostle.save_controller(character, "gentle.jostle")
back = jostle.load_controller("gentle.jostle", task=Gentle())
print(f"{back.name} listens to {', '.join(sorted(back.supports))}")
