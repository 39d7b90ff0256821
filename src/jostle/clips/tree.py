"""Which points hang from which: the tree of a body, found from what keeps its distance.

Two points on one bone keep their distance whatever the body does, so a link costs the variance of its length and more:

    cost(a, b) = var |x_a - x_b| + e² + (l / 1000)²,   e = 0.2 mm + the spread of a typical bone, l its length

and the tree of cheapest paths from the root is the skeleton. The e² is what makes it a good one: where several points
are rigid to each other (a pelvis with both hips and the tail) one link costs less than two, so they fan out from the
joint that carries them instead of forming a chain. The l² is what keeps a stiff spine a chain: four short links cost
less than one long one.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree

from jostle.errors import MotionError
from jostle.types import Array, Float

_FRONT = ("Scapula", "UpperLeg", "LowerLeg", "Foot", "Toes")
_HIND = ("UpperLeg", "LowerLeg", "Foot", "Toes")
DOG_NAMES = (
    *("Pelvis", "Spine", "Chest", "Neck", "Head", "Nose"),
    *(f"{side}Front{part}" for side in ("Left", "Right") for part in _FRONT),
    *(f"{side}Hind{part}" for side in ("Left", "Right") for part in _HIND),
    *("Tail", "Tail1", "TailTip"),
)
DOG_PARENTS = (-1, 0, 1, 2, 3, 4, 2, 6, 7, 8, 9, 2, 11, 12, 13, 14, 0, 16, 17, 18, 0, 20, 21, 22, 0, 24, 25)
_ROOTS = re.compile(r"^(hips?|pelvis|root|sacrum|hip_?centre|hip_?center|mid_?hip)$", re.IGNORECASE)
_RIGID = 0.005  # metres: a bone of a recorded skeleton keeps its length to this
_SAME = 0.001  # metres: nearer than this, two joints are in one place
_FRAMES = 400  # enough to tell bones from the rest
_LONG = 0.001  # metres of spread that a metre of length counts as
_MOST = 300  # points; beyond, all distances between them would not fit in a few hundred MB


def find_tree(labels: Sequence[str], positions: Float[Array, "T P 3"]) -> tuple[int, ...]:
    """The parent of each point, -1 for the root: the cheapest paths through links that keep their length.

    The root is a point called hips or pelvis; without one, that whose tree has the stiffest fans (a joint has one
    orientation, so the bones that it carries must not move against each other) and then the shortest branches.
    """
    if len(labels) > _MOST:
        raise MotionError(
            f"No tree can be found for {len(labels)} points; say which hangs from which, or leave most out."
        )
    spread, length = spreads(positions)
    spread = np.where(np.isfinite(spread), spread, np.nanmax(spread, initial=1.0) * 10.0)
    bones = np.sqrt(minimum_spanning_tree(csr_array(spread**2 + 1e-12)).data)
    noise = 0.0002 + float(np.median(bones)) if len(bones) else 0.0002
    cost = spread**2 + noise**2 + (_LONG * np.nan_to_num(length, nan=10.0)) ** 2
    np.fill_diagonal(cost, 0.0)
    named = [i for i, label in enumerate(labels) if _ROOTS.match(label.rsplit(":", 1)[-1])]
    trees = [_tree_from(root, cost, spread, length, noise) for root in named[:1] or range(len(labels))]
    return min(trees, key=lambda tree: (round(_slack(tree, spread) / noise**2), _depth(tree)))


def _tree_from(root: int, cost: Array, spread: Array, length: Array, noise: float) -> tuple[int, ...]:
    _, before = dijkstra(csr_array(cost), indices=root, return_predecessors=True)
    tree = [-1 if p < 0 else int(p) for p in before]
    for twin, point in enumerate(tree):
        if point >= 0 and length[twin, point] < _SAME:
            _share(tree, point, twin, spread, noise)
    return tuple(tree)


def _share(tree: list[int], point: int, twin: int, spread: Array, noise: float) -> None:
    """Two joints in one place turn separately: what does not move with most of the bones hangs from the second."""
    fan = [c for c, p in enumerate(tree) if p in (point, twin) and c != twin]
    if not fan:
        return
    stiff = spread[np.ix_(fan, fan)] < 3.0 * noise
    most = stiff[np.argmax(stiff.sum(axis=1))]
    for child, along in zip(fan, most, strict=True):
        tree[child] = point if along else twin


def _slack(tree: tuple[int, ...], spread: Array) -> float:
    """How much bones that hang from one joint move against each other."""
    parents = np.array(tree)
    siblings = (parents[:, None] == parents) & (parents[:, None] >= 0)
    return float(np.sum(spread[siblings] ** 2))


def _depth(tree: tuple[int, ...]) -> int:
    depth = {-1: -1}
    for point in ordered(tree):
        depth[point] = depth[tree[point]] + 1
    return max(depth.values())


def spreads(positions: Float[Array, "T P 3"]) -> tuple[Float[Array, "P P"], Float[Array, "P P"]]:
    """Standard deviation and median of the distance between any two points, over frames in which both were seen."""
    count = max(20, min(_FRAMES, 4_000_000 // positions.shape[1] ** 2))
    some = positions[np.unique(np.linspace(0, len(positions) - 1, count).astype(int))]
    apart = np.linalg.norm(some[:, :, None] - some[:, None], axis=-1)  # (t, P, P)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # pairs that were never seen together are NaN
        return np.nanstd(apart, axis=0), np.nanmedian(apart, axis=0)


def is_dog(positions: Float[Array, "T P 3"]) -> bool:
    """Whether these are the 27 joints of the dog recordings: the known bones keep their lengths, left like right."""
    if positions.shape[1] != len(DOG_NAMES):
        return False
    spread, length = spreads(positions)
    child = np.arange(1, len(DOG_NAMES))
    parent = np.array(DOG_PARENTS[1:])
    bones = length[child, parent]
    twins = [DOG_NAMES.index(_other(name)) - 1 for name in DOG_NAMES[1:]]
    alike = np.abs(bones - bones[twins]) < 2 * _RIGID
    return bool(np.all(spread[child, parent] < _RIGID) and np.all(alike) and bones[0] < _RIGID)


def _other(name: str) -> str:
    if name.startswith("Left"):
        return "Right" + name[4:]
    return "Left" + name[5:] if name.startswith("Right") else name


def ordered(parents: Sequence[int]) -> list[int]:
    """The points in an order in which every parent comes before its children, otherwise as they are."""
    roots = [i for i, p in enumerate(parents) if p == -1]
    if len(roots) != 1 or any(not -1 <= p < len(parents) for p in parents):
        raise MotionError("A tree of points has one root, whose parent is -1, and every other parent is a point.")
    if all(p < i for i, p in enumerate(parents)):
        return list(range(len(parents)))
    order, children = [], {i: [j for j, p in enumerate(parents) if p == i] for i in range(len(parents))}
    waiting = roots
    while waiting:
        point = waiting.pop(0)
        order.append(point)
        waiting = children[point] + waiting
    if len(order) < len(parents):
        loose = next(i for i in range(len(parents)) if i not in order)
        raise MotionError(f"Point {loose} hangs in a loop of parents; each must lead to the root.")
    return order


def as_parents(labels: Sequence[str], parents: Sequence[int] | dict[str, str | None] | Array) -> tuple[int, ...]:
    """Parents as numbers, from numbers or from {'LeftLeg': 'LeftUpLeg', …, 'Hips': None}."""
    if not isinstance(parents, dict):
        if len(parents) != len(labels):
            raise MotionError(f"There are {len(parents)} parents for {len(labels)} points.")
        return tuple(int(p) for p in parents)
    unknown = [name for name in (*parents, *parents.values()) if name is not None and name not in labels]
    missing = [label for label in labels if label not in parents]
    if unknown or missing:
        raise MotionError(
            f"The tree must name every point and no other; wrong or missing: {', '.join(unknown + missing)}."
        )
    return tuple(-1 if (p := parents[label]) is None else list(labels).index(p) for label in labels)
