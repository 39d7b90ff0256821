"""The connected GPLVM of Levine et al. 2012, learnt: section 4.3.

Latent positions X and hyperparameters maximise (4),

    L_Y + L_Ydot + Phi_D(X) + Phi_C(X) + ln p(alpha) + ln p(beta),

poses given positions, velocities given two consecutive positions, second-order dynamics, the wish that all examples can
be reached from each other, and 1/alpha_i as the prior of a hyperparameter. What is minimised is its negative without
the constants (N P + N' V + N'' Q + S Q)/2 ln(2 pi) of the Gaussians and that of the priors, which are improper.

Departures, and why:

- W and W_Ydot are put in at their best, w_k^2 = N / y_k' K^-1 y_k, instead of being searched for, but at most as
  large as if the channel moved by `STILL_POSE` or `STILL_VELOCITY`: that of a constant one would be infinite.
- alpha_1 and beta_1 stay at 1. They and W say the same thing twice, and with W at its best the priors 1/alpha_1 and
  1/beta_1 would grow without end towards 0.
- No hyperparameter is less than 0.01. Unbounded, widths and noise go towards 0 together, 1e-8 and beyond: a polynomial
  of huge amplitude, whose variance double precision cannot tell from 0 anywhere. Held-out poses of the same actor lose
  nothing by the bound (5.0 degrees for 5.0), turns of the root gain half (0.84 rad/s missed for 1.5), and variance
  tells a turn that was never seen (28 times that of the data, for 2).
- Rounds of L-BFGS begin at principal components of the raw poses from which most of each clip's own mean is taken, so
  that clips begin on top of each other; where they begin apart, the prior of connectivity alone does not bring them
  together.
- Velocities are not centred: zero is what standing still has.
- Above `sparse.EXACT` frames the three Gaussian processes are sparse, and connectivity is of `NODES` frames spread over
  the clips, weighted by N / NODES: exactly it grows with N^2 while likelihoods grow with N, and the paper's balance is
  one of some hundred frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from jostle.clips import Clip
from jostle.errors import MotionError
from jostle.features.quaternions import QuaternionFeatures
from jostle.models import kernels, sparse
from jostle.models.checks import check_clips, check_latent
from jostle.models.connected_model import GAMMA, STILL_POSE, STILL_VELOCITY, Connected
from jostle.models.diffusion import BETA, connectivity, softness
from jostle.models.learn import Watch, minimise
from jostle.models.sequences import beginnings, slices, transitions
from jostle.types import Array, Float, Int

ITERATIONS = 250
NODES = 500  # frames between which connectivity is asked for, at most
_OWN_MEAN = 0.2  # how much of what sets a clip's mean pose apart is left at the start
SHARPEST = 1e3  # the most that any hyperparameter may be
_BOUNDS = (np.log(0.01), np.log(SHARPEST))


@dataclass(frozen=True)
class ConnectedObjective:
    """Minus (4). Parameters: x (N, Q), log_alpha of alpha_2 and alpha_3, log_beta of beta_2, beta_3 and beta_4."""

    q: int
    w_c: float
    share: float = 1.0  # how many pairs of frames a pair of nodes stands for, divided by how many frames a node does
    beta: float = BETA

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        X, alpha, beta = params["x"], jnp.exp(params["log_alpha"]), jnp.exp(params["log_beta"])
        one = jnp.ones(1)
        pose = sparse.scaled(
            kernels.rbf(), jnp.concatenate([one, alpha[:1]]), alpha[1], X, data["pose"], 1 / STILL_POSE,
            data.get("pose_rows"),
        )  # -L_Y (1)  # fmt: skip
        moved = jnp.concatenate([X[data["after"]] - X[data["before"]], X[data["after"]]], axis=1)
        velocity = sparse.scaled(
            kernels.velocity_product(self.q), jnp.concatenate([one, beta[:2]]), beta[2], moved, data["velocity"],
            1 / STILL_VELOCITY, data.get("velocity_rows"),
        )  # -L_Ydot  # fmt: skip
        pairs = X[data["past"]].reshape(-1, 2 * self.q)  # by symmetry of the kernel in either order
        gamma = jnp.asarray(GAMMA)
        dynamics = sparse.plain(
            kernels.rbf(), gamma[:2], gamma[2], pairs, X[data["now"]], data.get("dynamics_rows")
        )  # -Phi_D (2)  # fmt: skip
        loss = pose.loss + velocity.loss + dynamics.loss + 0.5 * jnp.sum(X[data["first"]] ** 2)
        loss += jnp.sum(params["log_alpha"]) + jnp.sum(params["log_beta"])
        if self.w_c:
            loss -= self.w_c * self.share * connectivity(X[data["nodes"]], data["soft"], self.beta)  # -Phi_C (3)
        return loss, jnp.maximum(pose.jitter, jnp.maximum(velocity.jitter, dynamics.jitter))


def fit_connected(
    clips: Iterable[Clip],
    *,
    latent: int = 4,
    mirrored: bool = False,
    w_c: float = 0.1,
    fps: float = 30.0,
    iterations: int = ITERATIONS,
    sharpest: float = SHARPEST,
    seed: int = 0,
    watch: Watch | None = None,
) -> Connected:
    """Learn from clips, and where `mirrored` from their mirror images as well; w_c weighs connectivity.

    `sharpest` is the most that alpha_2 may be: the smaller, the smoother are poses between those of the clips.
    """
    if not (np.isfinite(w_c) and w_c >= 0):
        raise MotionError(f"The weight of connectivity cannot be {w_c}; give 0 or more (the paper has 0.1).")
    if not 0.01 < sharpest <= SHARPEST:
        raise MotionError(f"`sharpest` bounds a hyperparameter: give more than 0.01 and at most 1000, not {sharpest}.")
    clips = check_clips(clips)
    features = QuaternionFeatures.of(clips, fps, even=mirrored)
    rows = [features.encode(clip) for clip in clips]
    if mirrored:
        rows += [features.mirrored(own) for own in rows]
    lengths = tuple(len(own) for own in rows)
    if min(lengths) < 4:
        short = clips[int(np.argmin(lengths)) % len(clips)].name
        raise MotionError(f"Clip '{short}' has {min(lengths)} frames at {fps:g} a second; give at least 4.")
    Y = np.concatenate(rows)
    check_latent(latent, len(Y), features.pose_count)
    start = {
        "x": initial(Y[:, : features.pose_count], lengths, latent),
        "log_alpha": np.log([1.0, 0.01]),
        "log_beta": np.log([1.0, 1.0, 1e-3]),
    }
    data, nodes = learning_data(Y, features.pose_count, lengths, start["x"], seed)
    objective = ConnectedObjective(latent, float(w_c), share=len(Y) / nodes)
    watch = watch or Watch()
    watch.plan(iterations)
    least, most = np.log([0.01, 0.01]), np.log([sharpest, SHARPEST])
    start["log_alpha"] = np.clip(start["log_alpha"], least, most)
    bounds = {"log_alpha": (least, most), "log_beta": _BOUNDS}
    learnt = minimise(objective, start, data, iterations, bounds=bounds, watch=watch, stage="connected")
    notes = list(features.notes)
    if learnt.trouble:
        notes.append(learnt.trouble)
    if learnt.jitter:
        notes.append(f"A covariance needed {learnt.jitter:.1g} on its diagonal to be definite.")
    if "pose_rows" in data:
        notes.append(
            f"{len(Y)} frames are more than {sparse.EXACT}: {len(data['pose_rows'])} of them stand for all, and "
            f"{nodes} for their connections."
        )
    return Connected(
        features=features,
        latent_rows=learnt.params["x"],
        lengths=lengths,
        rows=Y,
        alpha=np.exp(learnt.params["log_alpha"]),
        beta=np.exp(learnt.params["log_beta"]),
        w_c=float(w_c),
        loss=learnt.loss,
        chosen={name: data[name] for name in ("pose_rows", "velocity_rows", "dynamics_rows") if name in data},
        notes=tuple(notes),
    )


def initial(Y: Float[Array, "N P"], lengths: Sequence[int], q: int) -> Float[Array, "N q"]:
    """The first principal components, of unit spread along the first, of poses without most of each clip's mean."""
    Y = Y - Y.mean(axis=0)
    for rows in slices(lengths):
        Y[rows] -= (1.0 - _OWN_MEAN) * Y[rows].mean(axis=0)
    U, S, _ = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)
    X = U[:, :q] * S[:q]
    return X / X[:, 0].std()


def learning_data(
    Y: Float[Array, "N D"], poses: int, lengths: Sequence[int], X: Float[Array, "N Q"], seed: int
) -> tuple[dict[str, Any], int]:
    """What the objective is given, and how many nodes the graph has. A seam between clips is no step."""
    (before, after), (past, now) = transitions(lengths, 1), transitions(lengths, 2)
    steps = X[after] - X[before[:, 0]]
    nodes = _nodes(lengths)
    data = {
        "pose": Y[:, :poses] - Y[:, :poses].mean(axis=0),
        "velocity": Y[after, poses:],
        "before": before[:, 0],
        "after": after,
        "past": past,
        "now": now,
        "first": beginnings(lengths, 2),
        "nodes": nodes,
        "soft": np.array(softness(steps)),
    }
    if len(Y) > sparse.EXACT:  # all three then, though there are fewer transitions than frames
        inputs = (X, np.concatenate([steps, X[after]], axis=1), X[past].reshape(len(past), -1))
        for name, own in zip(("pose_rows", "velocity_rows", "dynamics_rows"), inputs, strict=True):
            data[name] = sparse.farthest(own, sparse.INDUCING, seed)
    return data, len(nodes)


def _nodes(lengths: Sequence[int]) -> Int[Array, "n"]:
    """All frames, or as many as the graph bears, evenly over the clips."""
    count = sum(lengths)
    if count <= sparse.EXACT:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, NODES).round().astype(np.int64))
