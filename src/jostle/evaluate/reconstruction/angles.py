"""Rows of joint angles of one clip, learnt; those of another clip of the same person, encoded and decoded.

Angles are Euler angles of every joint but the root, in the order of CMU's own files, at 60 Hz; columns that do not move
in the training clip are left out. An error is the root mean square over all columns and frames, in degrees.

Nothing was chosen on the two clips that are reported: settings are those that were best on average of `CHOSEN_ON`.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jostle import assets
from jostle.clips import Clip, load_clip
from jostle.clips.edit import resample, trim, trim_frames
from jostle.errors import FileError
from jostle.maths import quat
from jostle.models.back_learning import fit_gplvm
from jostle.types import Array, Float

FPS = 60.0
ORDER = "XZY"  # CMU's ZYX, whose Y is up
TRAINED, UNSEEN = "07_01", "07_02"
CHOSEN_ON = (("35_01", "35_02"), ("35_03", "35_04"), ("16_21", "16_15"), ("02_01", "02_02"), ("08_05", "08_11"))
_MOVES = 1e-6  # radians, from the least to the largest
PEER_ITERATIONS = 200

# Q = 10: a map with so many outputs is told apart by more inputs, and each row is met more closely.
WIDE: dict[str, Any] = {"latent": 10, "noise": 0.03, "inputs": 16}


@dataclass(frozen=True, eq=False)
class Pair:
    """Angles to learn and angles to be told, in radians: equal columns."""

    trained: Float[Array, "N D"]
    unseen: Float[Array, "T D"]

    @property
    def turns(self) -> Float[Array, "T D"]:
        """Whole turns by which unseen angles are nearer to the trained ones."""
        return 2.0 * np.pi * np.round((self.unseen - self.trained.mean(axis=0)) / (2.0 * np.pi))


def cmu_pair(folder: Path, trained: str = TRAINED, unseen: str = UNSEEN) -> Pair:
    """Two clips of CMU without their added first frame."""
    paths = [folder / "cmu_bvh" / f"{name}.bvh" for name in (trained, unseen)]
    for path in paths:
        if not path.exists():
            raise FileError(path, "this experiment needs it; name the folder that holds cmu_bvh with --data.")
    return _pair(*(trim_frames(load_clip(path), 1) for path in paths))


def shipped_pair() -> Pair:
    """Five seconds of the shipped walk, and five others."""
    walk = load_clip(assets.clip_path("walk"))
    return _pair(trim(walk, 1.0, 6.0), trim(walk, 10.0, 15.0))


def _pair(trained: Clip, unseen: Clip) -> Pair:
    a, b = (_angles(clip) for clip in (trained, unseen))
    moves = np.ptp(a, axis=0) > _MOVES
    pair = Pair(a[:, moves], b[:, moves])
    return Pair(pair.trained, pair.unseen - pair.turns)


def _angles(clip: Clip) -> Float[Array, "T D"]:
    at = resample(clip, FPS) if clip.fps > FPS else clip
    angles = quat.to_euler(at.wxyz[:, 1:], ORDER)
    return np.unwrap(angles, axis=0).reshape(len(angles), -1)


def degrees(ours: Float[Array, "T D"], theirs: Float[Array, "T D"]) -> float:
    return float(np.degrees(np.sqrt(np.mean((ours - theirs) ** 2))))


def reconstruct(pair: Pair, seed: int) -> dict[str, float]:
    """Our figures beside those of the nearest frame and of principal components."""
    trained, unseen = pair.trained, pair.unseen
    model = fit_gplvm(trained, 3, seed=seed)
    wide = fit_gplvm(trained, **WIDE, seed=seed)
    nearest = trained[np.argmin(np.linalg.norm(unseen[:, None] - trained[None], axis=-1), axis=1)]
    return {
        "back_deg": degrees(model.decode(model.encode(unseen)), unseen),
        "deg": degrees(model.decode(model.seek(unseen)), unseen),
        "back10_deg": degrees(wide.decode(wide.encode(unseen)), unseen),
        "deg10": degrees(wide.decode(wide.seek(unseen)), unseen),
        "trained_deg": degrees(model.decode(model.x), trained),
        "nearest_deg": degrees(nearest, unseen),
        "pca3_deg": degrees(_principal(pair, 3), unseen),
        "pca10_deg": degrees(_principal(pair, 10), unseen),
    }


def _principal(pair: Pair, count: int) -> Float[Array, "T D"]:
    centre = pair.trained.mean(axis=0)
    axes = np.linalg.svd(pair.trained - centre, full_matrices=False)[2][:count]
    return (pair.unseen - centre) @ axes.T @ axes + centre


def cmu_figures(folder: str, seed: int) -> dict[str, float]:
    return reconstruct(cmu_pair(Path(folder)), seed)


def shipped_figures(seed: int) -> dict[str, float]:
    return reconstruct(shipped_pair(), seed)


def has_peer() -> bool:
    return importlib.util.find_spec("GPy") is not None


def peer_figures(folder: str, seed: int, optimised: bool) -> dict[str, float]:
    """GPy's BCGPLVM through its back map, and its GPLVM with every frame optimised, as they come."""
    import GPy  # a peer for latent variable models: installed for development only

    pair = cmu_pair(Path(folder))
    centre = pair.trained.mean(axis=0)
    trained, unseen = pair.trained - centre, pair.unseen - centre
    np.random.seed(seed)  # noqa: NPY002 - GPy draws from the global generator
    back = GPy.models.BCGPLVM(trained, 3)
    back.optimize("lbfgs", max_iters=PEER_ITERATIONS)
    figures = {"gpy_back_deg": degrees(back.predict(_mapped(back, unseen))[0], unseen)}
    if optimised:
        plain = GPy.models.GPLVM(trained, 3, init="PCA")
        plain.optimize("lbfgs", max_iters=PEER_ITERATIONS)
        figures["gpy_deg"] = degrees(plain.predict(np.asarray(plain.infer_newX(unseen, optimize=True)[0]))[0], unseen)
    return figures


def _mapped(back: Any, rows: Float[Array, "T D"]) -> Float[Array, "T 3"]:
    """Through the back map of GPy's BCGPLVM: a kernel or a multi-layer perceptron, as it was built."""
    return np.asarray(back.mapping.f(rows))
