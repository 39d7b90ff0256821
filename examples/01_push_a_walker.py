"""Let a simulated person walk, push it, tilt its ground, steer it, and go back in time.

    python examples/01_push_a_walker.py [mine.jostle]

Without an argument it uses the walker `stocky` that ships with jostle. `jostle view walker:stocky` is the same, live.
"""

import sys

import numpy as np

import jostle
from jostle.assets import walker_path
from jostle.controllers import NEUTRAL
from jostle.export import render
from jostle.runtime import CharacterState, save_recording

walker = jostle.load_controller(sys.argv[1] if len(sys.argv) > 1 else walker_path("stocky"))
character = jostle.Character(walker)
print(f"{walker.name}: {character.body.total_mass:.0f} kg, understands {', '.join(sorted(walker.supports))}")


def go_on(state: CharacterState, seconds: float, command: jostle.Command = NEUTRAL) -> CharacterState:
    """Ask once, then leave it alone."""
    for _ in range(round(seconds * character.rate)):
        state, command = character.step(state, command), NEUTRAL
    return state


# A state is a value: nothing is hidden in the controller, so any moment can be kept and returned to.
walking = go_on(character.init(), 2.0)
print(f"after {walking.time:.1f} s it walks at {walking.observed.quality['speed']:.2f} m/s")


# A push is a force on a part of the body for some time. Its impulse over the mass is the speed that it gives.
def shove(newtons: float) -> jostle.Command:
    return jostle.Command(pushes=(jostle.Push("torso", np.array([0.0, newtons, 0.0]), 0.2),))


left, alone = go_on(walking, 0.2, shove(100.0)), go_on(walking, 0.2)
gained = character.body.total_com(left.pose) - character.body.total_com(alone.pose)
print(f"100 N for 0.2 s move its centre of mass {100 * gained[1]:.1f} cm to the left while they act")

# How hard can it be pushed? Return to the same moment again and again.
for newtons in (50.0, 100.0, 200.0, 400.0, 800.0):
    fell = go_on(walking, 2.0, shove(newtons)).observed.quality["fallen"]
    print(f"  {newtons:3.0f} N to the left: {'falls' if fell else 'walks on'}")
    if fell:
        break

# The ground may change while it is walked on; a fallen walker is stood up again where it lies.
lying = go_on(walking, 2.5, jostle.Command(settings={"slope": 12.0, "friction": 0.2}, pushes=shove(600.0).pushes))
risen = go_on(lying, 0.1, jostle.Command(task="stand up", settings={"slope": 0.0, "friction": 1.0}))
for name, state in (("pushed over", lying), ("stood up", risen)):
    seen = state.observed.quality
    print(f"{name}: centre of mass {seen['com_height']:.2f} m above a ground of {seen['slope']:.0f} degrees")


# A recording runs a character for a while; what is wished may depend on the time. Here it walks round a corner.
def wish(time: float) -> jostle.Command:
    return jostle.Command(heading=1.0 if time > 1.0 else None)


run = jostle.record(character, 4.0, wish, name="round the corner")
print(f"it turned by {np.degrees(run.quality['heading'][-1]):.0f} degrees and got to {run.root[-1, :2].round(1)}")
save_recording(run, "corner.bvh")  # and corner.json with contacts, pushes and figures
render([run], "corner.png", contacts=True, camera="three-quarter")
print("corner.bvh and corner.png show it")
