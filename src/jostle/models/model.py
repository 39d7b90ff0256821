"""What every motion model can do, whichever paper it is from."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from jostle.clips import Clip
from jostle.features import Features, Placement
from jostle.skeleton import Pose
from jostle.types import Array, Float


@runtime_checkable
class MotionModel(Protocol):
    """A distribution over motions with a latent space of Q dimensions.

    Models are frozen dataclasses made by a `fit_...` function of their module; `jostle.fit` finds that by name.
    `latent_rows` are where the training frames lie, `lengths` how many of them belong to each clip. `notes` say in
    sentences what learning had to do (jitter, an early stop).
    """

    @property
    def kind(self) -> str: ...

    @property
    def features(self) -> Features: ...

    @property
    def latent_rows(self) -> Float[Array, "N Q"]: ...

    @property
    def lengths(self) -> tuple[int, ...]: ...

    @property
    def notes(self) -> tuple[str, ...]: ...

    def latent(self, clip: Clip) -> Float[Array, "T Q"]:
        """Where a clip's frames lie: through the back constraint, or by optimisation where a model has none."""
        ...

    def pose(self, x: Float[Array, "*b Q"]) -> Pose:
        """The most likely pose, standing at the origin and facing along X."""
        ...

    def variance(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b"]:
        """How unsure the model is of the pose there, in units of its own scaled features."""
        ...

    def log_likelihood(self, clip: Clip) -> float:
        """ln p of a clip's features given the training data, at its latent positions; with every constant."""
        ...

    def predict(self, start: Clip, frames: int) -> Clip:
        """So many frames that continue a clip."""
        ...

    def rollout(self, start: Float[Array, "T Q"], frames: int) -> Float[Array, "frames Q"]:
        """Where the mean of the dynamics goes on to from these latent positions; those of a clip are a start."""
        ...

    def motion(self, x: Float[Array, "T Q"], at: Placement = ...) -> Clip:
        """The most likely clip along these latent positions; its first frame stands at the placement."""
        ...

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """What JSON can say, and arrays, for a bundle; the class's `unpack` is the inverse."""
        ...
