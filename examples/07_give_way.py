"""Any clip gives way to small pushes, without training: an arm is pushed, a cup is kept upright, a post is in the way.

python examples/07_give_way.py [walk.bvh]
"""

import sys

import numpy as np

import jostle
from jostle.assets import clip_path, walker_path
from jostle.controllers.compliant.compliant import compliant_clip, compliant_over
from jostle.controllers.compliant.objectives import Avoid, Upright
from jostle.controllers.obstacles import Post
from jostle.maths import quat

clip = jostle.load_clip(sys.argv[1] if len(sys.argv) > 1 else clip_path("walk"))
character = compliant_clip(clip)
weak = np.sum(character.actuation.torques < 1.0)
print(f"{len(character.actuation.dofs)} coordinates, of which {weak} directions are driven by less than 1 N m")


def run(character, pushes, seconds=4.0):
    """Degrees by which joints are turned off the source, frame by frame."""
    state, off = character.init(jostle.Start()), []
    for frame in range(round(seconds / character.dt)):
        state = character.step(state, jostle.Command(pushes=pushes if frame == 60 else ()))
        off.append(np.degrees(quat.angle(quat.inv_mul(state.source.pose.wxyz, state.pose.wxyz))))
    return np.array(off)


push = jostle.Push("left_forearm", np.array([0.0, 120.0, 0.0]), 0.1)
off = run(character, (push,))
joint = character.skeleton.names[int(np.argmax(off.max(axis=0)))]
print(f"pushed, {joint} gives way by {off.max():.0f} degrees; three seconds later {off[-1].max():.1f} are left")

# What else it should do: rows of least squares, which add up.
post = Post(np.array([1.5, 0.35, 0.0]), np.array([1.5, 0.35, 1.7]), 0.05)
careful = compliant_clip(clip, objectives=(Upright("right_hand"), Avoid((post,))))
run(careful, (push,))

# It wraps any controller, and both together are one small file.
over = compliant_over(jostle.load_controller(walker_path("relaxed")))
jostle.save_controller(over, "compliant.jostle")
print(f"{over.name} answers: {', '.join(sorted(over.supports))}")
