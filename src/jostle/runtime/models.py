"""A motion model in a bundle: the same numbers when it comes back, and where it came from.

What is kept is what cannot be computed again: latent positions, hyperparameters, training features. Opened as a
character, such a bundle plays the model's mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jostle.errors import BundleError
from jostle.runtime.bundle import Bundle, Source, load_bundle, revive, save_bundle
from jostle.types import PathLike

if TYPE_CHECKING:
    from jostle.models import MotionModel


def save_model(model: MotionModel, path: PathLike) -> None:
    """With the names and hashes of the clips it was fitted to, its seed and its options."""
    from jostle.controllers.rollout import Rollout
    from jostle.models.fit import origin

    data, arrays = Rollout(model).pack()
    came = origin(model)
    sources = tuple(Source(name, sha256) for name, sha256 in came.clips)
    save_bundle(Bundle(Rollout.kind, data, arrays, came.seed, dict(came.options), sources), path)


def load_model(path: PathLike) -> MotionModel:
    """The model inside a bundle."""
    bundle = load_bundle(path)
    if bundle.kind != "model":
        raise BundleError(path, f"it holds a '{bundle.kind}', not a motion model; `jostle view` runs it.")
    from jostle.models.fit import Origin, remember

    model = revive(bundle, path).model
    remember(model, Origin(tuple((s.name, s.sha256) for s in bundle.sources), bundle.seed, bundle.recipe))
    return model
