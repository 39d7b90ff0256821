"""A character from clips of normal motion and responses: the motion graph, and where responses join it (section 4).

Normal motion is a graph of its own (`clips.motion_graph`): windows that are alike are jumps, and the largest part in
which every frame can be reached from every other is kept, so nobody comes to a dead end, and nobody enters a response
without a push. A response leaves, once it has settled, at the first frame that is as like a normal one as `ALIKE`, or
where none is at the one most like one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jostle.clips import Clip
from jostle.clips.motion_graph import build_graph
from jostle.controllers.graph.people import People, checked
from jostle.controllers.graph.responses import FPS, Response, mirrored
from jostle.controllers.graph.serve import CHOICES
from jostle.errors import CommandError, MotionError, unknown_name
from jostle.features.features import fitted
from jostle.skeleton import find_roles, is_humanoid

THRESHOLD = 0.08  # metres between windows of the motion graph
MOST_FRAMES = 6000  # of normal motion: distances of all pairs are looked at
ALIKE = 0.03  # metres between configurations


def build_people(
    clips: Sequence[Clip],
    responses: Sequence[Response],
    *,
    threshold: float = THRESHOLD,
    both_sides: bool = True,
    choice: str = "filtered",
) -> People:
    """A character of clips of normal motion and of responses with the same skeleton, each also in the mirror."""
    if choice not in CHOICES:
        raise CommandError(unknown_name("choice", choice, CHOICES))
    if not clips or not responses:
        raise MotionError("A graph needs clips of normal motion and at least one response to a push.")
    skeleton = clips[0].skeleton
    if not is_humanoid(skeleton) or "left_foot" not in find_roles(skeleton):
        raise MotionError(f"Clip '{clips[0].name}' is of no person with two legs; pushes are answered by people only.")
    known = [fitted(clip, skeleton, FPS) for clip in clips]
    if sum(clip.frame_count for clip in known) > MOST_FRAMES:
        raise MotionError(f"More than {MOST_FRAMES / FPS:.0f} s of normal motion are too many; give fewer clips.")
    for response in responses:
        fitted(response.clip, skeleton, FPS)
    if both_sides:
        responses = [*responses, *(mirrored(response) for response in responses)]
    normal = build_graph(known, threshold)
    if not np.any(normal.kept):
        raise MotionError(
            "No part of the normal motion leads back to itself; give clips that are more alike, or a longer one."
        )
    people = People(normal, tuple(responses), (), choice)
    return checked(replace(people, ways_out=ways_out(people)))


def ways_out(people: People) -> tuple[tuple[int, int], ...]:
    """Of each response the frame with which it ends, and the normal frame it goes on as."""
    reel, out = people.reel, []
    onto = np.array([n for n in np.flatnonzero(people.normal.kept) if people.normal.goes_on(int(n))], dtype=np.int64)
    for i, response in enumerate(people.responses):
        first, last = (int(ends[len(people.normal.clips) + i]) for ends in (reel.first, reel.last))
        span = np.arange(min(first + response.settle, last - 1), last)
        apart = reel.likes.rows(span).apart(reel.likes.rows(onto))  # (span, onto)
        best = np.min(apart, axis=1)
        end = int(np.argmax(best <= max(ALIKE, float(best.min()))))
        out.append((int(span[end]), int(onto[np.argmin(apart[end])])))
    return tuple(out)
