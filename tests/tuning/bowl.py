"""A stand-in for walking, so that runs are tested in milliseconds: a cost that is a bowl in the optimiser's units."""

import numpy as np

from jostle.controllers.walker.parameters import SPACES
from jostle.tuning.goal import WEIGHTS
from jostle.tuning.journal import SEEN
from jostle.tuning.trials import Job, Outcome


class Bowl:
    """Who is nearer than `reach` to the bottom walks for as long as it is asked; the bottom moves with the slope."""

    def __init__(self, reach: float = np.inf) -> None:
        self.reach = reach
        self.calls: list[tuple[Job, np.ndarray]] = []

    def score(self, job: Job, values: np.ndarray) -> Outcome:
        self.calls.append((job, values))
        space = SPACES[job.machine]
        away = space.encode(values) - space.encode(space.initial) - 10.0 * job.ground.slope
        cost = np.square(away).sum(axis=1) + job.seconds
        survived = (np.sqrt(cost - job.seconds) < self.reach).astype(float)
        terms = {name: np.zeros(len(values)) for name in WEIGHTS["energy"]} | {"ratio": cost}
        seen = {name: np.zeros(len(values)) for name in SEEN if name not in ("speed", "drift", "climb", "hip", "knee")}
        seen |= {"velocity": np.zeros((len(values), 3)), "ratio": np.zeros((len(values), 3))}
        del seen["ankle"]
        return Outcome(cost, terms, seen | {"seconds": job.seconds * survived}, survived)
