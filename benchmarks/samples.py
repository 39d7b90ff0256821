"""Figure 5.2 (e) of Wang 2010, and its B-GPDM: python -m benchmarks.samples --plot FILE [--data DIR] [--seed S]

Twelve futures of 60 frames by Hamiltonian Monte Carlo, beside the mean and the likeliest, from the shipped walk; with
--data from CMU 07_01. Printed: the share that the chain accepts, and seconds.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import jostle
from jostle.assets import clip_path
from jostle.clips.edit import trim, trim_frames
from jostle.models.gpdm import Gpdm, fit_bgpdm, fit_gpdm
from jostle.models.projection import widest

FRAMES, COUNT, GIVEN = 60, 12, 40


def draw(ax, model: Gpdm, start: jostle.Clip, seed: int) -> None:
    rows = model.latent_rows
    begun = time.perf_counter()
    drawn = model.samples(start, FRAMES, COUNT, seed=seed)
    print(f"{model.kind:6} {drawn.accepted:6.0%} accepted, {time.perf_counter() - begun:5.1f} s")
    seen, x = widest(rows, 2), model.latent(start)
    for path in drawn.points:
        ax.plot(*seen(path).T, lw=0.6, color="C2")
    ax.plot(*seen(rows).T, lw=1.0, marker=".", ms=3, color="black")
    ax.plot(*seen(model.rollout(x, FRAMES)).T, lw=1.5, color="C3")
    ax.set(title=model.kind, xticks=[], yticks=[], aspect="equal")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.samples", description=__doc__)
    parser.add_argument("--plot", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    from matplotlib.figure import Figure

    if args.data:
        clip = trim_frames(jostle.load_clip(args.data / "cmu_bvh" / "07_01.bvh"), 1)
    else:
        clip = trim(jostle.load_clip(clip_path("walk")), 1.0, 6.0)
    figure = Figure(figsize=(10.0, 5.0), layout="constrained")
    for ax, learn in zip(figure.subplots(1, 2), (fit_gpdm, fit_bgpdm), strict=True):
        draw(ax, learn([clip]), trim_frames(clip, 0, GIVEN), args.seed)
    figure.savefig(args.plot, dpi=80)


if __name__ == "__main__":
    main()
