"""A walk in its latent space, and where mean prediction goes for 2,000 frames."""

from __future__ import annotations

from pathlib import Path

from jostle.evaluate.reconstruction.rollouts import SHIPPED, walk_clips
from jostle.files import replacing
from jostle.models.projection import widest
from jostle.models.responsive import fit_responsive


def draw_rollout(path: Path, seed: int, frames: int) -> None:
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    model = fit_responsive(walk_clips(SHIPPED, None), seed=seed)
    rows = model.latent_rows
    seen = widest(rows, 3)
    learnt, went = seen(rows), seen(model.rollout(rows[:2], frames))
    figure = Figure(figsize=(9.0, 4.5), layout="constrained")
    for i, (points, title) in enumerate(((learnt, "learnt"), (went, f"{frames} frames of mean prediction"))):
        axes = figure.add_subplot(1, 2, i + 1, projection="3d")
        axes.plot(*learnt.T, color="0.75", linewidth=0.6)
        axes.plot(*points.T, linewidth=0.7, color="C0" if i == 0 else "C3")
        axes.set_title(title)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)
