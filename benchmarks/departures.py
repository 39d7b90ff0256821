"""What each departure of `dynamic` from its paper buys: python -m benchmarks.departures

Three shipped examples; each line takes one departure back. Centimetres of training and of held-out pushes (medians, as
`evaluate response` has them), and of random pushes the share that recovers and the slide of planted feet.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np

from jostle.controllers.dynamic import align, deform, dynamic, flow, learn, responses
from jostle.controllers.dynamic.dynamic import Dynamic
from jostle.controllers.dynamic.responses import Responses
from jostle.evaluate.response import cases, runs
from jostle.features.bodies import PACE, travel

WILD = 40


def main() -> None:
    examples, held = [cases.shipped()[i] for i in cases.THREE], cases.shipped(held_out=True)
    print(f"{'taken back':44} {'training':>9} {'held out':>9} {'recovered':>10} {'slide':>6}")
    for name, changed in _variants():
        with changed as person:
            off = [_missed(person, examples), _missed(person, held)]
            wild = runs.Wild(person, cases.normal_walk())
            ran = [wild.run(seed) for seed in range(WILD)]
        back = 100.0 * float(np.mean([row["recovered"] for row in ran]))
        slide = float(np.median([row["slide_cm"] for row in ran]))
        print(f"{name:44} {off[0]:6.1f} cm {off[1]:6.1f} cm {back:8.0f} % {slide:6.2f}", flush=True)


def _missed(person: Dynamic, known: list[cases.Case]) -> float:
    paths = [cases.path_of(person, cases.answered(person, case), case.way) for case in known]
    pairs = zip(paths, known, strict=True)
    return float(np.median([cases.miss(path, case.truth(person.body)) for path, case in pairs]))


def _variants() -> Iterator[tuple[str, Any]]:
    usual = _learnt()
    yield "nothing", _with(usual)
    yield "laid onto the normal motion", _learning((learn, "headings", _travels))
    yield "velocities that count, three dimensions", _learning((learn, "PACE", PACE), (learn, "MOST_LATENT", 3))
    yield "three dimensions", _learning((learn, "MOST_LATENT", 3))
    yield "no push in the targets", _with(usual, (Responses, "forced", _unforced()))
    yield "noisier dynamics", _with(usual, (flow, "NOISY", 1.0))
    yield "beside the nearest pair where lost", _with(usual, (flow, "KEPT", 0.0))
    yield "called home", _with(usual, (dynamic, "CALL", 0.0))
    yield "what the position cannot say", _with(usual, (dynamic, "RELAX", 1e-3), (dynamic, "DRIFT", 1e-3))
    yield "tension", _with(usual, (deform.Deformer.__init__, "__defaults__", (0.0, deform.HOLD)))
    yield "held feet", _with(usual, (responses, "HELD", 0.0))


def _learnt() -> Dynamic:
    known = cases.shipped()
    given = [learn.Example(cases.normal_walk()), *(cases.learnt_from(known[i]) for i in cases.THREE)]
    return learn.fit_dynamic(given)


def _fresh(person: Dynamic) -> Dynamic:
    """With nothing computed yet."""
    return replace(person, models=tuple(Responses(m.model, m.normal, m.pushes) for m in person.models))


@contextmanager
def _with(person: Dynamic, *changes: tuple[Any, str, Any]) -> Iterator[Dynamic]:
    patches = [mock.patch.object(*change) for change in changes]
    for patch in patches:
        patch.start()
    try:
        yield _fresh(person)
    finally:
        for patch in patches:
            patch.stop()


@contextmanager
def _learning(*changes: tuple[Any, str, Any]) -> Iterator[Dynamic]:
    """Learnt anew under the changes; used without them, but for those that also hold then."""
    patches = [mock.patch.object(*change) for change in changes]
    for patch in patches:
        patch.start()
    try:
        yield _learnt()
    finally:
        for patch in patches:
            patch.stop()


def _unforced() -> property:
    return property(lambda self: np.zeros_like(self.model.poses.x))


def _travels(clips: list, normal: int, fps: float) -> list[float]:
    return [travel(clip) for clip in clips]


if __name__ == "__main__":
    assert align.headings is learn.headings
    main()
