"""How often does a change of walker in mid-stride end in a fall? Wang 2010, section 4.4.5.

A trial is seven seconds: one walker walks, another takes over at a random time between one and two seconds, and whoever
still walks at the end has passed. Beside the transition controller stands the plain switch to the walker that it was
made from. A transition is called after both walkers: `brisk_to_stroll`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle.controllers.walker.handover import left_off
from jostle.controllers.walker.parameters import BASE, GUIDED, REACTIVE, recast
from jostle.errors import CommandError
from jostle.evaluate.robustness.success import HELD_OUT
from jostle.evaluate.walk.march import March
from jostle.evaluate.walk.subjects import REPORTED, Subject
from jostle.tuning.chance import Chance, switch_times
from jostle.types import Array, Bool, Float

SECONDS = 7.0


def transition_failures(
    first: Subject, second: Subject, trials: int, seed: int = 0, timestep: float = REPORTED
) -> dict[str, Any]:
    """The share of trials that end in a fall when `second` takes over from `first`, with its recovery and without."""
    kinds = {"with": second} if second.machine != REACTIVE.kind else {"with": second, "direct": plain(second)}
    times = switch_times(Chance(trials=trials), (HELD_OUT, seed))
    shares = {kind: float(np.mean(~switched(first, own, times, timestep))) for kind, own in kinds.items()}
    return {"walker": second.name, "from": first.name, "failures": shares, "trials": trials}


def plain(subject: Subject) -> Subject:
    """The walker that a reactive one was made from."""
    values = np.array([subject.values[REACTIVE.index[BASE + name]] for name in GUIDED.names])
    return Subject(subject.name, subject.person, GUIDED.kind, values, subject.ground)


def switched(first: Subject, second: Subject, times: Float[Array, "n"], timestep: float = REPORTED) -> Bool[Array, "n"]:
    """Who still walks at the end."""
    if first.person != second.person:
        raise CommandError(f"'{second.name}' cannot take over from '{first.name}': they have different bodies.")
    before = guided(first)
    begun = left_off(before.walk(len(times), timestep), before.values, times, first.person.fallen)
    march = March(second.walk(len(times), timestep), second.copies(len(times)), second.person.fallen, begun)
    ends = np.round((SECONDS - times) / timestep).astype(int)
    passed = np.zeros(len(times), bool)
    for k in range(int(ends.max()) + 1):
        passed |= march.walking & (ends == k)
        march.step()
        if not len(march.walk.rows):
            break
    return passed


def guided(subject: Subject) -> Subject:
    """As a guided walker, which is what others take over from."""
    values = recast(subject.name, subject.machine, subject.values, GUIDED)
    return Subject(subject.name, subject.person, GUIDED.kind, values, subject.ground)
