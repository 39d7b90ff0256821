"""A skeleton gets mass: what does the ground feel while it walks?

    python examples/02_weigh_a_body.py
"""

import numpy as np

import jostle
from jostle.assets import clip_path

walk = jostle.load_clip(clip_path("walk"))
body = jostle.build_body(walk.skeleton, mass=70.0)

print(f"{body.mass:.1f} kg, {body.height:.2f} m; the heaviest parts:")
for joint in np.argsort(-body.masses)[:5]:
    print(f"  {walk.skeleton.names[joint]:12} {body.masses[joint]:5.1f} kg")
