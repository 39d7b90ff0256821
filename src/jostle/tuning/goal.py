"""What a walk is scored for: which objective, what is asked, and with which weights.

Three objectives stand beside each other. `energy` is that of Wang 2010, chapter 3, for a walk that nothing disturbs
(objective.py); `return` that of chapter 4, for a world that is not known, and `recovery` what its recovery controllers
are made for: to be needed as little as possible (returns.py). The weights are the thesis's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from jostle.errors import CommandError, unknown_name

_OURS = {"stance": 0.0, "swing": 0.0, "foot": 0.0}  # our own terms, off by default
WEIGHTS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "energy": {
            "user": 100.0, "vel": 100.0, "land": 1.2, "fail": 120000.0, "sym": 100.0, "ang": 10.0, "head": 100.0,
            "power": 1e-5, "ratio": 1.0, **_OURS,
        },
        "return": {
            "user": 1.0, "step": 1.0, "facing": 1.0, "ang": 1.0, "head": 1.0, "land": 1.0, "fail": 1.0,
            "power": 1e-5, "ratio": 5.0, "spill": 0.0, **_OURS,
        },
        "recovery": {"recover": 1.0, "fail": 1.0},
    }
)  # fmt: skip
USUAL_MASS = {"energy": 70.0, "return": 200.0}  # kilograms: the weight of power, where it has one, is for this mass
TERMS = tuple(dict.fromkeys(name for weights in WEIGHTS.values() for name in weights))


@dataclass(frozen=True)
class Goal:
    """Without a speed the cost of transport is minimised, or the return asks for a person's steps."""

    speed: float | None = None  # m/s
    step: float | None = None  # m
    weights: Mapping[str, float] = field(default_factory=dict)  # those that differ from WEIGHTS
    fastest: bool = False  # 1 / v_x in place of the power term (section 3.4)
    objective: str = "energy"

    def __post_init__(self) -> None:
        for name in self.weights:
            if name not in WEIGHTS[self.objective]:
                raise CommandError(unknown_name("term of the objective", name, WEIGHTS[self.objective]))


def weights_of(goal: Goal, mass: float) -> dict[str, float]:
    """w_s of (3.17), w_p and w_r of (4.4), for a body of this mass in kilograms."""
    weights = {**WEIGHTS[goal.objective], **goal.weights}
    if "power" in weights and not goal.fastest:
        weights["power"] *= USUAL_MASS[goal.objective] / mass
    return weights
