"""`jostle fit --controller`: a character from clips."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.cli.common import find, load, print_json, say
from jostle.errors import CommandError, FormatError

if TYPE_CHECKING:
    from jostle.controllers.dynamic.dynamic import Dynamic
    from jostle.controllers.dynamic.learn import Example
    from jostle.models.learn import Watch

OPTIONS = ("latent", "groups", "iterations")


def fit_dynamic(
    files: Sequence[str], output: str, options: dict[str, Any], seed: int, learnt: Callable[..., Any], as_json: bool
) -> None:
    """Learn a dynamic character and write it; `learnt` runs what it is given with a journal."""
    from jostle.controllers.dynamic.learn import fit_dynamic as learn
    from jostle.runtime import save_controller

    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise CommandError(f"A dynamic character takes {', '.join(OPTIONS)}, not '{unknown[0]}'.")
    examples, begun = [_example(name) for name in files], time.monotonic()

    def learning(watch: Watch) -> Dynamic:
        return learn(examples, title=Path(output).stem, seed=seed, watch=watch, **options)

    made = learnt(learning)
    save_controller(made, output, seed=seed, recipe=dict(options))
    _tell(made, output, time.monotonic() - begun, as_json)


def _example(name: str) -> Example:
    """A clip, with the pushes that a .json beside it tells."""
    from jostle.controllers.dynamic.learn import Example
    from jostle.runtime import load_recording

    path = find(name)
    if not path.with_suffix(".json").exists():
        return Example(load(name))
    try:
        recorded = load_recording(path)
    except FormatError:  # a .json of something else
        return Example(load(name))
    return Example(recorded, tuple((timed.time, timed.push) for timed in recorded.pushes))


def _tell(made: Dynamic, output: str, seconds: float, as_json: bool) -> None:
    frames = [len(part.model.latent_rows) for part in made.models]
    latent = [part.model.latent_rows.shape[1] for part in made.models]
    notes = list(dict.fromkeys(note for part in made.models for note in part.model.notes))
    size = Path(output).stat().st_size
    if as_json:
        about = {"controller": "dynamic", "models": len(frames), "frames": frames, "latent": latent}
        print_json(about | {"seconds": seconds, "file": output, "bytes": size, "notes": notes})
        return
    each = ", ".join(f"{n} frames in {q} dimensions" for n, q in zip(frames, latent, strict=True))
    say(f"{output}: a dynamic character of {each}, in {seconds:.1f} s; {size / 1024:.0f} KB.")
    for note in notes:
        say(f"note: {note}")
    say(f"See it: jostle view {output}; push it: jostle push {output} --push 'torso 200N left at 2s' -o out.mp4")
