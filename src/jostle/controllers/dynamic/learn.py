"""A responsive character from clips: nothing to align, to label or to choose.

1. One clip shows the normal motion: the first that nobody was pushed in. Some cycles of it are enough.
2. Pushed clips begin shortly before the push and end when the normal motion is reached again. Where nobody recorded the
   forces, they are estimated (`estimate`).
3. Each is laid onto the normal motion (`align`), and all become one latent space (`models.responsive`) with as many
   dimensions as they need: those that hold `HELD` of the variance.
4. Where there are many clips they are shared out among several models (`grouping`), each with the normal motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from jostle.body import Body, build_body
from jostle.clips import Clip
from jostle.clips.cycle import find_cycle
from jostle.clips.edit import trim_frames
from jostle.controllers.dynamic.align import headings
from jostle.controllers.dynamic.dynamic import Dynamic
from jostle.controllers.dynamic.estimate import estimate_pushes, nearest
from jostle.controllers.dynamic.grouping import share_out
from jostle.controllers.dynamic.responses import Given, Responses
from jostle.controllers.protocol import Push
from jostle.errors import MotionError
from jostle.features.bodies import FPS, BodyFeatures
from jostle.features.features import fitted
from jostle.maths import quat
from jostle.models.learn import Watch
from jostle.models.responsive import fit_responsive
from jostle.types import Array, Float

PACE = 1.0  # seconds: how much velocities count, beside metres
HELD = 0.985
LEAST_LATENT, MOST_LATENT = 3, 8
NORMAL = 4.6  # seconds of the normal motion, at most; as many whole cycles as go into it
BEFORE = 0.4  # seconds of a pushed clip before its push
AFTER = 1.0, 3.0  # seconds after its last push, at least and at most
_STAYS = 0.3  # metres: who never goes farther than this from where they began stands
_BESIDE = 8  # frames that are the same place of the normal motion
_BACK = 0.3  # seconds for which a clip must be as near to the normal motion as that is to itself


@dataclass(frozen=True, eq=False)
class Example:
    """A clip, and the pushes that were given in it."""

    clip: Clip
    pushes: tuple[tuple[float, Push], ...] = ()  # seconds since its first frame; forces in its own world


def fit_dynamic(
    examples: Sequence[Example],
    *,
    latent: int | None = None,
    groups: int | None = None,
    iterations: int = 60,
    title: str = "dynamic",
    seed: int = 0,
    watch: Watch | None = None,
) -> Dynamic:
    """`latent` dimensions and `groups` of clips are found, unless they are given."""
    normal, pushed, notes = _sorted(examples)
    clips = [normal.clip, *(example.clip for example in pushed)]
    skeleton = normal.clip.skeleton
    given = [fitted(clip, skeleton, FPS) for clip in clips]
    body = build_body(skeleton)
    ways = headings(given, 0, FPS)
    features = BodyFeatures.of(given, "clip", pace=PACE)
    base = _cycles(given[0])
    usual = features.encode(base, ways[0])
    parts: list[Clip] = [base]
    pushes: list[tuple[Given, ...]] = [()]
    for example, clip, way in zip(pushed, given[1:], ways[1:], strict=True):
        first, stop = _span(example, features.encode(clip, way), usual)
        parts.append(trim_frames(clip, first, stop))
        turn = quat.from_yaw(-way)
        pushes.append(
            tuple(
                Given(time - first / FPS, push.duration, body.part(push.part), quat.apply(turn, push.force), push.point)
                for time, push in example.pushes
            )
        )
    rows = [features.encode(part, way) for part, way in zip(parts, ways, strict=True)]
    shares = share_out(pushes[1:], rows[0], rows[1:], groups)
    models = []
    for share, looking in zip(shares, (watch or Watch()).shared(len(shares)), strict=True):
        chosen = [0, *(1 + i for i in share)]
        model = fit_responsive(
            [parts[i] for i in chosen], latent=latent or _latent([rows[i] for i in chosen]), normal=0, frame="clip",
            headings=[ways[i] for i in chosen], pace=PACE, iterations=iterations, seed=seed, watch=looking,
        )  # fmt: skip
        model = replace(model, notes=(*model.notes, *notes))
        models.append(Responses(model, 0, tuple(pushes[i] for i in chosen)))
    return Dynamic(tuple(models), title, tuple(clips))


def _sorted(examples: Sequence[Example]) -> tuple[Example, list[Example], list[str]]:
    """The normal motion, the pushed clips, and what is to be said about them."""
    silent = [example for example in examples if not example.pushes]
    if not silent:
        raise MotionError("Somebody is pushed in every clip; give one of the normal motion as well.")
    if len(silent) == 1:
        normal = silent[0]
    else:
        normal = next((one for one in silent if not estimate_pushes(one.clip, build_body(one.clip.skeleton))), None)
    if normal is None:
        raise MotionError("Somebody seems to be pushed in every clip; give one of the normal motion as well.")
    body, notes = build_body(normal.clip.skeleton), list[str]()
    every = [_heard(example, normal, body, notes) for example in examples if example is not normal]
    pushed = [example for example in every if example.pushes]
    if not pushed:
        raise MotionError(
            "Nobody is pushed in any clip, as far as can be seen; give at least one push, with its force in a .json "
            "beside it if it is weak."
        )
    return normal, pushed, notes


def _heard(example: Example, normal: Example, body: Body, notes: list[str]) -> Example:
    """With its pushes, estimated where none are recorded."""
    if example.pushes:
        return example
    name, found = example.clip.name, estimate_pushes(example.clip, body, normal.clip)
    if found:
        each = ", ".join(f"{np.linalg.norm(push.impulse):.0f} N s at {time:.1f} s" for time, push in found)
        notes.append(f"Nobody recorded the pushes in clip '{name}'; they are estimated: {each}.")
    else:
        notes.append(f"Clip '{name}' is left out: no push is seen in it.")
    return replace(example, pushes=found)


def _cycles(clip: Clip) -> Clip:
    """Some whole cycles, and the frames that lead into them; of a motion without any, its beginning.

    Somebody who stands is shown there and back in time, for what ends elsewhere than it began would be a slow walk.
    """
    most = int(NORMAL * clip.fps)
    try:
        length = round(find_cycle(clip).period * clip.fps)
    except MotionError:
        if np.max(np.linalg.norm(clip.root[:, :2] - clip.root[0, :2], axis=1)) > _STAYS:
            return trim_frames(clip, 0, min(most, clip.frame_count))
        count = min(most // 2, clip.frame_count)
        return _frames(clip, [*range(count), *range(count - 2, 0, -1), 0, 1, 2])
    count = max(1, most // length)
    first = min(length, max(0, clip.frame_count - count * length - 3))
    return trim_frames(clip, first, min(clip.frame_count, first + count * length + 3))


def _frames(clip: Clip, which: list[int]) -> Clip:
    return replace(
        clip,
        root=clip.root[which],
        wxyz=clip.wxyz[which],
        offsets=None if clip.offsets is None else clip.offsets[which],
    )


def _span(example: Example, rows: Float[Array, "T D"], usual: Float[Array, "N D"]) -> tuple[int, int]:
    """The frames of a pushed clip that say something new."""
    onset = min(time for time, _ in example.pushes)
    end = max(time + push.duration for time, push in example.pushes)
    if onset < 0 or onset * FPS >= len(rows) - 4:
        raise MotionError(f"Clip '{example.clip.name}' is pushed at {onset:.2f} s, when it is over.")
    first = max(0, int((onset - BEFORE) * FPS))
    least, most = (min(len(rows), int((end + seconds) * FPS)) for seconds in AFTER)
    own, _ = nearest(usual, usual, np.arange(len(usual)), _BESIDE)
    near = nearest(rows, usual)[0] <= 1.5 * float(np.quantile(own, 0.9))
    wait = int(_BACK * FPS)
    back = (t for t in range(least, most) if np.all(near[max(0, t - wait) : t]))
    return first, next(back, most)


def _latent(rows: Sequence[Float[Array, "_ D"]]) -> int:
    """As many dimensions as hold nearly all of the variance."""
    stacked = np.concatenate(rows)
    power = np.linalg.svd(stacked - stacked.mean(axis=0), compute_uv=False) ** 2
    share = np.cumsum(power) / np.sum(power)
    return int(np.clip(np.searchsorted(share, HELD) + 1, LEAST_LATENT, MOST_LATENT))
