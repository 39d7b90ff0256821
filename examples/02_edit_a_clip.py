"""Cut, loop, mirror, retarget, save.

python examples/02_edit_a_clip.py
"""

import jostle
from jostle.assets import clip_path
from jostle.clips import edit
from jostle.clips.loop import find_cycle, loop
from jostle.clips.retarget import retarget

walk = jostle.load_clip(clip_path("walk"))

# Edits return new clips; nothing is changed in place.
first_two_seconds = edit.trim(walk, 0.0, 2.0)
smooth = edit.resample(first_two_seconds, fps=60)
mirrored = edit.mirror(smooth)
print(f"{walk.frame_count} frames -> {smooth.frame_count} frames at {smooth.fps:g} a second")

# A piece that plays forever, found by itself: its last frame is its first again.
cycle = find_cycle(walk)
print(f"frames {cycle.start} to {cycle.end} repeat, with {cycle.period:.2f} s a cycle")
forever = loop(walk)

# A child walks like its parent: the same motion on a skeleton of two thirds the size.
child = walk.skeleton.scaled(2 / 3)
small = retarget(forever, child)
print(f"the parent takes {forever.root[-1, 0] - forever.root[0, 0]:.2f} m a round, ", end="")
print(f"the child {small.root[-1, 0] - small.root[0, 0]:.2f} m")

jostle.save_clip(small, "child.bvh")
jostle.save_clip(small, "child.glb")  # opens in Blender and in any glTF viewer, with a mannequin
print("child.bvh and child.glb are written")
