"""Skeletons for the tests of bodies: people with more or fewer joints, a dog, and an order that is not depth first."""

import numpy as np

from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, build_skeleton


def person(spines=2, neck=True, clavicles=True, hands=True, toes=True, dummies=False) -> Skeleton:
    """1.75 m in a T-pose, arms along Y."""
    names, parents, offsets, ends = ["Hips"], [-1], [[0.0, 0.0, 0.95]], []

    def add(name, parent, offset):
        names.append(name)
        parents.append(names.index(parent))
        offsets.append(list(offset))
        return name

    top = "Hips"
    for i in range(spines):
        top = add(f"Spine{i}" if i else "Spine", top, (0, 0, 0.45 / spines if i else 0.08))
    reach = 1.50 - sum(offsets[names.index(n)][2] for n in names)  # from the last spine joint to the neck
    if neck:
        add("Head", add("Neck", top, (0, 0, reach)), (0, 0, 0.08))
    else:
        add("Head", top, (0, 0, reach))
    ends.append((names.index("Head"), [0, 0, 1.75 - 1.50 - (0.08 if neck else 0)]))
    for side, s in (("Left", 1.0), ("Right", -1.0)):
        shoulder = add(f"{side}Shoulder", top, (0, 0.08 * s, reach - 0.05)) if clavicles else top
        out = (0, 0.10 * s, 0) if clavicles else (0, 0.18 * s, reach - 0.05)
        elbow = add(f"{side}ForeArm", add(f"{side}Arm", shoulder, out), (0, 0.28 * s, 0))
        if hands:
            hand = add(f"{side}Hand", elbow, (0, 0.25 * s, 0))
            ends.append((names.index(hand), [0, 0.1 * s, 0]))
        hip = add(f"{side}HipDummy", "Hips", (0, 0, 0)) if dummies else "Hips"
        thigh = add(f"{side}UpLeg", hip, (0, 0.09 * s, -0.06))
        ankle = add(f"{side}Foot", add(f"{side}Leg", thigh, (0, 0, -0.42)), (0, 0, -0.40))
        if toes:
            toe = add(f"{side}ToeBase", ankle, (0.13, 0, -0.05))
            ends.append((names.index(toe), [0.07, 0, 0]))
    return build_skeleton(names, parents, offsets, ends)


def dog() -> Skeleton:
    """Shoulder height 0.6 m; its joints have names that say nothing about people."""
    names, parents, offsets = ["pelvis"], [-1], [[0.0, 0.0, 0.6]]
    for name, parent, offset in [
        ("back", 0, (0.25, 0, 0)),
        ("withers", 1, (0.25, 0, 0.02)),
        ("nape", 2, (0.15, 0, 0.1)),
        ("skull", 3, (0.12, 0, 0.08)),
        ("tail", 0, (-0.15, 0, 0)),
    ]:
        names.append(name)
        parents.append(parent)
        offsets.append(list(offset))
    for name, parent, y in (("hl", 0, 0.08), ("hr", 0, -0.08), ("fl", 2, 0.08), ("fr", 2, -0.08)):
        for part, offset in (("hip", (0, y, -0.05)), ("knee", (0.03, 0, -0.25)), ("paw", (-0.03, 0, -0.25))):
            names.append(f"{name}_{part}")
            parents.append(parent if part == "hip" else len(names) - 2)
            offsets.append(list(offset))
    ends = [(names.index("skull"), [0.15, 0, -0.03]), (names.index("tail"), [-0.15, 0, 0])]
    ends += [(names.index(f"{leg}_paw"), [0.05, 0, -0.02]) for leg in ("hl", "hr", "fl", "fr")]
    return build_skeleton(names, parents, offsets, ends)


def breadth_first(skeleton: Skeleton) -> Skeleton:
    """The same tree with its joints level by level."""
    depth = [len(skeleton.chain(j)) for j in range(skeleton.joint_count)]
    order = sorted(range(skeleton.joint_count), key=lambda j: (depth[j], j))
    place = {j: i for i, j in enumerate(order)}
    parents = [-1 if skeleton.parents[j] < 0 else place[int(skeleton.parents[j])] for j in order]
    pairs = zip(skeleton.end_parents, skeleton.end_offsets, strict=True)
    ends = [(place[int(j)], offset) for j, offset in pairs]
    return build_skeleton([skeleton.names[j] for j in order], parents, skeleton.offsets[order], ends)


def random_pose(skeleton: Skeleton, rng: np.random.Generator, turn=1.0) -> Pose:
    wxyz = quat.exp(turn * rng.normal(size=(skeleton.joint_count, 3)))
    return Pose(rng.normal(size=3), wxyz)
