"""A walker on the live page: how much faster than real time it runs, and what being a pure controller costs."""

from __future__ import annotations

from benchmarks.timing import Row, median_seconds
from jostle.assets import walker_path
from jostle.controllers import NEUTRAL, Start
from jostle.controllers.walker.walk import Walk
from jostle.controllers.walker.walker import SUBSTEPS, Walker
from jostle.runtime import load_controller

SECOND = 60  # steps


def rows() -> list[Row]:
    walker = load_controller(walker_path("stocky"))
    assert isinstance(walker, Walker)
    start = walker.init(Start())
    ours = median_seconds(lambda: _walk(walker, start))
    bare = Walk(walker.physics, 1, walker.machine, 1)
    bare.start(walker.values[None])
    plain = median_seconds(lambda: [bare.step() for _ in range(SECOND * SUBSTEPS)], repeats=3)
    job = "a second of a walker as a controller"
    return [Row(job, ours, "real time", 1.0), Row(job, ours, "the batched controller alone", plain)]


def _walk(walker: Walker, state: object) -> None:
    for _ in range(SECOND):
        state = walker.step(state, NEUTRAL)  # type: ignore[arg-type]
