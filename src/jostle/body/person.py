"""From a human skeleton to lumps of mass and shapes.

Every published segment is a line between two points of the rest pose, carried by a chain of joints; the line is cut
where the joints of the chain project onto it. So a trunk is the same trunk over none or five spine joints, and a twist
joint half-way down a forearm takes its half. Joints that carry no segment (fingers, collar bones, dummies of no length,
control bones) borrow a little mass from the nearest joint that has some: a mass matrix is positive definite only if
every joint moves something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jostle.body import anthropometry
from jostle.body.anthropometry import Segment, Sex
from jostle.body.feet import Foot, find_foot
from jostle.body.lumps import Lump, cut
from jostle.skeleton import Skeleton
from jostle.types import Array, Float

_LOAN = 0.0005  # share of the body's mass that a joint without a segment borrows …
_MOST_LENT = 0.4  # … unless together they would take more than this share of the lender
_SMALLEST = 0.02  # a joint that owns less than this share of its line owns none of it
_ENDS = 0.12  # pelvis and chest own at least this share of the trunk, however near the spine joints sit


@dataclass(frozen=True, eq=False)
class Line:
    """A segment's line in the rest pose and the joints along it, the nearest to its start first."""

    name: str
    part: Segment
    start: Float[Array, "3"]
    end: Float[Array, "3"]
    chain: tuple[int, ...]
    low: float = 0.0  # the stretch of a longer line (the trunk's) that this segment is
    high: float = 1.0
    least: float = 0.0  # share of the longer line that its first and its last joint own at least


@dataclass(frozen=True, eq=False)
class Piece:
    """One joint's slice of a segment: its lump, and its line for a shape."""

    name: str
    lump: Lump
    start: Float[Array, "3"]
    end: Float[Array, "3"]


def person_pieces(
    skeleton: Skeleton, roles: Mapping[str, int], height: float, sex: Sex | None
) -> tuple[list[Piece], list[Foot]]:
    """Every joint's slices, masses as shares of the body's, and the two feet."""
    feet = [find_foot(skeleton, roles, side, height) for side in ("left", "right")]
    lines = [*_trunk(skeleton, roles, sex), _head(skeleton, roles, height, sex)]
    for side, foot in zip(("left", "right"), feet, strict=True):
        lines += [*_arm(skeleton, roles, side, height, sex), *_leg(skeleton, roles, side, foot, sex)]
    pieces = [piece for line in lines for piece in _slices(skeleton, line, height)]
    return pieces, feet


def _trunk(skeleton: Skeleton, roles: Mapping[str, int], sex: Sex | None) -> list[Line]:
    """Three stacked segments on the line from mid-hip to the base of the neck. (Published from the neck downwards.)"""
    at = skeleton.rest_positions
    bottom = 0.5 * (at[roles["left_thigh"]] + at[roles["right_thigh"]])
    top = at[roles.get("neck", roles["head"])]
    pelvis = roles["pelvis"]
    chain = tuple(j for j in skeleton.chain(roles["chest"]) if pelvis in skeleton.chain(j))
    parts = [(n, anthropometry.segment(n, sex)) for n in ("lower_trunk", "middle_trunk", "upper_trunk")]
    whole, below, lines = sum(part.length for _, part in parts), 0.0, []
    for name, part in parts:
        above = below + part.length / whole
        upward = _reversed(part)
        lines.append(Line(name, upward, bottom, top, chain, below, min(above, 1.0), _ENDS))
        below = above
    return lines


def _reversed(part: Segment) -> Segment:
    """The same segment measured from its other end."""
    return Segment(part.mass, 1.0 - part.centre, part.sagittal, part.transverse, part.longitudinal, part.length)


def _head(skeleton: Skeleton, roles: Mapping[str, int], height: float, sex: Sex | None) -> Line:
    head, neck = roles["head"], roles.get("neck", roles["head"])
    part = anthropometry.segment("head", sex)
    base = skeleton.rest_positions[neck]
    tips = skeleton.rest_ends[np.isin(skeleton.end_parents, skeleton.subtree(head))]
    least = base[2] + part.length / anthropometry.MEAN_STATURE * height
    top = base.copy() if not len(tips) else tips[np.argmax(tips[:, 2])].copy()
    top[1], top[2] = base[1], max(top[2], least)
    chain = tuple(j for j in skeleton.chain(head) if neck in skeleton.chain(j))
    return Line("head", _reversed(part), base, top, chain)


def _arm(skeleton: Skeleton, roles: Mapping[str, int], side: str, height: float, sex: Sex | None) -> list[Line]:
    at = skeleton.rest_positions
    upper, fore, hand = roles[f"{side}_upper_arm"], roles[f"{side}_forearm"], roles.get(f"{side}_hand")
    figures = {name: anthropometry.segment(name, sex) for name in ("upper_arm", "forearm", "hand")}
    outward = at[fore] - at[upper]
    if hand is not None:
        wrist, carrier, chain = at[hand], (hand,), _chain(skeleton, fore, hand)
        outward = wrist - at[fore]
    else:
        tips = skeleton.ends_of(fore)
        length = figures["forearm"].length / anthropometry.MEAN_STATURE * height
        wrist = at[fore] + (tips[0] if len(tips) else length * _unit(outward))
        carrier, chain = (fore,), (fore,)
    knuckles = wrist + figures["hand"].length / anthropometry.MEAN_STATURE * height * _unit(outward)
    return [
        Line(f"{side}_upper_arm", figures["upper_arm"], at[upper], at[fore], _chain(skeleton, upper, fore)),
        Line(f"{side}_forearm", figures["forearm"], at[fore], wrist, chain),
        Line(f"{side}_hand", figures["hand"], wrist, knuckles, carrier),
    ]


def _leg(skeleton: Skeleton, roles: Mapping[str, int], side: str, foot: Foot, sex: Sex | None) -> list[Line]:
    at = skeleton.rest_positions
    hip, knee, ankle = roles[f"{side}_thigh"], roles[f"{side}_shin"], foot.ankle
    thigh, shin, sole = (anthropometry.segment(name, sex) for name in ("thigh", "shin", "foot"))
    lift = 0.4 * foot.top * foot.frame[:, 2]  # a foot's centre lies between sole and ankle
    carriers = (ankle,) if foot.toe is None else (ankle, foot.toe)
    return [
        Line(f"{side}_thigh", thigh, at[hip], at[knee], _chain(skeleton, hip, knee)),
        Line(f"{side}_shin", shin, at[knee], at[ankle], _chain(skeleton, knee, ankle)),
        Line(f"{side}_foot", sole, foot.heel + lift, foot.tip + lift, carriers),
    ]


def _chain(skeleton: Skeleton, first: int, beyond: int) -> tuple[int, ...]:
    """The joints from `first` down to the one before `beyond`; only `first` where `beyond` hangs elsewhere."""
    chain = skeleton.chain(beyond)
    return tuple(chain[chain.index(first) : -1]) if first in chain else (first,)


def _unit(v: Float[Array, "3"]) -> Float[Array, "3"]:
    length = float(np.linalg.norm(v))
    return v / length if length > 1e-9 else np.array([0.0, 0.0, -1.0])


def _slices(skeleton: Skeleton, line: Line, height: float) -> list[Piece]:
    """Cut a line where its joints fall and keep what lies in its stretch."""
    start, end = line.start, line.end
    if np.linalg.norm(end - start) < 1e-3:  # joints on one spot: a ball of a centimetre
        end = start + np.array([0.0, 0.0, -0.01])
    low = start + line.low * (end - start)
    high = start + line.high * (end - start)
    usual = line.part.length * height / anthropometry.MEAN_STATURE
    pieces = []
    for joint, (a, b) in _stretches(skeleton, line, start, end):
        a, b = max(a, line.low), min(b, line.high)
        if b - a < 1e-9:
            continue
        within = [(t - line.low) / (line.high - line.low) for t in (a, b)]
        lump = cut(line.part, low, high, within[0], within[1], joint, usual)
        pieces.append(Piece(line.name, lump, start + a * (end - start), start + b * (end - start)))
    return pieces


def _stretches(
    skeleton: Skeleton, line: Line, start: Float[Array, "3"], end: Float[Array, "3"]
) -> list[tuple[int, tuple[float, float]]]:
    """Which joint owns which stretch of the line: each from where it sits to where the next one does."""
    along = (end - start) / np.sum((end - start) ** 2)
    begins: list[tuple[int, float]] = [(line.chain[0], 0.0)]
    for joint in line.chain[1:]:
        t = max(float((skeleton.rest_positions[joint] - start) @ along), line.least)
        if joint == line.chain[-1]:
            t = min(t, 1.0 - line.least)
        if t - begins[-1][1] < _SMALLEST and len(begins) > 1:
            begins[-1] = (joint, begins[-1][1])  # of two on one spot the farther one carries
        elif begins[-1][1] + _SMALLEST <= t <= 1.0 - _SMALLEST:
            begins.append((joint, t))
    borders = [t for _, t in begins[1:]] + [1.0]
    return [(joint, (t, border)) for (joint, t), border in zip(begins, borders, strict=True)]


def lend(skeleton: Skeleton, roles: Mapping[str, int], lumps: Sequence[Lump], height: float) -> list[Lump]:
    """Give every joint without a lump a small one, taken from the nearest joint up the tree, or from the pelvis."""
    owners = {lump.joint for lump in lumps}
    borrowers: dict[int, list[int]] = {}
    for joint in range(skeleton.joint_count):
        if joint not in owners:
            borrowers.setdefault(_lender(skeleton, joint, owners, roles["pelvis"]), []).append(joint)
    clavicles = {roles[r] for r in ("left_clavicle", "right_clavicle") if r in roles}
    collar = anthropometry.CLAVICLE_SHARE * anthropometry.segment("upper_trunk").mass
    kept, loans = {}, []
    for lender, joints in borrowers.items():
        wealth = sum(lump.mass for lump in lumps if lump.joint == lender)
        asked = [collar if joint in clavicles else _LOAN for joint in joints]
        factor = min(1.0, _MOST_LENT * wealth / sum(asked))
        kept[lender] = 1.0 - factor * sum(asked) / wealth
        loans += [_loan(skeleton, j, factor * mass, height) for j, mass in zip(joints, asked, strict=True)]
    return [lump.scaled(kept.get(lump.joint, 1.0)) for lump in lumps] + loans


def _lender(skeleton: Skeleton, joint: int, owners: set[int], pelvis: int) -> int:
    above = [j for j in skeleton.chain(joint) if j in owners]
    return above[-1] if above else pelvis  # a root or a control bone above the pelvis


def _loan(skeleton: Skeleton, joint: int, mass: float, height: float) -> Lump:
    """A short rod towards what hangs from the joint, a hundredth of the height thick."""
    at = skeleton.rest_positions
    beyond = [at[c] for c in skeleton.children[joint]] + [at[joint] + e for e in skeleton.ends_of(joint)]
    reach = np.mean(beyond, axis=0) - at[joint] if beyond else np.zeros(3)
    length = float(np.linalg.norm(reach))
    if length > 0.15 * height:  # a control bone that ends far away carries no rod
        reach *= 0.15 * height / length
    spread = np.outer(reach, reach) / 12.0 + (0.01 * height) ** 2 * np.eye(3)
    return Lump(joint, mass, at[joint] + 0.5 * reach, spread)
