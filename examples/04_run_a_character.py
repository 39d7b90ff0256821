"""The protocol every controller speaks: init, step, command, recording.

python examples/04_run_a_character.py
"""

import numpy as np

import jostle
from jostle.assets import clip_path
from jostle.clips.loop import loop

walk = loop(jostle.load_clip(clip_path("walk")))
character = jostle.Character(jostle.Playback(walk), rate=60)

# `init` and `step` are pure: the same commands give the same motion.
state = character.init(jostle.Start(position=(0, 0), heading=np.pi / 2))
for _ in range(120):
    state = character.step(state, jostle.Command())
print(f"after {state.time:.1f} s it stands at {np.round(state.pose.root, 2)}")

# A controller says which wishes it honours. Playback honours none, and says so when it is pushed.
print("playback supports:", set(character.controller.supports) or "nothing but playing")
shove = jostle.Push("chest", force=np.array([150.0, 0, 0]), duration=0.2)
try:
    character.step(state, jostle.Command(pushes=(shove,)))
except jostle.JostleError as error:
    print("jostle says:", error)

# A recording is a clip, so everything that works on a clip works on it.
recording = jostle.record(character, seconds=5)
jostle.save_clip(recording, "five_seconds.bvh")

# A controller and where it came from, in one file.
jostle.save_controller(character.controller, "walk.jostle", recipe={"clip": "walk", "looped": True})
print("walk.jostle holds", jostle.load_controller("walk.jostle").name)
