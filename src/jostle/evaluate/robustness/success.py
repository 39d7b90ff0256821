"""How often does a walker get through what may happen? Figures 4.3, 4.4 and 4.6 of Wang 2010.

A trial is ten seconds in a world drawn by chance; it is passed by who has not fallen in them. The fates of a walker
are drawn anew, never those that it was made with, and are the same for every walker.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle.controllers.walker.trace import rollout
from jostle.evaluate.walk.march import March
from jostle.evaluate.walk.subjects import REPORTED, Subject
from jostle.tuning.chance import Chance, Fates, grounds
from jostle.tuning.returns import SPILLS, mug_tilt
from jostle.types import Array, Bool

SECONDS = 10.0
HELD_OUT = 4_1976  # begins the seeds of these fates, so that no recipe has them


def survived(
    subject: Subject, chance: Chance, seed: int = 0, seconds: float = SECONDS, timestep: float = REPORTED
) -> Bool[Array, "trials"]:
    """Which of its trials a walker gets through."""
    count = chance.trials
    fates = Fates(chance, (HELD_OUT, seed), seconds, timestep, count)
    walk = subject.walk(count, timestep)
    if chance.lays_ground:
        walk.lay_ground(*grounds(chance, (HELD_OUT, seed), subject.ground))
    march = March(walk, subject.copies(count), subject.person.fallen)
    for k in range(round(seconds / timestep)):
        fates(march.walk, k)
        march.step()
        if not len(march.walk.rows):
            break
    return march.walking


def success_rate(
    subject: Subject, chance: Chance, seed: int = 0, seconds: float = SECONDS, timestep: float = REPORTED
) -> dict[str, Any]:
    """The share of its trials, and the standard error of such a share."""
    share = float(np.mean(survived(subject, chance, seed, seconds, timestep)))
    return {"walker": subject.name, "success": share, "error": float(np.sqrt(share * (1.0 - share) / chance.trials))}


def carried(
    subject: Subject, chance: Chance, seed: int = 0, seconds: float = SECONDS, timestep: float = REPORTED
) -> dict[str, Any]:
    """The share of trials in which a mug in the right hand is never tilted too far, and how far it ever is; radians.

    Who falls has spilt.
    """
    fates = Fates(chance, (HELD_OUT, seed), seconds, timestep, chance.trials)
    walk = subject.walk(chance.trials, timestep)
    trace = rollout(walk, subject.copies(chance.trials), seconds, subject.person.fallen, happens=fates)
    tilt = (mug_tilt(trace) * trace.walked).max(axis=0)
    whole = (tilt <= SPILLS) & (trace.steps == len(trace.phase))
    return {"walker": subject.name, "kept": float(np.mean(whole)), "tilt": float(np.mean(tilt))}
