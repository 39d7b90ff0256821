"""Figure 3 of Levine et al. 2012: python -m benchmarks.connectivity [--data DIR] [--plot FILE]

Turning walks, mirrored, embedded without the prior of connectivity, with the paper's weight, and with ten times that.
With --data CMU's 16_21, 16_23, 16_25 and 16_27; without, the shipped walk and turns. Printed for each weight:

    mean, least   ln(N K^d) over pairs of frames: 0 where a random walker forgets where it began, less where it cannot
    near, far     the distance from a frame to the nearest of another clip, in steps: the median and the 90th percentile
    pose          what reconstruction misses of the training poses, degrees over all joints that move (rms)
    seconds       of learning, and those of one processor
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from jostle.assets import clip_path
from jostle.clips import Clip, load_clip
from jostle.clips.edit import trim_frames
from jostle.maths import quat
from jostle.models.connected import fit_connected
from jostle.models.connected_model import Connected
from jostle.models.diffusion import diffusion_kernel, softness
from jostle.models.projection import widest
from jostle.models.sequences import slices

WEIGHTS = (0.0, 0.1, 1.0)


def clips(data: Path | None) -> list[Clip]:
    if data is None:
        return [trim_frames(load_clip(clip_path(name)), 60, 140) for name in ("walk", "turn_left", "weave")]
    names = [f"16_{n}" for n in (21, 23, 25, 27)]
    return [trim_frames(load_clip(data / "cmu_bvh" / f"{n}.bvh"), 5).renamed(n) for n in names]  # the first: a T-pose


def figures(model: Connected) -> dict[str, float]:
    X = model.latent_rows
    steps = np.concatenate([np.diff(X[rows], axis=0) for rows in slices(model.lengths)])
    log = np.log(len(X) * diffusion_kernel(X, softness(steps)))
    owner = np.repeat(np.arange(len(model.lengths)), model.lengths)
    apart = np.linalg.norm(X[:, None] - X[None], axis=-1)
    apart[owner[:, None] == owner[None]] = np.inf
    near = apart.min(axis=1) / np.median(np.linalg.norm(steps, axis=1))
    seen, said = model.features.pose(model.rows), model.pose(X)
    joints = np.r_[0, model.features.joints]
    missed = np.degrees(quat.angle(quat.inv_mul(seen.wxyz[:, joints], said.wxyz[:, joints])))
    return {
        "mean": float(log.mean()), "least": float(log.min()), "near": float(np.median(near)),
        "far": float(np.quantile(near, 0.9)), "pose": float(np.sqrt(np.mean(missed**2))),
    }  # fmt: skip


def plot(models: list[Connected], path: Path) -> None:
    """The plane of the two widest directions: trajectories, over the best of the variance behind it, warm where low."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(models), figsize=(5 * len(models), 5), layout="constrained")
    for ax, model, weight in zip(axes, models, "abc", strict=False):
        seen = widest(model.latent_rows, 2)
        flat = seen(model.latent_rows)
        least, most = flat.min(axis=0) - 0.5, flat.max(axis=0) + 0.5
        a, b = np.meshgrid(*(np.linspace(least[i], most[i], 110) for i in range(2)))
        at = np.stack([a.ravel(), b.ravel()], axis=1)
        depth = model.variance(seen.lift(at, model.latent_rows, 6)).min(axis=1)
        low, high = np.quantile(model.variance(model.latent_rows), 0.05), 1.0
        ax.pcolormesh(a, b, -np.log(np.clip(depth, low, high)).reshape(a.shape), cmap="coolwarm", shading="auto")
        for rows in slices(model.lengths):
            ax.plot(*flat[rows].T, "-", lw=1.0, marker=".", ms=2.5, color="black", alpha=0.75)
        ax.set(title=f"({weight}) $w_c$ = {model.w_c:g}", xticks=[], yticks=[], aspect="equal")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.connectivity", description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--iterations", type=int, default=250)
    args = parser.parse_args()
    models, given = [], clips(args.data)
    heads = ("frames", "mean", "least", "near", "far", "pose", "seconds", "cpu")
    print("  w_c " + " ".join(f"{head:>7}" for head in heads))
    for weight in WEIGHTS:
        start, spent = time.perf_counter(), time.process_time()
        model = fit_connected(given, mirrored=True, w_c=weight, iterations=args.iterations)
        seconds, cpu = time.perf_counter() - start, time.process_time() - spent
        models.append(model)
        told = (len(model.latent_rows), *figures(model).values(), seconds, cpu)
        print(f"{weight:5.1f} " + " ".join(f"{value:7.4g}" for value in told), flush=True)
    if args.plot:
        plot(models, args.plot)


if __name__ == "__main__":
    main()
