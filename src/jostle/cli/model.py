"""`jostle model`: pictures of a motion model, what it is, and what it says comes next."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from jostle.cli.common import find, load, print_json, print_table, progress, say
from jostle.clips import Clip, save_clip
from jostle.errors import CommandError

if TYPE_CHECKING:
    from jostle.models import MotionModel

Model = Annotated[str, tyro.conf.Positional]
LONGEST = 100_000  # frames of a prediction


def plot(
    model: Model,
    target: Annotated[str, tyro.conf.Positional],
    /,
    frames: int = 240,
    rollouts: int = 3,
) -> None:
    """Draw a model's latent space: trajectories in 3-D, -ln variance as colour, and where it goes by itself.

    Args:
        model: a motion model (.jostle)
        target: the picture to write (.png)
        frames: length of each rollout
        rollouts: how many; each goes on from the beginning of a training clip
    """
    from jostle.export.latent import plot_model

    if rollouts < 0 or not 1 <= frames <= LONGEST:
        raise CommandError(f"A picture shows rollouts of 1 to {LONGEST} frames, not {rollouts} of {frames}.")
    fitted = _load(model)
    with progress(f"drawing {target}") as report:
        plot_model(fitted, target, frames=frames, rollouts=rollouts, title=_title(model, fitted), progress=report)
    say(f"{target} is written.")


def info(model: Model, /, json: bool = False) -> None:
    """What a model is, what it was learnt from, and how sure it is.

    Args:
        model: a motion model (.jostle)
        json: print one JSON object
    """
    about = _about(model)
    if json:
        print_json(about)
        return
    clips = about.pop("clips")
    notes = about.pop("notes")
    print_table([(name.replace("_", " "), _shown(value)) for name, value in about.items()])
    print()
    print_table([(c["name"], c["frames"], c["sha256"][:12]) for c in clips], head=("clip", "frames", "hash"))
    for note in notes:
        print(f"note: {note}")


def predict(
    model: Model,
    start: Annotated[str, tyro.conf.Positional],
    /,
    *,
    output: Annotated[str, tyro.conf.arg(aliases=["-o"])],
    frames: int = 120,
    whole: bool = False,
) -> None:
    """Continue a clip: jostle model predict walk.jostle start.bvh -o out.bvh --frames 120

    Args:
        model: a motion model (.jostle)
        start: the clip to continue
        output: the clip to write, in any writable format
        frames: how many, at the model's rate
        whole: begin with the clip that is continued
    """
    if not 1 <= frames <= LONGEST:
        raise CommandError(f"A prediction has 1 to {LONGEST} frames, not {frames}.")
    fitted, given = _load(model), load(start)
    clip = fitted.predict(given, frames)
    if whole:
        clip = _joined(given, clip)
    save_clip(clip.renamed(Path(output).stem), output)
    say(f"{output}: {clip.frame_count} frames at {clip.fps:g} a second.")


def list_models(model: Annotated[str | None, tyro.conf.Positional] = None, /, json: bool = False) -> None:
    """Which models there are, or what may be chosen for one of them.

    Args:
        model: its name; all of them where none is given
        json: print one JSON object
    """
    from jostle.models import KNOWN, options_of

    if model is None:
        about = {name: known.about for name, known in KNOWN.items()}
        print_json({"models": about}) if json else print_table(list(about.items()))
        return
    options = options_of(model)
    print_json({"model": model, "options": options}) if json else print_table(
        [(name, json_module.dumps(default, default=str)) for name, default in options.items()],
        head=("option", "default"),
    )


def _joined(given: Clip, clip: Clip) -> Clip:
    """The clip that was continued, at the model's rate, and what follows it."""
    from jostle.clips.edit import stacked
    from jostle.features.features import fitted

    before = fitted(given, clip.skeleton, clip.fps)
    return clip.with_poses(stacked([before.poses, clip.poses]))


def _load(name: str) -> MotionModel:
    from jostle.runtime import load_model

    return load_model(find(name))


def _title(name: str, model: MotionModel) -> str:
    return f"{Path(name).stem}: {model.kind}, {len(model.latent_rows)} frames of {_counted(len(model.lengths))}"


def _counted(clips: int) -> str:
    return "one clip" if clips == 1 else f"{clips} clips"


def _about(name: str) -> dict[str, Any]:
    from jostle.models.fit import KNOWN, origin

    model = _load(name)
    came = origin(model)
    frames, q = model.latent_rows.shape
    names = [*came.clips, *[("", "")] * (len(model.lengths) - len(came.clips))]
    return {
        "model": model.kind,
        "about": KNOWN[model.kind].about,
        "frames": frames,
        "fps": model.features.fps,
        "latent": q,
        "features": model.features.kind,
        "feature_columns": len(model.features.names),
        "joints": model.features.skeleton.joint_count,
        "median_variance": float(np.median(model.variance(model.latent_rows))),
        "seed": came.seed,
        "options": dict(came.options),
        "bytes": find(name).stat().st_size,
        "clips": [{"name": n, "sha256": h, "frames": t} for (n, h), t in zip(names, model.lengths, strict=False)],
        "notes": list(model.notes),
    }


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {option}" for name, option in value.items()) or "defaults"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
