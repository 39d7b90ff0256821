"""Learn a motion model from clips, ask it, continue a clip, and keep it.

    python examples/05_fit_a_model.py [walk.bvh ...]

Without arguments it learns from walks that ship with jostle.
"""

import sys

import numpy as np

import jostle
from jostle.assets import clip_path
from jostle.clips.edit import trim
from jostle.export.latent import plot_model
from jostle.models.learn import Watch

paths = sys.argv[1:] or [clip_path("walk"), clip_path("turn_left")]
clips = [trim(jostle.load_clip(path), 1.0, 6.0) for path in paths]
*training, last = clips if len(clips) > 2 else [*clips, trim(jostle.load_clip(paths[0]), 8.0, 10.0)]

# Fitting tells how far it is, and could keep a journal to be taken up again: Watch(..., journal="walk.journal").
watch = Watch(lambda done, total: print(f"{done:3.0f} of {total:.0f} iterations") if done % 50 == 0 else None)
model = jostle.fit(training, model="circle", iterations=150, watch=watch)
frames, dimensions = model.latent_rows.shape
print(f"{frames} frames became {dimensions} numbers each, and {len(model.features.names)} features come back")
for note in model.notes:
    print("note:", note)

# A clip that it has not seen: where its frames lie, and how well they are told by it.
x = model.latent(last)  # (T, Q)
height = float(np.mean(np.abs(model.pose(x).root[:, 2] - last.root[:, 2])))
print(f"'{last.name}' begins at {np.round(x[0], 2)}; its hips come back within {1000 * height:.0f} mm of their height")
print(f"variance there {np.median(model.variance(x)):.2g}, and a step aside {model.variance(x[0] + 1.0):.2g}")
print(f"ln p of the clip {model.log_likelihood(last):.0f}")

# The clip goes on where it ends.
further = model.predict(last, frames=60)
way = np.linalg.norm(further.root[-1, :2] - further.root[0, :2])
print(f"in the next {further.duration:.1f} s it goes {way:.2f} m further")
jostle.save_clip(further, "further.bvh")

# One small file, from which the same model comes back. As a character it plays its mean, for ever.
jostle.save_model(model, "walk.jostle")
again = jostle.load_model("walk.jostle")
assert np.array_equal(again.variance(x), model.variance(x))
recording = jostle.record(jostle.Character(jostle.load_controller("walk.jostle")), seconds=5)
print(f"left to itself it goes {np.linalg.norm(recording.root[-1, :2]):.2f} m in {recording.duration:.0f} s")

plot_model(model, "latent.png")
print("latent.png shows its latent space")
