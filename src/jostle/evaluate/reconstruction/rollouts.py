"""Walks that go on by mean prediction for 2,000 frames: how far they leave the data, and whether their feet slide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jostle import assets
from jostle.clips import Clip, load_clip
from jostle.clips.edit import trim, trim_frames
from jostle.clips.skate import foot_skate, slide_cm
from jostle.models.responsive import Responsive, fit_responsive
from jostle.types import Array, Float

SHIPPED = "walk"
SPAN = (1.0, 11.0)  # seconds of the shipped walk: 301 frames, eleven cycles
# Walks of CMU that have three cycles or more: one long clip, or several of one person.
CMU = {"16_15": ("16_15",), "35_01-04": ("35_01", "35_02", "35_03", "35_04"), "07_01-04": ("07_01", "07_02", "07_04")}
EDGE = 100  # frames at the beginning and at the end that are compared


def walk_clips(name: str, folder: str | None) -> list[Clip]:
    if name == SHIPPED:
        return [trim(load_clip(assets.clip_path(SHIPPED)), *SPAN)]
    assert folder is not None  # only walks of `CMU` are asked for otherwise, and only where there is data
    return [trim_frames(load_clip(Path(folder) / "cmu_bvh" / f"{clip}.bvh"), 1) for clip in CMU[name]]


def roll(name: str, folder: str | None, frames: int, starts: int, seed: int) -> dict[str, Any]:
    """The worst of several starts, which the seed chooses."""
    clips = walk_clips(name, folder)
    model = fit_responsive(clips, seed=seed)
    rng = np.random.default_rng(seed)
    found = [_rolled(model, int(rng.integers(model.lengths[0] - 1)), frames) for _ in range(starts)]
    return {
        "drift": max(drift for drift, _, _ in found),
        "skate": max(skate for _, skate, _ in found),
        "source_skate": max(foot_skate(clip) for clip in clips),
        "slide_cm": max(slide for _, _, slide in found),
        "source_slide_cm": max(slide_cm(clip) for clip in clips),
        "frames": sum(model.lengths),
    }


def _rolled(model: Responsive, first: int, frames: int) -> tuple[float, float, float]:
    rows = model.latent_rows
    path = model.rollout(rows[first : first + 2], frames)
    ahead = model.features.decode(model.poses.decode(path))
    return drift(path, rows), foot_skate(ahead), slide_cm(ahead)


def drift(path: Float[Array, "n Q"], rows: Float[Array, "N Q"]) -> float:
    """Median distance to the nearest training latent over the last frames, in those over the first."""
    apart = np.array([np.min(np.linalg.norm(rows - x, axis=1)) for x in path])
    return float(np.median(apart[-EDGE:]) / max(np.median(apart[:EDGE]), 1e-9))
