"""Serving a push: which recorded response, turned by how much, bent by which impulse (section 4).

Two choices, neither of them the paper's oracle yet: the nearest configuration, which is the paper's baseline, and the
nearest of those responses that go within `WITHIN` of the asked way. Where none does, it is the one that goes most
nearly that way. What is missing after that is told as `Served.miss`, never hidden.

F, what a response must be bent by to give the pushed joint the velocity that is asked for, needs no learning. Once the
response is turned, its joint gains R v, so that

    m = v_asked - R v_recorded                                                                              (2)

cut to `MOST`. An impulse hardly changes where a body goes (see `offset`), so the response is turned first, as far as
`TURN` allows: by 20 degrees standing feet would slide 7 cm, which `lock` can hold. Who walks is not turned, for it is
the walk that would turn: by 20 degrees it goes 22 cm aside in half a second, to no matter which side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.controllers.graph.reel import Place, Reel, fit_place, likes
from jostle.controllers.graph.responses import Response
from jostle.maths import quat
from jostle.maths.angles import wrapped
from jostle.types import Array, Float, Int

WITHIN = np.radians(60.0)
TURN = np.radians(20.0)
WALKING = 0.5  # metres a second: who goes as fast as this is not turned
MOST = 1.0  # metres a second
CHOICES = ("filtered", "nearest")


@dataclass(frozen=True, eq=False)
class Served:
    number: int  # of the response
    place: Place  # where it is played
    m: Float[Array, "3"]
    apart: float  # metres, of configurations
    miss: float  # radians between the asked way and that in which the turned response goes
    short: float  # metres a second of what is asked for that m may not give


def serve(
    reel: Reel,
    responses: Sequence[Response],
    onsets: Int[Array, "R"],
    positions: Float[Array, "J 3"],
    velocity: Float[Array, "J 3"],
    wanted: Float[Array, "3"],
    choice: str = "filtered",
) -> Served:
    """For a body in this configuration whose pushed joint is to gain `wanted` metres a second."""
    apart = likes(positions[None], velocity[None]).apart(reel.likes.rows(onsets))[0]
    feet = [joint for joints in reel.feet for joint in joints]
    places = fit_place(positions[feet], reel.positions[onsets][:, feet], velocity, reel.velocity[onsets])
    asked = float(np.arctan2(wanted[1], wanted[0]))
    ways = np.array([place.yaw + response.way for place, response in zip(places, responses, strict=True)])
    off = wrapped(asked - ways)
    number = _chosen(apart, np.abs(off), choice)
    most = turn_of(velocity)
    turn = float(np.clip(off[number], -most, most))
    place = places[number].turned(turn, positions[feet, :2].mean(axis=0))
    m = wanted - quat.apply(quat.from_yaw(place.yaw), responses[number].gained)  # (2)
    size = float(np.linalg.norm(m))
    cut = min(1.0, MOST / max(size, 1e-9))
    return Served(number, place, cut * m, float(apart[number]), abs(float(off[number]) - turn), size * (1.0 - cut))


def turn_of(velocity: Float[Array, "J 3"]) -> float:
    """By how much a response may be turned for a body that moves like this, in radians."""
    return TURN * max(0.0, 1.0 - float(np.linalg.norm(velocity.mean(axis=0))) / WALKING)


def _chosen(apart: Float[Array, "R"], off: Float[Array, "R"], choice: str) -> int:
    if choice == "nearest":
        return int(np.argmin(apart))
    if np.any(off <= WITHIN):
        return int(np.argmin(np.where(off <= WITHIN, apart, np.inf)))
    return int(np.argmin(off))
