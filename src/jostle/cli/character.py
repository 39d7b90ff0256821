"""`jostle fit --controller` and `jostle model check`: a character from clips, and whether it works."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from jostle.cli.common import find, print_json, print_table, progress, say, told_warnings
from jostle.errors import CommandError

if TYPE_CHECKING:
    from jostle.controllers.dynamic.dynamic import Dynamic
    from jostle.models.learn import Watch

OPTIONS = ("latent", "groups", "iterations")


def fit_dynamic(
    files: Sequence[str], output: str, options: dict[str, Any], seed: int, learnt: Callable[..., Any], as_json: bool
) -> None:
    """Learn a dynamic character and write it; `learnt` runs what it is given with a journal."""
    from jostle.controllers.dynamic.learn import fit_dynamic as learn
    from jostle.runtime import load_example, save_controller

    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise CommandError(f"A dynamic character takes {', '.join(OPTIONS)}, not '{unknown[0]}'.")
    with told_warnings():
        examples = [load_example(find(name)) for name in files]
    begun = time.monotonic()

    def learning(watch: Watch) -> Dynamic:
        return learn(examples, title=Path(output).stem, seed=seed, watch=watch, **options)

    made = learnt(learning)
    save_controller(made, output, seed=seed, recipe=dict(options))
    _tell(made, output, time.monotonic() - begun, as_json)


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


def check(model: Annotated[str, tyro.conf.Positional], /, json: bool = False) -> None:
    """Whether a dynamic character works: does it close, do its clips lead back, what does it not know?

    Args:
        model: a dynamic character (.jostle)
        json: print one JSON object
    """
    from jostle.controllers.dynamic.check import LEADS, NEAR, PHASES, THIN, verify
    from jostle.controllers.dynamic.dynamic import Dynamic
    from jostle.runtime import load_controller

    person = load_controller(find(model))
    if not isinstance(person, Dynamic):
        raise CommandError(
            f"'{model}' is a '{person.name}'; what can be checked is made by `jostle fit --controller dynamic`."
        )
    with progress(f"checking {Path(model).stem}") as report:
        found = verify(person, report)
    degrees, phase = found.capture_next()
    if json:
        leads = [{"model": lead.model, "clip": lead.clip, "seconds": lead.seconds} for lead in found.leads]
        verdict = {"closes": found.closes, "leads_back": found.leads_back, "thin": found.thin}
        seen = {"steps_off": list(found.off), "leads": leads, "impulse": found.impulse, "lost": found.lost.tolist()}
        print_json(verdict | {"capture_next": {"degrees_left": degrees, "phase": phase}} | seen)
        return
    off = ", ".join(f"{steps:.2f}" for steps in found.off)
    print(f"the normal motion {'closes' if found.closes else 'DOES NOT CLOSE'}: at most {off} steps off ({NEAR:g})")
    lost = [lead for lead in found.leads if lead.seconds is None]
    print(f"{len(found.leads) - len(lost)} of {len(found.leads)} clips lead back to it within {LEADS:g} s")
    for lead in lost:
        print(f"  clip {lead.clip} of model {lead.model} does not: let it run on until the normal motion is reached")
    print(f"pushed with {found.impulse:.0f} N s it guesses more than it knows in {100 * found.thin:.0f} % of cases")
    print()
    rows = [
        (_way(360.0 * i / len(found.lost)), *(f"{100 * value:.0f}{'!' if value > THIN else ''}" for value in row))
        for i, row in enumerate(found.lost)
    ]
    print_table(rows, head=("percent lost", *(f"{i / PHASES:.2f}" for i in range(PHASES))))
    print()
    print(f"capture next: a push {_way(degrees)}, at {phase:.2f} of the normal motion")


def _way(degrees: float) -> str:
    """In words, of the one who is pushed: twelve directions."""
    words = {0: "forward", 90: "left", 180: "back", 270: "right"}
    turned = round(degrees) % 360
    if turned in words:
        return words[turned]
    ahead = "forward" if turned < 90 or turned > 270 else "back"
    return f"{ahead}-{'left' if turned < 180 else 'right'} ({turned if turned <= 180 else turned - 360} deg)"
