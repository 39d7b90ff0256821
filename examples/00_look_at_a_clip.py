"""Read a clip, ask it about itself, and look at it.

    python examples/00_look_at_a_clip.py [walk.bvh]

Without an argument it uses the walk that ships with jostle.
"""

import sys

import jostle
from jostle.assets import clip_path
from jostle.clips.contacts import find_contacts
from jostle.clips.info import describe
from jostle.export import render

path = sys.argv[1] if len(sys.argv) > 1 else clip_path("walk")
clip = jostle.load_clip(path)

# A clip is a skeleton and its poses: metres, seconds, Z up, X forward.
skeleton = clip.skeleton
print(f"{clip.name}: {clip.frame_count} frames at {clip.fps:g} a second, {skeleton.joint_count} joints")
print("joints:", ", ".join(skeleton.names))

# Forward kinematics of all frames at once: positions has shape (T, J, 3).
head = skeleton.index("Head")
print(f"the head is between {clip.positions[:, head, 2].min():.2f} and {clip.positions[:, head, 2].max():.2f} m high")

# What `jostle clips info` prints.
info = describe(clip)
print(f"walks at {info.speed:.2f} m/s, foot skate {info.foot_skate:.3f}")

# Which foot is on the ground, when? planted has shape (T, F).
contacts = find_contacts(clip)
for foot, planted in zip(contacts.names, contacts.planted.T, strict=True):
    print(f"{foot:12}", "".join("▇" if down else "·" for down in planted[:60]))

# Eight key poses in one picture.
render([clip], "clip.png")
print("clip.png shows it")
