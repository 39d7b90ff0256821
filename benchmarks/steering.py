"""How fast walkers can be turned: the controller's frame alone, and with steps to the outside of the turn.

    python -m benchmarks.steering [WALKER.jostle ...]       # shipped walkers where none is named

Each walks straight for three seconds, is asked for 120 degrees to the left or to the right, and has seven seconds for
it beyond the time that the rate needs. It succeeds if it has not fallen and goes where it heads, within 30 degrees.
"""

from __future__ import annotations

import sys

import numpy as np

from jostle.assets import walker_names, walker_path
from jostle.controllers.walker.course import Course
from jostle.controllers.walker.people import walker_physics
from jostle.controllers.walker.walk import Walk
from jostle.controllers.walker.walker import Walker
from jostle.runtime import load_controller

RATES = (0.0, 5.0, 10.0, 20.0, 30.0, 45.0)  # degrees a second; 0: nobody steers
CORNER, NEAR = np.radians(120.0), np.radians(30.0)
STRAIGHT, AFTER = 3.0, 7.0  # seconds
EVERY = 8  # time steps from one look at the course to the next


def turns(walker: Walker) -> np.ndarray:
    """Which turns succeed, (rate, side, with steps to the outside)."""
    cases = [(rate, side, outside) for rate in np.radians(RATES) for side in (1.0, -1.0) for outside in (0.0, 1.0)]
    physics = walker_physics(walker.person, walker.ground)
    walk = Walk(physics, len(cases), walker.machine)
    walk.start(np.tile(walker.values, (len(cases), 1)))
    courses = [Course(0.0) for _ in cases]
    fallen = np.zeros(len(cases), dtype=bool)
    dt = EVERY * walk.dt
    for k in range(round((STRAIGHT + CORNER / np.radians(RATES[1]) + AFTER) / dt)):
        if k * dt >= STRAIGHT:
            for row in walk.rows:
                rate, side, outside = cases[row]
                wish = side * CORNER if rate else None
                courses[row] = courses[row].after(wish, walk.many.com_velocity[row], dt, rate)
                walk.heading[row], walk.veer[row] = courses[row].heading, outside * courses[row].veer
            walk.look()
        for _ in range(EVERY):
            walk.step()
        above = (walk.many.com - walk.pivot)[walk.rows] @ walk.normal[0] / walk.normal[0, 2]
        up = (above > walker.person.fallen) & walk.many.running[walk.rows]
        fallen[walk.rows[~up]] = True
        walk.keep(up)
    way = np.exp(1j * np.array([course.heading for course in courses])).conj() * (walk.many.com_velocity @ [1, 1j, 0])
    return (~fallen & (np.abs(np.angle(way)) < NEAR)).reshape(len(RATES), 2, 2)


def main(names: list[str]) -> None:
    paths = names or [walker_path(name) for name in walker_names()]
    every = []
    for path in paths:
        walker = load_controller(path)
        assert isinstance(walker, Walker)
        every.append(turns(walker))
        outside = every[-1][..., 1].sum(axis=1)
        print(f"{walker.title}: " + ", ".join(f"{n} of 2 at {r:g}" for r, n in zip(RATES, outside, strict=True)))
    table, count = np.sum(every, axis=(0, 2)), 2 * len(every)
    print("\n| turning at | frame alone | with steps to the outside |\n|---|---|---|")
    for rate, (alone, outside) in zip(RATES, table.tolist(), strict=True):
        print(f"| {rate:g} °/s | {alone} of {count} | {outside} of {count} |")


if __name__ == "__main__":
    main(sys.argv[1:])
