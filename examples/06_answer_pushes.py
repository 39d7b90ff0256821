"""A character from one normal walk and three pushed ones: push it, ask how sure it is, and what it has never seen.

    python examples/06_answer_pushes.py [walk.bvh pushed.bvh ...]

Without arguments it learns from clips that ship with jostle. Pushed clips may have a .json of the true forces beside
them; where there is none, `jostle fit --controller dynamic` estimates them.
"""

import sys

import numpy as np

import jostle
from jostle.assets import clip_path, pushed_clips
from jostle.controllers.dynamic.check import verify
from jostle.controllers.dynamic.learn import fit_dynamic
from jostle.runtime import load_example

shipped = [clip_path("walk"), *(pushed_clips()[i][0] for i in (1, 29, 15))]  # forwards, backwards, to the left
person = fit_dynamic([load_example(path) for path in sys.argv[1:] or shipped])
for model in person.models:
    frames, dimensions = model.model.latent_rows.shape
    print(f"{frames} frames in {dimensions} dimensions, of {len(model.pushes) - 1} pushed clips")

# Pushed to the right, which nobody showed it, and again while it recovers.
pushes = {1.0: jostle.Push("torso", np.array([0.0, -200.0, 0.0]), 0.2)}
pushes[1.6] = jostle.Push("left_arm", np.array([-120.0, -60.0, 0.0]), 0.3)


def command(time: float) -> jostle.Command:
    due = [at for at in pushes if at <= time]
    return jostle.Command(pushes=tuple(pushes.pop(at) for at in due))


pushed = jostle.record(jostle.Character(person, rate=30.0), seconds=5, command=command)
calm = jostle.record(jostle.Character(person, rate=30.0), seconds=5)
aside = pushed.root[:, 1] - calm.root[:, 1]
print(
    f"it goes {100 * np.max(np.abs(aside)):.0f} cm aside, and its hips sink by {100 * np.ptp(pushed.root[:, 2]):.0f} cm"
)
print(f"most lost {100 * pushed.quality['lost'].max():.0f} %, and {100 * pushed.quality['lost'][-1]:.0f} % at the end")
jostle.save_clip(pushed, "pushed.glb")

# One small file, which `jostle view`, `jostle push` and `jostle model check` take.
jostle.save_controller(person, "me.jostle")
found = verify(person)
degrees, phase = found.capture_next()
print(f"capture next: a push {degrees:.0f} degrees to the left of forward, at {phase:.2f} of the cycle")
