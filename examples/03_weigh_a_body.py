"""A skeleton gets mass: what does the ground feel while it walks?

python examples/03_weigh_a_body.py
"""

import numpy as np

import jostle
from jostle.assets import clip_path
from jostle.body import Dynamics, compile_body, ground_forces
from jostle.clips.contacts import find_contacts

walk = jostle.load_clip(clip_path("walk"))
body = jostle.build_body(walk.skeleton, mass=70.0)

print(f"{body.total_mass:.1f} kg, {body.height:.2f} m; the heaviest parts:")
for joint in np.argsort(-body.mass)[:5]:
    print(f"  {walk.skeleton.names[joint]:12} {body.mass[joint]:5.1f} kg")

# MuJoCo knows the rest: here, how hard the chest resists a push from the side.
physics = compile_body(body)
dynamics = Dynamics(physics)
dynamics.set(physics.to_qpos(walk.pose(0)))
sideways = np.array([0.0, 1.0, 0.0])
felt = dynamics.effective_mass(body.part("chest"), sideways)
print(f"a sideways push on the chest moves {felt:.1f} kg of {body.total_mass:.0f}")

# Forces that planted feet must have given, in body weights: the two humps of a walking step.
forces = ground_forces(physics, walk)
up = forces.by_foot[..., 2] / body.weight  # (T, F)
for foot, share in zip(find_contacts(walk).names, up.T, strict=True):
    print(f"{foot:12}", "".join(" ▁▂▃▄▅▆▇█"[min(8, round(7 * max(0.0, x)))] for x in share[:80]))
print(f"the ground carries {np.mean(up.sum(axis=1)):.2f} body weights on average")
