"""Which ways of moving a clip hardly actuates: Ye & Liu 2008, section 4.1.

Inverse dynamics of one cycle gives the torques U at the joints of the upper body; what legs and ground do does not
enter them. The eigenvectors of their second moments U U' / N, the strongest first, are the columns of `directions`.
Along the last k of them, the near-unactuated ones, this motion uses next to no torque.

Departures from the paper, each because of what happens without it:

- **Uncentred.** The paper takes principal components, which are of torques about their mean. Their last directions hold
  a mean torque of up to 2 N m, which then is missing in the playback.
- **Hands follow the forearm.** They weigh so little that they would be all of the last ten directions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.body import Physics, inverse_dynamics
from jostle.clips import Clip
from jostle.clips.cycle import find_cycle
from jostle.clips.edit import trim_frames
from jostle.controllers.compliant.joints import upper_dofs
from jostle.errors import MotionError
from jostle.types import Array, Float, Int

GONE = 3e-3  # of the strongest direction's root mean square torque: below it a direction is near-unactuated
FEWEST = 4
NEAR = 10  # the paper's k, of 24
_SHORT = 20  # frames of which torques can be told


@dataclass(frozen=True, eq=False)
class Actuation:
    """The torques of a motion's upper body."""

    dofs: Int[Array, "D"]  # of the upper body, in qvel
    directions: Float[Array, "D D"]  # columns, the most actuated first
    torques: Float[Array, "D"]  # root mean square along each, N m

    def split(self, k: int) -> tuple[Float[Array, "D K"], Float[Array, "D k"]]:
        """Actuated and near-unactuated directions, so many of the latter."""
        if not 1 <= k < len(self.dofs):
            raise MotionError(
                f"The upper body has {len(self.dofs)} coordinates, so k is 1 to {len(self.dofs) - 1}, not {k}."
            )
        return self.directions[:, :-k], self.directions[:, -k:]

    @property
    def suggested(self) -> int:
        """How many directions are near-unactuated: those with next to none of the strongest one's torque."""
        weak = int(np.sum(self.torques < GONE * self.torques[0]))
        return int(np.clip(weak, FEWEST, len(self.dofs) // 2))

    def pack(self) -> dict[str, Array]:
        return {"dofs": self.dofs, "directions": self.directions, "torques": self.torques}

    @classmethod
    def unpack(cls, arrays: dict[str, Array]) -> Actuation:
        return cls(arrays["dofs"], arrays["directions"], arrays["torques"])


def actuation_of(physics: Physics, clip: Clip, centred: bool = False) -> Actuation:
    """Of one cycle of a clip, or of all of it where nothing repeats itself. `centred` is the paper's."""
    chosen = upper_dofs(physics)
    forces = inverse_dynamics(physics, cycle_of(clip)).forces[:, chosen]
    forces = forces - np.mean(forces, axis=0) if centred else forces
    values, vectors = np.linalg.eigh(forces.T @ forces / len(forces))
    strongest_first = np.argsort(values)[::-1]
    return Actuation(chosen, vectors[:, strongest_first], np.sqrt(np.maximum(values[strongest_first], 0.0)))


def cycle_of(clip: Clip) -> Clip:
    if clip.frame_count < _SHORT:
        raise MotionError(f"Clip '{clip.name}' has {clip.frame_count} frames; torques need at least {_SHORT}.")
    try:
        cycle = find_cycle(clip)
    except MotionError:  # no gait
        return clip
    return trim_frames(clip, cycle.start, cycle.end + 1)
